"""Runs a match: gives games to workers, logs the results, and stops when the sequential test is decided.

Games 2k and 2k + 1 are a pair: the same opening with the colours swapped. Every worker has one process of
each engine, which plays game after game and is restarted after a failure. Options of engine 1 can be drawn
anew for each pair (`tuning.py`).
"""

import os
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from goryu.match.game import GameRules, play_game
from goryu.match.game_log import GameEntry, GameLog
from goryu.match.match_statistics import MatchStatistics
from goryu.match.openings import DEFAULT_OPENINGS, Opening
from goryu.match.referee import Reason
from goryu.match.sprt import Sprt
from goryu.match.tuning import Surface, TunedOption, draw
from goryu.match.usi_client import EngineError, EngineSpec, Timeouts, UsiClient

FAILURES = (Reason.CRASH, Reason.HANG, Reason.PROTOCOL, Reason.ILLEGAL_MOVE)
"""Reasons that show a defect of an engine."""


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """The configuration of a match.

    openings: one for each pair, in an order shuffled by `seed`; after the last one they repeat.
    max_failures: failures of both engines together after which the match stops.
    directory: for the logs of the engines and their transcripts; None writes neither.
    transcripts: log every line to and from the engines?
    pin: run the engines of each worker on one core? Workers share cores if there are more workers.
    tuned: options of engine 1 that get new values in each pair, drawn from `seed`.
    """

    engines: tuple[EngineSpec, EngineSpec]
    games: int
    openings: Sequence[Opening] = DEFAULT_OPENINGS
    seed: int = 0
    rules: GameRules = field(default_factory=GameRules)
    timeouts: Timeouts = field(default_factory=Timeouts)
    concurrency: int = 1
    sprt: Sprt | None = None
    max_failures: int = 10
    directory: Path | None = None
    transcripts: bool = False
    pin: bool = False
    tuned: Sequence[TunedOption] = ()

    def identity(self) -> dict[str, Any]:
        """Returns the values that decide the games, for the hash in the log.

        The number of games is not among them, so that a match can be extended.
        """
        engines = [asdict(engine) | {"limits": str(engine.limits)} for engine in self.engines]
        identity = {
            "engine1": engines[0],
            "engine2": engines[1],
            "openings": [str(opening) for opening in self.openings],
            "seed": self.seed,
            "rules": asdict(self.rules),
        }
        if self.tuned:
            identity["tuned"] = [asdict(option) for option in self.tuned]
        return identity

    def opening_of_pair(self, pair: int) -> Opening:
        """Returns the opening of a pair of games."""
        order = list(range(len(self.openings)))
        random.Random(self.seed).shuffle(order)
        return self.openings[order[pair % len(order)]]

    def options_of_pair(self, pair: int) -> dict[str, int]:
        """Returns the values of the tuned options in a pair of games."""
        return draw(self.tuned, self.seed, pair)


def usable_cores() -> list[int]:
    """Returns the numbers of the cores that this process may use (`taskset`, containers)."""
    if sys.platform != "linux":
        return list(range(os.cpu_count() or 1))
    return sorted(os.sched_getaffinity(0))


def complete_pairs(entries: Sequence[GameEntry]) -> list[tuple[GameEntry, GameEntry]]:
    """Returns the pairs with two finished games, in order."""
    by_number = {entry.number: entry for entry in entries}
    firsts = sorted(number for number in by_number if number % 2 == 0 and number + 1 in by_number)
    return [(by_number[number], by_number[number + 1]) for number in firsts]


