"""Compares variants of an engine by single moves, which another engine judges.

In positions of recorded games each variant chooses a move. Where they choose different ones, the judge gives
the win rate after each, and the difference counts, position by position; where they agree it is 0 and costs
nothing. That finds in an hour which of several changes deserves a match.

Weaknesses: the judge likes moves of its own kind and has blind spots of its own, so it should be strong, and
must not be a variant. And each move is judged alone, not what an engine makes of it. So nothing is accepted
by this test: that takes games.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import exp, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from goryu.base.config_fields import MOST_SEED, ranged
from goryu.base.errors import InputError
from goryu.engines.time_control import Clock, go_command
from goryu.engines.usi_client import EngineSpec, SearchReply, Timeouts, UsiClient
from goryu.games.shogi.pieces import danger
from goryu.implementation import Board
from goryu.kifu.record import GameRecord
from goryu_lab.match.game_log import GameLogError, LineLog
from goryu_lab.match.match_statistics import Z95
from goryu_lab.match.referee import Referee

PHASES = (0, 40, 80, 120)
"""The first ply of each phase of a game in the report."""

DANGERS = (0, 2, 4)
"""The least danger of each group in the report."""


@dataclass(frozen=True, slots=True)
class MoveTestConfig:
    """What is tested. The first variant is the one with which the others are compared.

    variants, judge: with their limits; each search has its own clock.
    scale_cp: a score of so many centipawns is a win rate of 1 / (1 + 1/e), 73 %;
        `goryu teach fit` finds it.
    """

    variants: tuple[EngineSpec, ...]
    judge: EngineSpec
    positions: int = ranged(200, "positions to test")
    from_ply: int = ranged(20, "leave out positions with fewer moves before them", least=0)
    seed: int = ranged(0, "of the choice of positions", least=0, most=MOST_SEED)
    scale_cp: int = ranged(600, "scale of the judge's scores")

    def identity(self) -> dict[str, Any]:
        """Returns what decides an answer. The positions are not in it, so that more can be added."""
        engines = [asdict(one) | {"limits": str(one.limits)} for one in (*self.variants, self.judge)]
        return {"variants": engines[:-1], "judge": engines[-1], "scale": self.scale_cp}


@dataclass(frozen=True, slots=True)
class JudgedPosition:
    """One position, what the variants play there, and the win rate after each of these moves.

    position: as in the USI command. ply: moves before it. danger: of the king, see `danger`.
    rates: one for each variant, in [0, 1] for the side that moves; all 0 where all play the same.
    """

    position: str
    ply: int
    danger: int
    moves: tuple[str, ...]
    rates: tuple[float, ...]

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "JudgedPosition":
        """Returns the position of a line of the file."""
        return cls(**values | {"moves": tuple(values["moves"]), "rates": tuple(values["rates"])})


def chosen_positions(games: Sequence[GameRecord], config: MoveTestConfig) -> list[tuple[str, ...]]:
    """Returns the first SFEN and the moves of each position to test, drawn at random, no position twice."""
    found: dict[str, tuple[str, ...]] = {}
    for game in games:
        board = Board(game.start)
        for ply, move in enumerate(game.moves):
            if ply >= config.from_ply and len(board.legal_moves()) > 1:
                found.setdefault(board.sfen(), (game.start, *game.moves[:ply]))
            board.push_usi(move)
    places = sorted(found.values())
    random.Random(config.seed).shuffle(places)
    return places[: config.positions]


class MoveTest:
    """A test in progress, with its engines. Close it; `tested` are the positions so far."""

    def __init__(self, config: MoveTestConfig, path: Path, timeouts: Timeouts | None = None) -> None:
        """Opens the file, or makes it; raises GameLogError if it is of another test, or damaged."""
        self.config = config
        self._log = LineLog(path, "move test", config.identity())
        try:
            self.tested = [JudgedPosition.from_json(values) for values in self._log.lines]
        except (LookupError, TypeError) as error:
            self._log.close()
            raise GameLogError(f"{path}: expected judged positions: {error}") from error
        specs = (*config.variants, config.judge)
        self._engines = [
            UsiClient(one, path.with_name(f"engine{i}.log"), timeouts) for i, one in enumerate(specs)
        ]

    def run(self, games: Sequence[GameRecord]) -> Iterator[JudgedPosition]:
        """Tests the chosen positions that are not in the file, and yields each; raises EngineError."""
        done = {one.position for one in self.tested}
        waiting = [
            (start, moves)
            for start, *moves in chosen_positions(games, self.config)
            if position_text(start, moves) not in done
        ]
        if waiting:
            for engine in self._engines:
                engine.start()
        for start, moves in waiting:
            tested = self._test(start, moves)
            self._log.write(asdict(tested))
            self.tested.append(tested)
            yield tested

    def close(self) -> None:
        """Ends the engines."""
        for engine in self._engines:
            engine.quit()
        self._log.close()

    def _test(self, start: str, moves: Sequence[str]) -> JudgedPosition:
        *variants, judge = self._engines
        text, board = position_text(start, moves), Board(start)
        for move in moves:
            board.push_usi(move)
        chosen = tuple(search(engine, text, board.turn).move for engine in variants)
        rates = dict.fromkeys(chosen, 0.0)
        if len(rates) > 1:
            rates = {move: self._rate(judge, start, moves, move) for move in rates}
        own_danger = danger(board.pieces, board.turn)
        return JudgedPosition(text, len(moves), own_danger, chosen, tuple(rates[move] for move in chosen))

    def _rate(self, judge: UsiClient, start: str, moves: Sequence[str], move: str) -> float:
        """Returns the win rate in [0, 1] after a move, for the side that plays it."""
        referee = Referee("sfen " + start, max_plies=len(moves) + 2)
        for earlier in moves:
            referee.play(earlier)
        mover = referee.turn
        if verdict := referee.play(move):
            return 0.5 if verdict.winner is None else float(verdict.winner == mover)
        reply = search(judge, position_text(start, [*moves, move]), 1 - mover)
        if reply.move in ("resign", "win"):
            return float(reply.move == "resign")
        if reply.info.cp is None:
            raise InputError(f"{judge.name}, the judge, gives no scores")
        return 1 / (1 + exp(reply.info.cp / self.config.scale_cp))


def position_text(start: str, moves: Sequence[str]) -> str:
    """Returns a USI position command."""
    return " ".join(["position sfen", start, *(["moves", *moves] if moves else [])])


def search(engine: UsiClient, position: str, turn: int) -> SearchReply:
    """Returns an engine's answer in a position that it sees for the first time. turn: 0 black, 1 white."""
    engine.new_game()
    clock = Clock(engine.spec.limits)
    return engine.go(position, go_command(turn, (clock, clock)), clock.budget_ms)


