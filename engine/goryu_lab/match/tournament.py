"""Runs a match: gives games to workers, logs the results, and stops when the sequential test is decided.

Games 2k and 2k + 1 are a pair: the same opening with the colours swapped. Every worker, a thread of this
process or a worker of a cluster, has one process of each engine, which plays game after game and is restarted
after a failure. Options can be drawn anew for each pair: those of engine 1 (`tuning.py`), or which of the two
engines has which change (`screening.py`).
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from goryu.base.config_fields import MOST_SEED, option, ranged
from goryu.engines.usi_client import EngineError, EngineSpec, Timeouts, UsiClient
from goryu_lab.match.engine_faults import FAILURES, is_failure
from goryu_lab.match.game import GameRules, play_game
from goryu_lab.match.game_log import GameEntry, GameLog
from goryu_lab.match.match_statistics import MatchStatistics
from goryu_lab.match.openings import DEFAULT_OPENINGS, Opening
from goryu_lab.match.screening import Change, Effect, effects, toss
from goryu_lab.match.sprt import SequentialTest, Sprt
from goryu_lab.match.tuning import Surface, TunedOption, draw
from goryu_lab.work.cluster import ClusterConfig, ClusterPool
from goryu_lab.work.driver import Workforce, run_tasks
from goryu_lab.work.seam import Inbox, Job, Pool, Result
from goryu_lab.work.shipping import check_installed, installed_files
from goryu_lab.work.threads import ThreadPool


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """The configuration of a match.

    games: an even number. openings: one for each pair, in an order shuffled by `seed`; then they repeat.
    first_pair: the match begins with it; those before it were played elsewhere (for `tools/series.py`).
    directory: for the logs of the engines and their transcripts; None writes neither.
    tuned: options of engine 1 that get new values in each pair, drawn from `seed`.
    screened: changes that one of the two engines has in each pair, which one is drawn from `seed`.
    """

    engines: tuple[EngineSpec, EngineSpec]
    games: int = ranged(20, "at most; made even", least=1)
    openings: Sequence[Opening] = DEFAULT_OPENINGS
    first_pair: int = 0
    seed: int = ranged(0, "of the order of the openings", least=0, most=MOST_SEED)
    rules: GameRules = field(default_factory=GameRules)
    timeouts: Timeouts = field(default_factory=Timeouts)
    concurrency: int = 1
    sprt: Sprt | None = None
    max_failures: int = ranged(10, "stop after so many failures of the engines, see above", least=1)
    directory: Path | None = None
    transcripts: bool = option(False, "log every line to and from the engines")
    tuned: Sequence[TunedOption] = ()
    screened: Sequence[Change] = ()

    def identity(self) -> dict[str, Any]:
        """Returns the values that decide the games, for the hash in the log.

        The number of games is not among them, so that a match can be extended, nor is the first pair.
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
        if self.screened:
            identity["screened"] = [str(change) for change in self.screened]
        return identity

    def files(self) -> dict[str, str]:
        """Returns the checksums of the programs, networks and books that the engines' words name."""
        return installed_files(
            word
            for engine in self.engines
            for word in (*engine.command, *(value for _, value in engine.options))
        )

    def opening_of_pair(self, pair: int) -> Opening:
        """Returns the opening of a pair of games."""
        order = list(range(len(self.openings)))
        random.Random(self.seed).shuffle(order)
        return self.openings[order[pair % len(order)]]

    def options_of_pair(self, pair: int) -> tuple[dict[str, str], dict[str, str]]:
        """Returns the options that engine 1 and engine 2 get for a pair of games."""
        first = {name: str(value) for name, value in self.tuned_values(pair).items()}
        second: dict[str, str] = {}
        for change, is_first in zip(self.screened, self.screened_sides(pair), strict=True):
            first |= change.values(is_first)
            second |= change.values(not is_first)
        return first, second

    def tuned_values(self, pair: int) -> dict[str, int]:
        """Returns the values of the tuned options in a pair of games."""
        return draw(self.tuned, self.seed, pair)

    def screened_sides(self, pair: int) -> tuple[bool, ...]:
        """Returns for each screened change whether engine 1 has it in a pair of games."""
        return toss(self.screened, self.seed, pair)


