"""Chooses the move of a level; `levels.py` describes the model."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp
from random import Random

from goryu.games.shogi import is_drop, is_promotion, move_from, move_to
from goryu.games.shogi.pieces import (
    BISHOP,
    GOLD,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTED,
    ROOK,
    SILVER,
    WHITE_PIECE,
)
from goryu.games.state import Move
from goryu.implementation import Board, mate_in_one
from goryu.players.levels import Level
from goryu.search.evaluator import Evaluation
from goryu.search.result import RootMove, SearchResult

Evaluate = Callable[[Sequence[Board]], Sequence[Evaluation]]

SHARPNESS = 285 / 600
"""Exponent of the odds that turns the engine's win rate into the one that GUIs show.

The engine writes centipawns with 285 (`Eval_Coef`); GUIs compute a win rate from centipawns with 600. Between
strong players a piece ahead is 90 %; GUIs, and weaker players, put it at 75 %.
"""

SUREST = 0.999
"""The greatest value of a position in [-1, +1] that is not proven, as the choice sees it."""

OBVIOUS_LOSS = 0.03
"""The greatest loss of a player who does not take what is free, or recapture."""

PIECE_VALUES = {
    PAWN: 1, LANCE: 3, KNIGHT: 3, SILVER: 5, GOLD: 6, BISHOP: 8, ROOK: 10, KING: 0,
    PAWN + PROMOTED: 6, LANCE + PROMOTED: 6, KNIGHT + PROMOTED: 6, SILVER + PROMOTED: 6,
    BISHOP + PROMOTED: 11, ROOK + PROMOTED: 13,
}  # fmt: skip
"""The value of each kind of piece in pawns, as beginners learn it."""

CHECK_APPEAL, PROMOTION_APPEAL, FORWARD_APPEAL, DROP_APPEAL, BACKWARD_APPEAL = 3.0, 3.0, 1.0, 0.3, 0.2
"""How much moves catch the eye of a beginner; a capture does by the value of the piece."""


def choose_level_move(
    board: Board,
    result: SearchResult,
    level: Level,
    policy_temperature: float,
    evaluate: Evaluate,
    rng: Random,
) -> RootMove:
    """Returns the move that a player of this level plays, with its value.

    result: of a search of `board` at this level, with all moves; it must have at least one.
    policy_temperature: of the priors in the result.
    """
    if result.moves[0].mate is not None and 0 < result.moves[0].mate <= level.mate_plies:
        return result.moves[0]
    considered = _in_mind(board, result.moves, level, policy_temperature)
    moves = _evaluated(board, [move for move, _ in considered], level, evaluate)
    best = max(moves, key=lambda move: (move.value, move.visits))
    losses = [_felt(best.value) - _felt(move.value) for move in moves]
    most = min(level.worst, OBVIOUS_LOSS) if _is_obvious(board, best.move, level) else level.worst
    weights = [
        _weight(prior, loss, level) if loss <= most else 0.0
        for (_, prior), loss in zip(considered, losses, strict=True)
    ]
    return rng.choices(moves, weights)[0]


def _weight(prior: float, loss: float, level: Level) -> float:
    plausible: float = prior ** (1 / level.temperature)
    return plausible * ((1 - level.blindness) * exp(-loss / level.tolerance) + level.blindness)


def _felt(value: float) -> float:
    """Returns the win rate of a value in [-1, +1], as a GUI shows it.

    >>> [round(_felt(value), 2) for value in (-1.0, 0.0, 0.8, 1.0)]
    [0.02, 0.5, 0.74, 0.98]
    """
    win_rate = (1 + max(-SUREST, min(SUREST, value))) / 2
    odds: float = (win_rate / (1 - win_rate)) ** SHARPNESS
    return odds / (1 + odds)


# The moves in mind.


def _in_mind(
    board: Board, moves: Sequence[RootMove], level: Level, policy_temperature: float
) -> list[tuple[RootMove, float]]:
    """Returns the moves that come to the player's mind, each with a weight; the best of the search is one."""
    weights = _normalized([move.prior**policy_temperature for move in moves])
    if level.naivety:
        appeals = _normalized(_appeals(board, [move.move for move in moves]))
        weights = [
            (1 - level.naivety) * weight + level.naivety * appeal
            for weight, appeal in zip(weights, appeals, strict=True)
        ]
    least = min(level.least_prior * max(weights), weights[0])
    return [(move, weight) for move, weight in zip(moves, weights, strict=True) if weight >= least]


def _normalized(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights] if total > 0 else [1 / len(weights)] * len(weights)


def _appeals(board: Board, moves: Sequence[Move]) -> list[float]:
    """Returns how much each move catches the eye of a beginner, as captures and checks do."""
    pieces, checks = board.pieces, set(board.checks())
    return [
        _captured_value(pieces, move)
        + (CHECK_APPEAL if move in checks else 0.0)
        + (PROMOTION_APPEAL if is_promotion(move) else 0.0)
        + _direction_appeal(pieces, move, board.turn)
        for move in moves
    ]


def _captured_value(pieces: Sequence[int], move: Move) -> float:
    return PIECE_VALUES.get(pieces[move_to(move)] % WHITE_PIECE, 0)


def _direction_appeal(pieces: Sequence[int], move: Move, turn: int) -> float:
    """Returns the appeal of a step forward, or of a move of the king, sideways or backward, or of a drop."""
    if is_drop(move):
        return DROP_APPEAL
    origin = move_from(move)
    ranks_forward = (origin % 9 - move_to(move) % 9) * (-1 if turn else 1)
    is_king = pieces[origin] % WHITE_PIECE == KING
    return FORWARD_APPEAL if ranks_forward > 0 and not is_king else BACKWARD_APPEAL


# What the player sees of each move.


def _evaluated(board: Board, moves: Sequence[RootMove], level: Level, evaluate: Evaluate) -> list[RootMove]:
    """Returns the moves with their values; the network evaluates the position after an unvisited move."""
    values: dict[Move, float] = {}
    unknown: list[tuple[Move, Board]] = []
    for move in moves:
        after = board.copy()
        after.push(move.move)
        known = move.value if move.visits or move.mate is not None else _known_value(after)
        if level.sees_threats and known != 1.0 and after.legal_moves() and mate_in_one(after) is not None:
            known = -1.0
        if known is None:
            unknown.append((move.move, after))
        else:
            values[move.move] = known
    evaluations = evaluate([after for _, after in unknown]) if unknown else ()
    for (played, _), evaluation in zip(unknown, evaluations, strict=True):
        values[played] = -evaluation.value
    return [replace(move, value=values[move.move]) for move in moves]


def _known_value(after: Board) -> float | None:
    """Returns the value of a move that ends the game or repeats a position, for the player of the move."""
    outcome = after.repetition() or after.outcome()
    return None if outcome is None else -outcome.value


def _is_obvious(board: Board, best: Move, level: Level) -> bool:
    """Does the best move take a piece that the player sees, or take back on the last move's square?"""
    gain = _captured_value(board.pieces, best)
    is_recapture = bool(board.move_stack) and move_to(board.move_stack[-1]) == move_to(best)
    return gain >= level.obvious_gain or (gain > 0 and is_recapture)
