"""Chooses the move of a level; `levels.py` describes the model."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, expm1, inf, log
from random import Random

from goryu.games.shogi import Board as PythonBoard
from goryu.games.shogi import is_drop, is_promotion, make_move, move_from, move_to
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
from goryu.games.state import Move, State
from goryu.implementation import Board, mate_in_one
from goryu.players.levels.levels import Level
from goryu.search.evaluator import Evaluation
from goryu.search.result import RootMove, SearchResult

Evaluate = Callable[[Sequence[State]], Sequence[Evaluation]]

BOARDS = (Board, PythonBoard)
"""The classes of shogi positions."""

SHARPNESS = 285 / 600
"""Exponent of the odds that turns the engine's win rate into the one that GUIs show.

The engine writes centipawns with 285 (`Eval_Coef`); GUIs compute a win rate from centipawns with 600. Between
strong players a piece ahead is 90 %; GUIs, and weaker players, put it at 75 %.
"""

SUREST = 0.999
"""The greatest value of a position in [-1, +1] that is not proven, as the choice sees it."""

OBVIOUS_LOSS = 0.03
"""The greatest loss of a player who does not take what is free, or recapture."""

TINY = 1e-300
"""Replaces a random number that is 0 by chance."""

DRAWN = 10
"""How many moves a player thinks about, besides those that nobody overlooks."""

NATURAL = 3
"""How many of the most natural moves nobody overlooks."""

PIECE_VALUES = {
    PAWN: 1, LANCE: 3, KNIGHT: 3, SILVER: 5, GOLD: 6, BISHOP: 8, ROOK: 10, KING: 0,
    PAWN + PROMOTED: 6, LANCE + PROMOTED: 6, KNIGHT + PROMOTED: 6, SILVER + PROMOTED: 6,
    BISHOP + PROMOTED: 11, ROOK + PROMOTED: 13,
}  # fmt: skip
"""The value of each kind of piece in pawns, as beginners learn it."""

CHECK_APPEAL, PROMOTION_APPEAL, FORWARD_APPEAL, DROP_APPEAL, BACKWARD_APPEAL = 3.0, 3.0, 1.0, 0.3, 0.2
"""How much moves catch the eye of a beginner; a capture does by the value of the piece."""


def choose_level_move(
    state: State,
    result: SearchResult,
    level: Level,
    policy_temperature: float,
    evaluate: Evaluate,
    rng: Random,
) -> RootMove:
    """Returns the move that a player of this level plays, with its value.

    state: a position of any game; what only people see in shogi is left out for the others.
    result: of a search of this position at this level, with all moves; it must have at least one.
    policy_temperature: of the priors in the result.
    """
    if result.moves[0].mate is not None and 0 < result.moves[0].mate <= level.mate_plies:
        return result.moves[0]
    considered = _in_mind(state, _sensible(state, result.moves), level, policy_temperature, rng)
    moves = _evaluated(state, [move for move, _ in considered], level, evaluate)
    best = max(moves, key=lambda move: (move.value, move.visits))
    losses = [_felt(best.value) - _felt(move.value) for move in moves]
    most = min(level.worst, OBVIOUS_LOSS) if _is_obvious(state, best.move, level) else level.worst
    weights = [
        weight * _tolerated(loss, level) if loss <= most else 0.0
        for (_, weight), loss in zip(considered, losses, strict=True)
    ]
    return rng.choices(moves, weights)[0]


def _tolerated(loss: float, level: Level) -> float:
    return (1 - level.blindness) * exp(-loss / level.tolerance) + level.blindness


def _felt(value: float) -> float:
    """Returns the win rate of a value in [-1, +1], as a GUI shows it.

    >>> [round(_felt(value), 2) for value in (-1.0, 0.0, 0.8, 1.0)]
    [0.03, 0.5, 0.74, 0.97]
    """
    win_rate = (1 + max(-SUREST, min(SUREST, value))) / 2
    odds: float = (win_rate / (1 - win_rate)) ** SHARPNESS
    return odds / (1 + odds)


# The moves in mind.


def _sensible(state: State, moves: Sequence[RootMove]) -> Sequence[RootMove]:
    """Returns the moves without those that nobody plays: not to promote a pawn, a bishop or a rook.

    The best move stays; it may avoid uchifuzume.
    """
    if not isinstance(state, BOARDS):
        return moves
    pieces, legal = state.pieces, {move.move for move in moves}

    def is_pointless(move: Move) -> bool:
        if is_drop(move) or is_promotion(move):
            return False
        origin = move_from(move)
        kind = pieces[origin] % WHITE_PIECE
        return kind in (PAWN, BISHOP, ROOK) and make_move(origin, move_to(move), promote=True) in legal

    return [moves[0], *(move for move in moves[1:] if not is_pointless(move.move))]


def _in_mind(
    state: State, moves: Sequence[RootMove], level: Level, policy_temperature: float, rng: Random
) -> list[tuple[RootMove, float]]:
    """Returns the moves that the player thinks about, each with a weight; the best of the search is one.

    They are drawn by P^(1/temperature) with Gumbel noise, without replacement. The weight of a drawn move is
    divided by its chance to be drawn, so that the move that is played at last has the same distribution as if
    the player had thought about all moves (Kool, van Hoof and Welling, 2019).
    """
    weights = _weights(state, moves, level, policy_temperature)
    least = level.least_prior * max(weights)
    logs = [log(weight) / level.temperature if weight >= least > 0 else -inf for weight in weights]
    certain = {0, *_certain(state, moves, weights, level)}
    keys = [value - log(rng.expovariate(1) or TINY) for value in logs]
    drawn = [
        i for i in sorted(range(len(moves)), key=lambda i: -keys[i]) if i not in certain and logs[i] > -inf
    ]
    threshold = keys[drawn[DRAWN]] if len(drawn) > DRAWN else -inf
    chosen = [(moves[i], max(weights[i], least) ** (1 / level.temperature)) for i in certain]
    return chosen + [(moves[i], exp(logs[i]) / -expm1(-exp(logs[i] - threshold))) for i in drawn[:DRAWN]]


def _weights(state: State, moves: Sequence[RootMove], level: Level, policy_temperature: float) -> list[float]:
    """Returns the policy at temperature 1, mixed with what catches a beginner's eye."""
    weights = _normalized([move.prior**policy_temperature for move in moves])
    if not level.naivety:
        return weights
    appeals = [1.0] * len(moves)
    if isinstance(state, BOARDS):
        appeals = _appeals(state, [move.move for move in moves])
    return [
        (1 - level.naivety) * weight + level.naivety * appeal
        for weight, appeal in zip(weights, _normalized(appeals), strict=True)
    ]


