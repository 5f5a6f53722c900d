"""The AlphaZero tutorials on tic-tac-toe and reversi, and the same loop on shogi.

These modules train networks from nothing, in memory, and measure every search algorithm with them;
`goryu learn` runs them. Start with `alphazero.py`. docs/books.md names the tutorials.
"""
