"""Shogi positions to compare networks on: those of random games, in every phase of a game."""

from collections.abc import Sequence
from random import Random

import numpy as np

from goryu.evaluators.formats.base import Array, ModelFormat
from goryu.evaluators.shogi_state import ShogiState
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


def planes_of(model_format: ModelFormat, boards: Sequence[ShogiState]) -> list[Array]:
    """Returns the inputs of a network for some positions, one array [N, ...] for each input."""
    inputs: list[Array] = [np.zeros((len(boards), *spec.shape), spec.dtype) for spec in model_format.inputs]
    for i, board in enumerate(boards):
        model_format.fill(board, [rows[i] for rows in inputs])
    return inputs
