"""Self-play, training and matches at the same time, for any game: the loop of AlphaGo Zero and KataGo.

`loop.py` is the driver and `adapter.py` what it needs of a game. `window.py` says which games the trainer
reads, `gate.py` which of its networks play on, `folder.py` what is on disk. `players.py` is the job of the
workers and `trainer.py` that of the training. `board_games.py` and `shogi.py` are the games.
"""
