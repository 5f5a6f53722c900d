"""Material: the side with the more valuable pieces is expected to win.

The oldest evaluation of chess-like games, and one that every network must beat.

Weakness: it knows nothing of king safety and threats, and miscounts in the middle of an exchange; all quiet
moves are equal.
Source of the piece values: Apery's, which YaneuraOu uses as its material evaluation; a pawn is 90, and a
piece in hand counts as much as one on the board.
"""

from collections.abc import Sequence
from math import tanh
from typing import cast

from goryu.evaluators.shogi_state import ShogiState
from goryu.games.shogi.pieces import HAND_KINDS
from goryu.games.state import State
from goryu.search.evaluator import Evaluation

#               -  P    L    N    S    B    R    G  K   +P   +L   +N   +S   +B    +R
PIECE_VALUES = (0, 90, 315, 405, 495, 855, 990, 540, 0, 540, 540, 540, 540, 945, 1395)
"""The value of each kind of piece, in the order of `games/shogi/pieces.py`; kings do not count."""

SCALE = 1350.0
"""The lead at which the odds to win are e : 1. Fitted, in steps of 50, by logistic regression of results on
leads in games of Fairy-Stockfish against itself at 5,000 nodes a move."""

_SIGNED = (*PIECE_VALUES, 0, *(-value for value in PIECE_VALUES))
"""By piece code: black's 0 to 14, an unused one, white's 16 to 30."""
_HAND_VALUES = tuple(PIECE_VALUES[kind] for kind in HAND_KINDS)


class MaterialEvaluator:
    """Every move equally likely; the value is the lead in pieces, through a logistic function. For shogi."""

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order."""
        return [self._evaluate(state) for state in states]

    def _evaluate(self, state: State) -> Evaluation:
        n = len(state.legal_moves())
        return Evaluation([1.0 / n] * n, material_value(cast(ShogiState, state)))


def material_value(state: ShogiState) -> float:
    """Returns the lead of the side to move as an expected result in [-1, +1]."""
    return tanh(material(state) / (2.0 * SCALE))  # 2 / (1 + exp(-x)) - 1 = tanh(x / 2)


def material(state: ShogiState) -> int:
    """Returns the lead of the side to move in piece values."""
    lead = 0
    for piece in state.pieces:
        lead += _SIGNED[piece]
    for value, black, white in zip(_HAND_VALUES, *state.hands, strict=True):
        lead += value * (black - white)
    return lead if state.turn == 0 else -lead