def _certain(state: State, moves: Sequence[RootMove], weights: Sequence[float], level: Level) -> list[int]:
    """Returns the indices of the moves that no player overlooks: natural and obvious ones."""
    natural = sorted(range(len(moves)), key=lambda i: -weights[i])[:NATURAL]
    return natural + [i for i, move in enumerate(moves) if _is_obvious(state, move.move, level)]


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


def _evaluated(state: State, moves: Sequence[RootMove], level: Level, evaluate: Evaluate) -> list[RootMove]:
    """Returns the moves with their values; the evaluator provides that of an unvisited move."""
    values: dict[Move, float] = {}
    unknown: list[tuple[Move, State]] = []
    for move in moves:
        after = state.copy()
        after.push(move.move)
        value = move.value if move.visits or move.mate is not None else _known_value(after)
        if level.sees_threats and value != 1.0 and _threatens_mate(after):
            value = -1.0
        if value is None:
            unknown.append((move.move, after))
        else:
            values[move.move] = value
    evaluations = evaluate([after for _, after in unknown]) if unknown else ()
    for (played, _), evaluation in zip(unknown, evaluations, strict=True):
        values[played] = -evaluation.value
    return [replace(move, value=values[move.move]) for move in moves]


def _known_value(after: State) -> float | None:
    """Returns the value of a move that ends the game or repeats a position, for the player of the move."""
    outcome = after.repetition() or after.outcome()
    return None if outcome is None else -outcome.value


def _threatens_mate(state: State) -> bool:
    """Can the side to move mate at once?"""
    return isinstance(state, BOARDS) and mate_in_one(state) is not None


def _is_obvious(state: State, move: Move, level: Level) -> bool:
    """Does the move take a piece that the player sees, or take back on the last move's square?"""
    if not isinstance(state, BOARDS):
        return False
    gain = _captured_value(state.pieces, move)
    is_recapture = bool(state.move_stack) and move_to(state.move_stack[-1]) == move_to(move)
    return gain >= level.obvious_gain or (gain > 0 and is_recapture)
