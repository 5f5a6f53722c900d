"""Self-play, training and matches at the same time, for any game: the loop of AlphaGo Zero and KataGo.

`loop.py` is the driver and `adapter.py` the interface that it needs of a game. `window.py` decides which
games the trainer reads, `gate.py` which network becomes the champion; `folder.py` keeps the files.
`players.py` is the job of the workers, `trainer.py` that of the training. `board_games.py` and `shogi.py`
adapt the games.
"""