class Match:
    """A match in progress; `run` plays the games that are not in the log.

    on_game: called after each game, by the thread that played it, for one game at a time.
    """

    def __init__(
        self, config: MatchConfig, log: GameLog, on_game: Callable[[GameEntry], None] | None = None
    ) -> None:
        assert config.games % 2 == 0, "a match is made of pairs"
        self.config = config
        self.error: Exception | None = None
        self._log = log
        self._on_game = on_game or (lambda entry: None)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._todo = self._games_to_play()
        self._clients: list[UsiClient] = []

    @property
    def names(self) -> tuple[str, str]:
        """The names of the engines; two equal names get a number."""
        first, second = self._log.names or ("engine 1", "engine 2")
        return (f"{first} (1)", f"{second} (2)") if first == second else (first, second)

    @property
    def entries(self) -> list[GameEntry]:
        """The finished games, in order."""
        return sorted(self._log.entries.values(), key=lambda entry: entry.number)

    def statistics(self) -> MatchStatistics:
        """Returns the statistics of the complete pairs, from the first engine's side."""
        return MatchStatistics.from_pairs((a.score, b.score) for a, b in complete_pairs(self.entries))

    def surface(self) -> Surface:
        """Returns the score as a function of the tuned options; raises TuningError if pairs are too few."""
        pairs = complete_pairs(self.entries)
        samples = [(self.config.options_of_pair(a.number // 2), (a.score + b.score) / 2) for a, b in pairs]
        return Surface(self.config.tuned, samples)

    def run(self) -> None:
        """Plays the match. On KeyboardInterrupt kills the engines, drops unfinished games and re-raises.

        Raises EngineError if an engine cannot be started, and UnknownOptionError if one does not list an
        option that it is to be given.
        """
        workers = [
            threading.Thread(target=self._work, args=(index,), daemon=True)
            for index in range(self.config.concurrency)
        ]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                while worker.is_alive():
                    worker.join(0.2)
        except BaseException:
            self._abort()
            for worker in workers:
                worker.join()
            raise
        if self.error is not None:
            raise self.error

    def _games_to_play(self) -> Iterator[int]:
        for number in range(self.config.games):
            if self._stop.is_set() or self._is_decided():
                return
            if number not in self._log.entries:
                yield number

    def _is_decided(self) -> bool:
        if self.config.sprt and self.config.sprt.verdict(self.statistics()):
            return True
        failures = sum(entry.reason in FAILURES for entry in self._log.entries.values())
        return failures >= self.config.max_failures

    def _abort(self) -> None:
        self._stop.set()
        with self._lock:
            for client in self._clients:
                client.kill()

    def _work(self, index: int) -> None:
        """Plays games until none is left, in the thread of a worker."""
        engines: list[UsiClient] = []
        try:
            while True:
                with self._lock:
                    number = next(self._todo, None)
                if number is None:
                    break
                engines = engines or self._start_engines(index)
                self._play(number, engines)
        except Exception as error:
            if not self._stop.is_set():
                self.error = self.error or error
                self._abort()
        finally:
            for engine in engines:
                engine.quit()
                if engine.transcript:
                    engine.transcript.close()

    def _start_engines(self, index: int) -> list[UsiClient]:
        engines = []
        cores = usable_cores()
        core = cores[index % len(cores)] if self.config.pin else None
        for side, spec in enumerate(self.config.engines):
            directory = self.config.directory
            log = directory / f"engine{side + 1}-{index}.stderr.log" if directory else None
            client = UsiClient(spec, log, self.config.timeouts, core)
            if directory and self.config.transcripts:
                path = directory / f"engine{side + 1}-{index}.usi.log"
                client.transcript = path.open("a", encoding="utf-8", buffering=1)
            with self._lock:
                self._clients.append(client)
            client.start()
            for option in self.config.tuned if side == 0 else ():
                client.require_option(option.name)
            engines.append(client)
        with self._lock:
            self._log.write_names((engines[0].name, engines[1].name))
        return engines

    def _play(self, number: int, engines: Sequence[UsiClient]) -> None:
        for engine in engines:
            if not engine.is_alive:
                engine.restart()
        if self._stop.is_set():  # `_abort` may have killed an engine that was then started again here.
            return
        with suppress(EngineError):  # If the engine has just died, `play_game` notices it too.
            for name, value in self.config.options_of_pair(number // 2).items():
                engines[0].set_option(name, str(value))
        black = 1 if number % 2 == 0 else 2
        players = (engines[black - 1], engines[2 - black])
        game = play_game(players, self.config.opening_of_pair(number // 2), self.config.rules)
        if self._stop.is_set():
            return
        if game.verdict.reason in FAILURES:
            loser = 1 - (game.verdict.winner or 0)
            players[loser].kill()
        with self._lock:
            entry = GameEntry.from_game(number, black, game)
            self._log.append(entry)
            self._on_game(entry)
