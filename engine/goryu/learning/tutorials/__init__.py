"""The AlphaZero tutorials on tic-tac-toe and reversi, and the same loop on shogi.

Trains networks from nothing, in memory, and measures every search algorithm with them; `goryu learn` runs
it. `learning/BOOKS.md` names the tutorials.
"""
