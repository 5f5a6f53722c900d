"""Tic-tac-toe: the smallest game that exercises every part of the search core."""

from typing import Self

from goryu.games.state import Move, Outcome

__all__ = ["TicTacToe"]

LINES = (0o700, 0o070, 0o007, 0o444, 0o222, 0o111, 0o421, 0o124)
FULL = 0o777
