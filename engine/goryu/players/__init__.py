"""Players: a search, an evaluator, a book and a clock that together play one side of a game.

Start with `request.py`, what is asked, and `player.py`, who answers. `session.py` runs one search,
`clock/time_manager.py` plans its time, and `config.py` has every number that an option sets.
"""
