"""How well a network foresees games: who wins them, and which moves are played.

On games that nobody learned from, such as those of a match of strong engines, this compares networks whose
training had different targets, and teachers with pupils; a match is the proof, this is the quick look.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import atanh, log
from pathlib import Path

import numpy as np

from goryu.games.shogi import move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.learning.records.game_records import read_games
from goryu.learning.records.hcpe import BLACK_WON, DRAW
from goryu.learning.training.score_scale import fit_scale
from goryu.match.game_log import read_game_log
from goryu.match.openings import parse_opening
from goryu.search.evaluator import Evaluator

__all__ = ["Foresight", "Glance", "PlayedGame", "foresight", "glances", "read_played"]

LEAST_PROBABILITY = 1e-4
"""A move gets at least so much where its surprise is counted: a policy may say 0, and one such move in a
thousand would drown the others."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game with its result.

    start_sfen, opening: where it starts, and the USI moves that nobody chose. moves: those after them.
    players: names of black and white. black_score: 1, 1/2 or 0.
    """

    start_sfen: str
    opening: tuple[str, ...]
    moves: tuple[str, ...]
    players: tuple[str, str]
    black_score: float


@dataclass(frozen=True, slots=True)
class Glance:
    """What a network said of one position of a game, and what came of it.

    ply: from the start. player: who moved. result: of the game for that side, 1, 1/2 or 0.
    value: the network's, in [-1, +1] from the same side. probability: of the move played.
    is_first: whether the move played was the policy's first choice.
    """

    ply: int
    player: str
    result: float
    value: float
    probability: float
    is_first: bool


@dataclass(frozen=True, slots=True)
class Foresight:
    """What the glances at some positions come to; losses are mean cross-entropies in nats.

    result_loss: of the results, with win rates as the network says them. fitted_loss: with their log odds
        times `factor`, the best one. A network that is surer than the games allow has a factor below 1.
    right_side: share of the positions of decided games whose value is on the winner's side.
    move_loss: of the moves played, each counted as no less likely than `LEAST_PROBABILITY`.
    first_choice: share of the moves played that were the policy's first choice.
    """

    positions: int
    result_loss: float
    fitted_loss: float
    factor: float
    right_side: float
    move_loss: float
    first_choice: float


def read_played(path: Path) -> Iterator[PlayedGame]:
    """Yields the games of a match's log (`games.jsonl`) or of a file of games (`*.games`): there the moves
    before the first score are the opening, a teacher's random moves among them.

    Raises GameLogError, GameFileError or OSError.
    """
    if path.suffix != ".jsonl":
        for record in read_games(path):
            moves = tuple(move_to_usi(Move(move)) for move in record.moves)
            chosen = next((ply for ply, score in enumerate(record.evals) if score is not None), len(moves))
            black_score = 0.5 if record.result == DRAW else float(record.result == BLACK_WON)
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


def glances(
    games: Iterable[PlayedGame], evaluator: Evaluator, *, every: int = 1, batch: int = 256
) -> list[Glance]:
    """Returns what an evaluator says of the positions in which the players chose their moves.

    every: 1 for all of them, N for two in a row out of 2 N: so both sides have their turn.
    Raises IllegalMoveError or SfenError if a game cannot be played.
    """
    found: list[Glance] = []
    boards: list[Board] = []
    facts: list[tuple[str, float, Move]] = []

    def look() -> None:
        for board, (player, result, move), evaluation in zip(
            boards, facts, evaluator.evaluate(boards), strict=True
        ):
            policy = dict(zip(board.legal_moves(), evaluation.policy, strict=True))
            is_first = policy[move] == max(policy.values())
            found.append(Glance(board.ply, player, result, evaluation.value, policy[move], is_first))
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
            look()
    if boards:
        look()
    return found


def foresight(seen: Sequence[Glance]) -> Foresight:
    """Returns what the glances come to; raises ValueError if there are none."""
    if not seen:
        raise ValueError("expected at least one position of a game")
    results = np.array([glance.result for glance in seen])
    odds = np.array([2.0 * atanh(max(-0.999999, min(0.999999, glance.value))) for glance in seen])
    fitted = fit_scale(1000.0 * odds, results)
    return Foresight(
        positions=len(seen),
        result_loss=float((np.logaddexp(0.0, odds) - results * odds).mean()),
        fitted_loss=fitted.cross_entropy,
        factor=1000.0 / fitted.scale,
        right_side=fitted.sign_agreement,
        move_loss=float(np.mean([-log(max(LEAST_PROBABILITY, glance.probability)) for glance in seen])),
        first_choice=float(np.mean([glance.is_first for glance in seen])),
    )