def complete_pairs(entries: Sequence[GameEntry]) -> list[tuple[GameEntry, GameEntry]]:
    """Returns the pairs with two finished games, in order."""
    by_number = {entry.number: entry for entry in entries}
    firsts = sorted(number for number in by_number if number % 2 == 0 and number + 1 in by_number)
    return [(by_number[number], by_number[number + 1]) for number in firsts]


def distinct_pairs(entries: Sequence[GameEntry]) -> list[tuple[GameEntry, GameEntry]]:
    """Returns the complete pairs, in order, without those that repeat an earlier pair move by move.

    Engines that search a fixed number of nodes answer a repeated opening with the same games. Such a pair
    tells nothing new, and counting it again would make every interval too narrow. Games without moves, as of
    an engine that fails at once, all count.
    """
    seen: set[Any] = set()
    return [pair for pair in complete_pairs(entries) if _is_new(pair, seen)]


def _is_new(pair: tuple[GameEntry, GameEntry], seen: set[Any], options: object = None) -> bool:
    """Returns whether a pair repeats none of `seen` with the same options, and adds it there."""
    games = (str(options), *((entry.black, entry.opening, entry.moves, entry.reason) for entry in pair))
    is_repeated = games in seen and all(entry.moves for entry in pair)
    seen.add(games)
    return not is_repeated


