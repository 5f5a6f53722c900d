"""Self-play, training and matches at the same time: no computer waits for another's step.

    workers:  the champion plays itself; pairs of games between candidate and champion come first
    trainer:  candidate after candidate, each trained further from the one before it, on a window of games
    driver:   gives out tasks, writes every result, decides matches, promotes

A worker gets the newest champion with every task. The trainer waits only for its share of games
(`window.py`). A candidate that wins its match (`gate.py`) is champion from then on. If several candidates
wait for a match, the newest one gets it. The training continues from a rejected candidate, too.

The games depend on when a network was promoted, so two runs differ. What is exact: every game has a number,
and is written once. `lessons/alphazero.py` is the loop by turns, on a page and repeatable.

Sources: D. Silver et al., "Mastering the game of Go without human knowledge", Nature, 2017 (three parallel
parts, with matches); D. Wu, "Accelerating Self-Play Learning in Go", 2019.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from goryu_lab.loop.adapter import LoopGame
from goryu_lab.loop.config import LoopConfig
from goryu_lab.loop.folder import LoopFolder
from goryu_lab.loop.gate import Gate, Points, Verdict
from goryu_lab.loop.players import PairTask, PlayersJob, PlayTask
from goryu_lab.loop.trainer import Step, Trained, Trainer
from goryu_lab.loop.window import positions_needed
from goryu_lab.match.match_statistics import MatchStatistics
from goryu_lab.work.driver import Workforce, run_tasks
from goryu_lab.work.seam import Pool, Result, Shipment, Task


@dataclass(frozen=True, slots=True)
class LoopProgress:
    """How far a run is.

    done: candidates that are trained and tested, with the share of the one in training. positions_per_s: of
    this program. loss: of the last step of training, if any. promotions: so far. match: the candidate, the
    pairs played and the log-likelihood ratio of the match in progress.
    """

    done: float
    games: int
    positions: int
    positions_per_s: float
    loss: float | None
    promotions: int
    match: tuple[int, int, float] | None

    def __str__(self) -> str:
        parts = [f"{self.games} games", f"{self.positions_per_s:.0f} positions/s"]
        if self.loss is not None:
            parts.append(f"loss {self.loss:.3f}")
        parts.append(f"{self.promotions} promotions")
        if self.match is not None:
            candidate, pairs, llr = self.match
            parts.append(f"match of {candidate}: {pairs} pairs, LLR {llr:+.2f}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class LoopEvent:
    """Something that the log has, too: `entry` is its entry there."""

    event: str
    candidate: int
    entry: dict[str, Any]

    def __str__(self) -> str:
        entry = self.entry
        if self.event == "trained":
            losses = ", ".join(f"{name} {loss:.3f}" for name, loss in entry.items() if name.endswith("loss"))
            return (
                f"candidate {self.candidate}: {entry['games']} games, the last {entry['window']} of "
                f"{entry['positions']} positions; {losses}"
            )
        decision = "promoted" if entry["promoted"] else "not promoted"
        if "elo" not in entry:
            return f"candidate {self.candidate}: {decision} ({entry['by']})"
        games = 2 * sum(entry["pentanomial"])
        return (
            f"candidate {self.candidate} against {entry['champion']}: {entry['elo']:+.0f} ± "
            f"{entry['error']:.0f} Elo in {games} games, LLR {entry['llr']:+.2f}: {decision} ({entry['by']})"
        )


def run_loop(
    game: LoopGame,
    config: LoopConfig,
    folder: Path,
    new_players: Callable[[], Pool],
    new_trainer: Callable[[], Pool],
    on_progress: Callable[[LoopProgress], None] = lambda progress: None,
    watch: Callable[[Workforce], None] = lambda workforce: None,
) -> Generator[LoopEvent, None, None]:
    """Runs the loop, or the rest of it, and yields what happens, that of earlier programs first.

    new_players, new_trainer: make the workers; the trainer has one. watch: as in `run_tasks`.

    Raises InputError if the folder is another run's, and the errors of the workers.
    """
    with closing(LoopFolder(folder, game)) as files:
        for entry in files.log():
            yield LoopEvent(entry.pop("event"), entry.pop("candidate"), entry)
        driver = _Driver(game, config, files)
        yield from driver.advance()
        if driver.is_finished():
            return
        pool = new_players()
        with Trainer(new_trainer(), game) as trainer:
            driver.trainer = trainer
            job = PlayersJob(game, config.at_once)
            with closing(run_tasks(pool, job, driver.tasks(pool.ship), watch=watch)) as finished:
                for results in finished:
                    driver.accept(results)
                    yield from driver.advance()
                    on_progress(driver.progress())
                    if driver.is_finished():
                        return


class _Driver:
    """The decisions of the loop. trainer: None while there is only something to read."""

    def __init__(self, game: LoopGame, config: LoopConfig, files: LoopFolder) -> None:
        self.trainer: Trainer | None = None
        self._game = game
        self._config = config
        self._files = files
        self._gate: Gate | None = None
        self._asked = files.trained  # The last candidate whose training was asked for.
        self._step: Step | None = None
        self._open: dict[int, PlayTask | PairTask] = {}
        self._shipments: dict[int, Shipment] = {}
        self._started_s, self._started_positions = files.seconds, files.positions

    def is_finished(self) -> bool:
        """Are all candidates trained, and is the last one tested?"""
        return self._files.trained >= self._config.cycles and self._waiting is None and self._gate is None

    def tasks(self, ship: Callable[[Path], Shipment]) -> Iterator[Task]:
        """Yields tasks without end: pairs of the match in progress, and games of the champion."""
        played = frozenset(self._files.numbers)
        numbers = (number for number in count() if number not in played)
        for number in count():
            task: PlayTask | PairTask
            champion = self._files.champion
            if self._gate is not None and (pair := self._gate.next_pair()) is not None:
                both = self._gate.candidate, self._gate.champion
                shipments = self._ship(both[0], ship), self._ship(both[1], ship)
                task = PairTask(pair, *both, shipments)
            else:
                task = PlayTask(next(numbers), champion, self._ship(champion, ship))
            self._open[number] = task
            yield number, task

    def accept(self, results: list[Result]) -> None:
        """Writes the games and the pairs that were finished."""
        games = []
        for number, result in results:
            task = self._open.pop(number)
            if isinstance(task, PlayTask):
                games.append(result)
            elif self._gate is not None and self._counts(self._gate, task, result):
                self._files.add_pair(self._gate.champion, task.number, result)
        self._files.add_games(games)

    @staticmethod
    def _counts(gate: Gate, task: PairTask, points: Points) -> bool:
        """Adds a pair to the match in progress; returns whether it belongs to it and is new."""
        return task.candidate == gate.candidate and gate.add(task.number, points)

    def advance(self) -> Iterator[LoopEvent]:
        """Does what has become possible: notes trainings, decides matches, begins the next ones."""
        yield from self._note_training()
        yield from self._decide()
        self._train()

    def progress(self) -> LoopProgress:
        """Returns how far the run is."""
        files, gate, step = self._files, self._gate, self._step
        share = step.step / self._game.steps if step is not None and step.candidate > files.trained else 0.0
        seconds = max(0.1, files.seconds - self._started_s)
        return LoopProgress(
            min(files.trained + share, float(self._config.cycles)),
            len(files.numbers),
            files.positions,
            (files.positions - self._started_positions) / seconds,
            None if step is None else step.loss,
            sum(verdict["promoted"] for verdict in files.verdicts.values()),
            None if gate is None else (gate.candidate, gate.played, gate.test.llr),
        )

    @property
    def _waiting(self) -> int | None:
        """The newest candidate, if it is trained and has no verdict."""
        newest = self._files.trained
        return newest if newest and newest not in self._files.verdicts else None

    def _note_training(self) -> Iterator[LoopEvent]:
        for report in self.trainer.reports() if self.trainer is not None else ():
            if isinstance(report, Trained):
                entry = self._files.note_trained(report.candidate, report.losses)
                yield LoopEvent("trained", report.candidate, entry)
            else:
                self._step = report

    def _decide(self) -> Iterator[LoopEvent]:
        """Ends a match that has a verdict, and begins the next one."""
        while self._gate is None or self._gate.verdict is not None:
            if self._gate is not None and self._gate.verdict is not None:
                entry = verdict_entry(self._gate.verdict, self._gate.champion)
                yield self._note(self._gate.candidate, entry)
                self._gate = None
            if (candidate := self._next_match()) is None:
                return
            for older in range(1, candidate):
                if older not in self._files.verdicts:
                    yield self._note(older, {"promoted": False, "by": "a newer one was ready"})
            if not self._config.gate.pairs:
                yield self._note(candidate, {"promoted": True, "by": "no match"})
                continue
            champion = self._files.champion
            self._gate = Gate(self._config.gate, candidate, champion)
            for pair, points in self._files.pairs(candidate, champion).items():
                self._gate.add(pair, points)

    def _next_match(self) -> int | None:
        """Returns the candidate to test: one whose match an earlier program began, or else the newest."""
        for number in range(1, self._files.trained + 1):
            if number not in self._files.verdicts and self._files.has_match(number):
                return number
        return self._waiting

    def _note(self, candidate: int, entry: dict[str, Any]) -> LoopEvent:
        self._files.note_verdict(candidate, entry)
        return LoopEvent("verdict", candidate, self._files.verdicts[candidate])

    def _train(self) -> None:
        """Asks for the next training, if there are games enough for it."""
        files, config = self._files, self._config
        if self.trainer is None or self._asked > files.trained or files.trained >= config.cycles:
            return
        number = files.trained + 1
        if files.planned < number:
            samples, start = self._game.samples, config.window.window_start
            needed = positions_needed(number, samples, config.reuse, start)
            if files.positions < needed or not files.sizes[-1]:
                return
            files.new_plan(config.window.size(files.positions))
        self._asked = number
        self.trainer.train(files.plan(number))

    def _ship(self, number: int, ship: Callable[[Path], Shipment]) -> Shipment:
        """Returns the shipment of a network; forgets those that no new task will name."""
        if number not in self._shipments:
            needed = {self._files.champion, number, *([self._gate.candidate] if self._gate else [])}
            self._shipments = {old: s for old, s in self._shipments.items() if old in needed}
            self._shipments[number] = ship(self._files.network(number))
        return self._shipments[number]


def verdict_entry(verdict: Verdict, champion: int) -> dict[str, Any]:
    """Returns a verdict as an entry of the log."""
    elo, error = finite_elo(verdict.statistics)
    return {
        "promoted": verdict.is_promoted, "by": verdict.by, "champion": champion,
        "pentanomial": list(verdict.statistics.pentanomial), "llr": round(verdict.llr, 3),
        "elo": round(elo, 1), "error": round(error, 1),
    }  # fmt: skip


def finite_elo(statistics: MatchStatistics) -> tuple[float, float]:
    """Returns the Elo difference and half the width of its 95 % interval, with one more pair drawn.

    Without that pair a match that was won by all points would have no finite Elo.
    """
    lost, half_lost, even, half_won, won = statistics.pentanomial
    more = MatchStatistics((lost, half_lost, even + 1, half_won, won))
    return more.elo, more.elo_error
