"""Averages a network's answers for a shogi position and for its mirror image.

Shogi is symmetric: with file f as file 10 - f a position is worth the same, and the mirrored moves are as
good. A network learns that only approximately, so the mean of both answers has less error than either. It
costs twice the time, which only the root of a search is worth.

Source: KataGo averages over the symmetries of Go at the root ("rootNumSymmetriesToSample").
"""

from collections.abc import Sequence
from typing import Any

from goryu.games.shogi.move import (
    dropped_piece,
    is_drop,
    is_promotion,
    make_drop,
    make_move,
    move_from,
    move_to,
)
from goryu.games.state import Move, State
from goryu.search.evaluator import Evaluation, Evaluator


class MirrorEvaluator:
    """Evaluates shogi boards, each together with its mirror image."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per board, in order: the mean of the two; no game is over."""
        images = [mirrored(state) for state in states]
        evaluations = self._evaluator.evaluate([*states, *images])
        return [
            _mean(state, plain, image, of_image)
            for state, plain, image, of_image in zip(
                states, evaluations[: len(states)], images, evaluations[len(states) :], strict=True
            )
        ]


def mirrored(board: Any) -> Any:
    """Returns the mirror image of a shogi board and its past, of the same class and with the same rules."""
    past = board.copy()
    moves = [past.pop() for _ in board.move_stack]
    image = type(board)(mirrored_sfen(past.sfen()), board.rules, allow_missing_king=True)
    for move in reversed(moves):
        image.push(mirrored_move(move))
    return image


def mirrored_sfen(sfen: str) -> str:
    """Returns the SFEN of the mirror image.

    >>> mirrored_sfen("lnsgkgsnl/1r5b1/9/9/9/9/9/1B5+R1/LNSGKGS2 w P 3")
    'lnsgkgsnl/1b5r1/9/9/9/9/9/1+R5B1/2SGKGSNL w P 3'
    """
    board, rest = sfen.split(" ", 1)
    return "/".join(_mirrored_rank(rank) for rank in board.split("/")) + " " + rest


def mirrored_move(move: Move) -> Move:
    """Returns the same move in the mirror image."""
    if is_drop(move):
        return make_drop(dropped_piece(move), _mirrored_square(move_to(move)))
    origin, to = _mirrored_square(move_from(move)), _mirrored_square(move_to(move))
    return make_move(origin, to, is_promotion(move))


def _mean(state: State, plain: Evaluation, image: State, of_image: Evaluation) -> Evaluation:
    probability = dict(zip(image.legal_moves(), of_image.policy, strict=True))
    policy = [
        0.5 * (p + probability[mirrored_move(move)])
        for move, p in zip(state.legal_moves(), plain.policy, strict=True)
    ]
    return Evaluation(policy, 0.5 * (plain.value + of_image.value), 0.5 * (plain.weight + of_image.weight))


def _mirrored_rank(rank: str) -> str:
    pieces: list[str] = []
    for letter in rank:
        if pieces and pieces[-1] == "+":
            pieces[-1] += letter
        else:
            pieces.append(letter)
    return "".join(reversed(pieces))


def _mirrored_square(square: int) -> int:
    file, rank = divmod(square, 9)
    return 9 * (8 - file) + rank
