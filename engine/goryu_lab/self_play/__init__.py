"""Training games of shogi on disk. There are five ways to make them, each for another purpose:

- `game.py`: a network plays itself with a Gumbel search and records what the search has improved. This is
  self-play, also that of the loop (`loop/`, which trains and plays matches between two networks as well).
- `teacher/`: another USI engine plays itself; its scores are the targets.
- `reanalysis.py`: a network gives old games new labels, with or without a search.
- `leaves.py`: positions that searches of recorded games asked about, without labels, for `reanalysis.py`.
- `drawn_games.py`: a network's policy plays thousands of games at once, without a search, for a training in
  which a teacher labels them (`training/distillation.py`).

`workers.py` runs the first four with many workers. The small games have their own ways, in memory:
`lessons/alphazero.py` and `loop/board_games.py`.
"""