@dataclass(frozen=True, slots=True)
class MatchJob(Job):
    """What a worker of a match does: it runs one process of each engine, which play game after game.

    installed: checksums of the engines' files, for other computers.
    """

    config: MatchConfig
    installed: Mapping[str, str] = field(default_factory=dict)

    def prepared(self, place: Callable[[Path], Path]) -> Self:
        check_installed(self.installed)
        return self

    def work(self, inbox: Inbox) -> Iterator[Result]:
        """Yields the number of a game, and the names of the engines with the game's entry."""
        engines: list[UsiClient] = []
        try:
            while (task := inbox.take(wait=True)) is not None:
                number, _ = task
                engines = engines or self._start_engines(inbox)
                for engine in engines:
                    if not engine.is_alive:
                        engine.restart()
                if inbox.is_closed:  # An engine was killed, and then started again here.
                    return
                yield number, ((engines[0].name, engines[1].name), self._play(number, engines))
        finally:
            for engine in engines:
                engine.quit()
                if engine.transcript:
                    engine.transcript.close()

    def _start_engines(self, inbox: Inbox) -> list[UsiClient]:
        engines = []
        for side, spec in enumerate(self.config.engines):
            directory = self.config.directory
            log = directory / f"engine{side + 1}-{inbox.index}.stderr.log" if directory else None
            client = UsiClient(spec, log, self.config.timeouts)
            if directory and self.config.transcripts:
                path = directory / f"engine{side + 1}-{inbox.index}.usi.log"
                client.transcript = path.open("a", encoding="utf-8", buffering=1)
            inbox.on_close(client.kill)
            client.start()
            for name in self.config.options_of_pair(0)[side]:
                client.require_option(name)
            engines.append(client)
        return engines

    def _play(self, number: int, engines: Sequence[UsiClient]) -> GameEntry:
        with suppress(EngineError):  # If the engine has just died, `play_game` notices it too.
            for engine, options in zip(engines, self.config.options_of_pair(number // 2), strict=True):
                for name, value in options.items():
                    engine.set_option(name, value)
        black = 1 if number % 2 == 0 else 2
        players = (engines[black - 1], engines[2 - black])
        game = play_game(players, self.config.opening_of_pair(number // 2), self.config.rules)
        if game.verdict.reason in FAILURES:
            loser = 1 - (game.verdict.winner or 0)
            players[loser].kill()
        return GameEntry.from_game(number, black, game)


class Match:
    """A match in progress; `run` plays the games that are not in the log.

    on_game: called after each game. cluster: where to play; None: here. watch: as in `run_tasks`.
    earlier: engine 1's points in the games of each pair before `config.first_pair` (for `tools/series.py`).
    is_late: asked before each game; True ends the match, so that it can go on later (also for that).

    test: the sequential test, if there is one. It counts distinct pairs in the order of their numbers.
    """

    def __init__(
        self,
        config: MatchConfig,
        log: GameLog,
        on_game: Callable[[GameEntry], None] | None = None,
        cluster: ClusterConfig | None = None,
        watch: Callable[[Workforce], None] = lambda workforce: None,
        *,
        earlier: Iterable[Sequence[float]] = (),
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        assert config.games % 2 == 0, "a match is made of pairs"
        self.config = config
        self._log = log
        self._on_game = on_game or (lambda entry: None)
        self._cluster = cluster
        self._watch = watch
        self._is_late = is_late
        self.test = SequentialTest(config.sprt) if config.sprt else None
        if self.test:
            for points in earlier:
                self.test.add(points)
        self._next_pair = config.first_pair  # The first one that `test` has not seen.
        self._seen: set[Any] = set()
        self._count_pairs()

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
        """Returns the statistics of the distinct pairs, from the first engine's side."""
        return MatchStatistics.from_pairs((a.score, b.score) for a, b in distinct_pairs(self.entries))

    def surface(self) -> Surface:
        """Returns the score as a function of the tuned options; raises ExperimentError for too few pairs."""
        samples = [(self.config.tuned_values(pair), score) for pair, score in self._scores_of_pairs()]
        return Surface(self.config.tuned, samples)

    def effects(self) -> list[Effect]:
        """Returns what each screened change brings; raises ExperimentError for too few pairs."""
        samples = [(self.config.screened_sides(pair), score) for pair, score in self._scores_of_pairs()]
        return effects(self.config.screened, samples)

    def _scores_of_pairs(self) -> list[tuple[int, float]]:
        """Returns the number of each complete pair, and the score of engine 1 in it, in [0, 1].

        A pair that repeats an earlier one counts again if its options are others: they change nothing then.
        """
        seen: set[Any] = set()
        return [
            (number, (a.score + b.score) / 2)
            for a, b in complete_pairs(self.entries)
            if _is_new((a, b), seen, self.config.options_of_pair(number := a.number // 2))
        ]

    def run(self) -> None:
        """Plays the match. On KeyboardInterrupt kills the engines, drops unfinished games and re-raises.

        Raises EngineError if an engine cannot be started, and UnknownOptionError if one does not list an
        option that it is to be given; WorkError if that happens on a cluster.
        """
        pool: Pool
        if self._cluster is None:
            pool, job = ThreadPool(self.config.concurrency), MatchJob(self.config)
        else:
            pool, job = ClusterPool(self._cluster), self._cluster_job()
        games = ((number, None) for number in self._games_to_play())
        with closing(run_tasks(pool, job, games, watch=self._watch)) as finished:
            for results in finished:
                for _, (names, entry) in results:
                    self._log.write_names(names)
                    self._log.append(entry)
                    self._count_pairs()
                    self._on_game(entry)

    def _count_pairs(self) -> None:
        """Counts the pairs that follow those that the sequential test has seen."""
        entries = self._log.entries
        while self.test and self.test.verdict is None:
            first, second = (entries.get(2 * self._next_pair + game) for game in (0, 1))
            if first is None or second is None:
                return
            self._next_pair += 1
            if _is_new((first, second), self._seen):
                self.test.add((first.score, second.score))

    def _cluster_job(self) -> MatchJob:
        """Returns the job for other computers, which keep no logs."""
        return MatchJob(replace(self.config, directory=None), self.config.files())

    def _games_to_play(self) -> Iterator[int]:
        for number in range(2 * self.config.first_pair, self.config.games):
            if number in self._log.entries:
                continue
            if self._is_decided() or self._is_late():
                return
            yield number

    def _is_decided(self) -> bool:
        if self.test and self.test.verdict:
            return True
        failures = sum(map(is_failure, self._log.entries.values()))
        return failures >= self.config.max_failures
