"""Players: a search, an evaluator, a book and a clock that together play one side of a game.

Start with `player.py`. `session.py` runs one search, `time_manager.py` plans its time, and `config.py` has
every number.
"""
