"""The games of a training at reversi or tic-tac-toe: their file, the strip of results, their boards."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from goryu.base.errors import InputError
from goryu.base.files import atomic_write
from goryu.base.strict_json import parse_json
from goryu.games.state import Move
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Reversi

GAMES, CHECKPOINT_GAMES = "games.jsonl", "checkpoint-games.jsonl"

RUNNING = 100
"""The games of the running win rate."""

ITSELF = "itself"
"""The opponent in self-play; the first player counts as the learner."""


@dataclass(frozen=True, slots=True)
class LessonGame:
    """A game of a lesson or of self-play, as a line of `games.jsonl`.

    number: from 1. size: squares a side; 3 is tic-tac-toe. opponent: its name, or `ITSELF`.
    learner: 0 if it moved first. discs: the learner's lead at the end; at tic-tac-toe 1, 0 or -1.
    epsilon: its share of random moves. moves: as people write them.
    """

    number: int
    size: int
    opponent: str
    learner: int
    epsilon: float
    discs: int
    moves: tuple[str, ...]

    @property
    def sign(self) -> str:
        """+ for a game that the learner won, - for a lost one, = for a draw."""
        return "+" if self.discs > 0 else "-" if self.discs < 0 else "="

    @property
    def points(self) -> float:
        """1 for a win, 0.5 for a draw."""
        return (1 + (self.discs > 0) - (self.discs < 0)) / 2


def lesson_game(
    moves: Sequence[Move],
    number: int,
    size: int,
    opponent: str = ITSELF,
    learner: int = 0,
    epsilon: float = 0.0,
) -> LessonGame:
    """Returns the game of these moves, which is over."""
    state, names = _new_board(size), []
    for move in moves:
        names.append(_name(state, move))
        state.push(move)
    if isinstance(state, TicTacToe):
        outcome = state.outcome()
        lead = int(outcome.value) if outcome else 0
    else:
        lead = state.disc_difference()
    discs = lead if state.turn == learner else -lead
    return LessonGame(number, size, opponent, learner, round(epsilon, 6), discs, tuple(names))


def _new_board(size: int) -> TicTacToe | Reversi:
    return TicTacToe() if size == 3 else Reversi(size)


def _name(state: TicTacToe | Reversi, move: Move) -> str:
    """Returns a move as people write it, at tic-tac-toe the number of the square, from 0."""
    return str(move) if isinstance(state, TicTacToe) else state.move_name(move)


def write_games(path: Path, games: Sequence[LessonGame]) -> None:
    """Writes games as JSON lines, atomically."""
    atomic_write(path, "".join(json.dumps(asdict(game)) + "\n" for game in games))


def read_games(path: Path) -> list[LessonGame]:
    """Returns the games of a lesson; raises InputError with the line of a damaged one, or OSError."""
    games = []
    for line, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            found = parse_json(text)
            games.append(LessonGame(**{**found, "moves": tuple(found["moves"])}))
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"{path}, line {line}: expected a game of a lesson ({error!r})") from None
    return games


def strip(games: Sequence[LessonGame]) -> str:
    """Returns the strip of results: + won, - lost, = drawn by the learner."""
    return "".join(game.sign for game in games)


def win_rate(games: Sequence[LessonGame]) -> float:
    """Returns the mean points of the games, 0 if there are none."""
    return sum(game.points for game in games) / len(games) if games else 0.0


def running_win_rates(games: Sequence[LessonGame]) -> list[float]:
    """Returns for each game the mean points of the last `RUNNING` games up to it."""
    return [win_rate(games[max(0, i - RUNNING) : i]) for i in range(1, len(games) + 1)]


def plot(rates: Sequence[float], path: Path) -> None:
    """Draws a running win rate; the suffix of `path` chooses the format. Needs matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(range(1, len(rates) + 1), rates)
    axes.set(xlabel="games", ylabel="points a game, running mean", ylim=(0, 1.02))
    figure.savefig(path)


def replay(game: LessonGame) -> Iterator[str]:
    """Yields the boards of a game, from the start to the end; each text begins with the move that led there.

    Raises InputError if a move is not legal.
    """
    state = _new_board(game.size)
    sides = ("learner", game.opponent) if game.learner == 0 else (game.opponent, "learner")
    yield f"game {game.number}: {sides[0]} (X) - {sides[1]} (O), epsilon {game.epsilon:g}\n{state}"
    for name in game.moves:
        found: dict[str, Move] = {_name(state, move): move for move in state.legal_moves()}
        if name not in found:
            raise InputError(f"game {game.number}: move {name!r} is not legal after {state.ply} moves")
        text = f"{state.ply + 1}. {sides[state.turn]} ({'XO'[state.turn]}): {name}"
        state.push(found[name])
        black, white = (state.own, state.opponent) if state.turn == 0 else (state.opponent, state.own)
        yield f"{text}   X {black.bit_count()}, O {white.bit_count()}\n{state}"
    if game.size == 3:
        yield f"{game.sign} {'draw' if game.discs == 0 else 'X wins' if game.discs > 0 else 'O wins'}"
    else:
        yield f"{game.sign} the learner is {abs(game.discs)} discs {'ahead' if game.discs >= 0 else 'behind'}"