def report(names: Sequence[str], tested: Sequence[JudgedPosition]) -> list[str]:
    """Returns a table: for each variant but the first how its moves differ from the first one's.

    The win rate is a mean over all positions, in percent, with its 95 % interval.
    """
    lines = []
    for variant, name in enumerate(names[1:], 1):
        lines.append(f"{name} against {names[0]}:")
        lines.append(f"  {'':16} {'positions':>9} {'differ':>7} {'better':>7} {'worse':>6}  win rate, %")
        for group, members in _groups(tested):
            if members:
                lines.append(f"  {group:16} {_row(variant, members)}")
    return lines


def _groups(tested: Sequence[JudgedPosition]) -> Iterator[tuple[str, list[JudgedPosition]]]:
    """Yields the name and the positions of each group of the report."""
    yield "all", list(tested)
    for key, starts in (("ply", PHASES), ("danger", DANGERS)):
        for least, most in zip(starts, (*starts[1:], None), strict=True):
            name = f"{key} {least}+" if most is None else f"{key} {least} to {most - 1}"
            inside = (least, most or MOST_SEED)
            yield name, [one for one in tested if inside[0] <= getattr(one, key) < inside[1]]


def _row(variant: int, tested: Sequence[JudgedPosition]) -> str:
    gains = [one.rates[variant] - one.rates[0] for one in tested]
    differ = sum(one.moves[variant] != one.moves[0] for one in tested)
    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    shown = ""
    if len(gains) > 1:
        shown = f"{100 * fmean(gains):+.2f} ± {100 * Z95 * stdev(gains) / sqrt(len(gains)):.2f}"
    return f"{len(tested):>9} {differ:>7} {better:>7} {worse:>6}  {shown}".rstrip()
