"""Compares a network in 16-bit floats with the same network in 32 bits, when it is loaded.

GPUs compute faster in 16 bits, and most networks hardly change; but a network whose sums leave the range of
halves, or whose trunk has grown large, answers something else. Values and probabilities are compared, not
logits: they are what the search reads.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from goryu.base.errors import GoryuError
from goryu.evaluators.formats.base import Array, ModelFormat, planes_of
from goryu.evaluators.softmax import softmax
from goryu.games.shogi import Board
from goryu.games.shogi.move import move_from_usi

GAME = (
    "7g7f 3c3d 3i3h 9c9d 5i6h 8c8d 2g2f 8d8e 6i7h 4c4d 8h7g 3a3b 4g4f 2b3c 3h4g 3b4c 1g1f 4a3b 4g5f 9d9e "
    "4i5h 4c5d 2h4h 7a7b 3g3f 6c6d 2i1g 7b6c 1g2e 3c2b 4f4e 4d4e 5f4e 2b7g+ 8i7g B*3g 4e5d 6c5d 4h4i "
    "3g2f+ P*2b 3b2b S*4c P*4e 4c5d 5c5d 4i4e P*4d 4e4f 6a5b B*3a 2b3b 3a6d+ S*5c 6d7e 2f2e 7g6e 5c4b "
    "S*5c 2e2f 5c5b+ 5a5b P*4e S*5e G*5c 5b4a 4e4d 5e4f 5c4b 8b4b S*4c 2f4d 4c4b+ 3b4b R*6a N*5a 6e5c+ "
    "4d5c 7e5c 4b5c 6a6b+ G*5b 6b5c 5b5c P*2b N*6e 2b2a+ 6e5g+ 5h5g 4f5g+ 6h5g B*3i P*4h R*2g 5g6h S*5g "
    "6h7g 5g5h+ N*4e 4a5b 4e5c+ 5b5c B*3a P*4b N*6e 5c4d 3a2b+ 4d4e S*4g 3i4h+"
)
"""A game that goryu-5x64 played against itself, up to a move before the mate."""

EVERY = 5
"""Every fifth position of the game is compared."""

PROBABILITY, VALUE = 0.02, 0.03
"""The largest difference of a move's probability, and of a value in [-1, +1], that is tolerated anywhere."""

Answers = Callable[[Sequence[Array]], tuple[Array, npt.NDArray[np.float64]]]
"""Returns logits [N, labels] and values [N] in [-1, +1] for planes, one array [N, ...] for each input."""


class HalfError(GoryuError, RuntimeError):
    """A network that answers differently in 16 bits."""


def check_halves(model_format: ModelFormat, in_floats: Answers, in_halves: Answers) -> None:
    """Raises HalfError if a probability or value differs by more than is tolerated, or is not a number."""
    boards = _positions()
    planes = planes_of(model_format, boards)
    (logits, values), (half_logits, half_values) = in_floats(planes), in_halves(planes)
    value = float(np.abs(values - half_values).max())
    differences = [
        np.abs(_policy(model_format, board, one) - _policy(model_format, board, other)).max()
        for board, one, other in zip(boards, logits, half_logits, strict=True)
    ]
    probability = float(np.max(differences))  # NaN if one of them is, unlike Python's max.
    if not (value <= VALUE and probability <= PROBABILITY):
        raise HalfError(
            f"in 16 bits its values differ by {value:.3g} and its probabilities by {probability:.3g}, "
            f"at most {VALUE} and {PROBABILITY} are allowed"
        )


def _positions() -> list[Board]:
    board, found = Board(), [Board()]
    for i, move in enumerate(GAME.split(), 1):
        board.push(move_from_usi(move))
        if i % EVERY == 0:
            found.append(board.copy())
    return found


def _policy(model_format: ModelFormat, board: Board, logits: Array) -> npt.NDArray[np.float64]:
    legal = logits[[model_format.label(move, board.turn) for move in board.legal_moves()]].astype(np.float64)
    return np.array(softmax(legal.tolist())) if np.isfinite(legal).all() else np.full(len(legal), np.nan)
