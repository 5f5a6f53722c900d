"""Shogi positions to compare networks on: those of random games, in every phase of a game."""

from random import Random

from goryu.implementation import Board

LONGEST = 120
"""Random games are stopped after this many moves."""
EVERY = 5
"""Neighbouring positions of a game tell little more than one of them."""


def random_positions(count: int, seed: int = 1) -> list[Board]:
    """Returns positions of random games, every fifth of a game; none is over."""
    random = Random(seed)
    boards: list[Board] = []
    while len(boards) < count:
        board = Board()
        while board.outcome() is None and board.ply < LONGEST:
            if board.ply % EVERY == 0:
                boards.append(board.copy())
            board.push(random.choice(board.legal_moves()))
    return boards[:count]
