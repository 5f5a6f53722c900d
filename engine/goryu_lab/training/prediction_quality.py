"""Measures how well a network predicts finished games: the winner and the moves played.

On games that no network was trained on, such as those of a match, this compares networks in minutes. Networks
trained on different targets can be compared, and a teacher with its student. Only a match proves strength.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import atanh, log
from pathlib import Path

import numpy as np

from goryu.base.errors import InputError
from goryu.games.shogi import move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.search.evaluator import Evaluator
from goryu_lab.match.game_log import read_game_log
from goryu_lab.match.openings import parse_opening
from goryu_lab.records.game_records import read_games
from goryu_lab.records.hcpe import points
from goryu_lab.training.score_scale import fit_scale

LEAST_PROBABILITY = 1e-4
"""Lower bound of a move's probability in the loss: one move in a thousand with 0 would dominate the mean."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game with its result.

    start_sfen, opening: the start and the USI moves that no player chose. moves: the USI moves after them.
    players: names of Black and White. black_score: 1, 1/2 or 0.
    """

    start_sfen: str
    opening: tuple[str, ...]
    moves: tuple[str, ...]
    players: tuple[str, str]
    black_score: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """A network's prediction for one position of a game, and the move played.

    ply: number of the move in the game. player: who moved. result: of the game for that side, 1, 1/2 or 0.
    value: the network's, in [-1, +1] for the same side. probability: of the move played.
    is_first: whether the move played was the policy's first choice. chance: 1 / number of legal moves.
    """

    ply: int
    player: str
    result: float
    value: float
    probability: float
    is_first: bool
    chance: float = 0.0


@dataclass(frozen=True, slots=True)
class PredictionQuality:
    """How good the predictions for some positions are; losses are mean cross-entropies in nats.

    result_loss: of the results, with the network's win rates. fitted_loss: with their log odds times
        `factor`, the one that minimises the loss. An overconfident network has a factor below 1.
    right_side: share of the positions of decided games whose value favours the winner.
    move_loss: of the moves played; no probability counts as less than `LEAST_PROBABILITY`.
    first_choice: share of the moves played that were the policy's first choice.
    chance: the share that a random choice among the legal moves would reach.
    """

    positions: int
    result_loss: float
    fitted_loss: float
    factor: float
    right_side: float
    move_loss: float
    first_choice: float
    chance: float


def read_played_games(path: Path) -> Iterator[PlayedGame]:
    """Yields the games of a match log (`games.jsonl`) or of a file of training games (`*.games`).

    In training games the moves before the first score are the opening.

    Raises GameLogError, GameFileError or OSError.
    """
    if path.suffix != ".jsonl":
        for record in read_games(path):
            moves = tuple(move_to_usi(Move(move)) for move in record.moves)
            chosen = next((ply for ply, score in enumerate(record.evals) if score is not None), len(moves))
            black_score = float(points(record.result, 0))
            players = (record.teacher, record.teacher)
            yield PlayedGame(record.start_sfen, moves[:chosen], moves[chosen:], players, black_score)
        return
    names, entries = read_game_log(path)
    first, second = names or ("engine 1", "engine 2")
    for entry in entries:
        opening = parse_opening(entry.opening)
        is_first_black = entry.black == 1
        players = (first, second) if is_first_black else (second, first)
        score = entry.score if is_first_black else 1.0 - entry.score
        yield PlayedGame(opening.sfen, opening.moves, entry.moves, players, score)


def predict(
    games: Iterable[PlayedGame], evaluator: Evaluator, *, every: int = 1, batch: int = 256
) -> list[Prediction]:
    """Returns an evaluator's predictions for the positions in which the players chose their moves.

    every: 1 for all positions, N for two consecutive ones out of 2 N, so that both sides are represented.
    Raises IllegalMoveError or SfenError if a game cannot be played.
    """
    found: list[Prediction] = []
    boards: list[Board] = []
    facts: list[tuple[str, float, Move]] = []

    def evaluate_boards() -> None:
        for board, (player, result, move), evaluation in zip(
            boards, facts, evaluator.evaluate(boards), strict=True
        ):
            policy = dict(zip(board.legal_moves(), evaluation.policy, strict=True))
            is_first = policy[move] == max(policy.values())
            found.append(
                Prediction(
                    board.ply, player, result, evaluation.value, policy[move], is_first, 1 / len(policy)
                )
            )
        boards.clear()
        facts.clear()

    for game in games:
        board = Board(game.start_sfen)
        for text in game.opening:
            board.push_usi(text)
        for i, text in enumerate(game.moves):
            before = board.copy()
            move = board.push_usi(text)
            if i // 2 % every == 0:
                boards.append(before)
                facts.append((game.players[before.turn], abs(before.turn - game.black_score), move))
        if len(boards) >= batch:
            evaluate_boards()
    if boards:
        evaluate_boards()
    return found


def summarize(predictions: Sequence[Prediction]) -> PredictionQuality:
    """Returns the quality of some predictions; raises InputError if there are none."""
    if not predictions:
        raise InputError("expected at least one position of a game")
    results = np.array([one.result for one in predictions])
    odds = np.array([2.0 * atanh(max(-0.999999, min(0.999999, one.value))) for one in predictions])
    fitted = fit_scale(1000.0 * odds, results)
    return PredictionQuality(
        positions=len(predictions),
        result_loss=float((np.logaddexp(0.0, odds) - results * odds).mean()),
        fitted_loss=fitted.cross_entropy,
        factor=1000.0 / fitted.scale,
        right_side=fitted.sign_agreement,
        move_loss=float(np.mean([-log(max(LEAST_PROBABILITY, one.probability)) for one in predictions])),
        first_choice=float(np.mean([one.is_first for one in predictions])),
        chance=float(np.mean([one.chance for one in predictions])),
    )
