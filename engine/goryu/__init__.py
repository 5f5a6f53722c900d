"""Goryu (合流): a USI shogi engine whose search core also plays tic-tac-toe and reversi."""

__version__ = "0.1.0"
