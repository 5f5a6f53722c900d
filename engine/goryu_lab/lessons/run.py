"""A resumable run of `goryu learn`.

A run is a sequence of stages. A stage measures something or trains a network. Each starts its random numbers
from the seed, so that its result does not depend on which stages ran in the same process. A complete stage of
measurements is in `report.json` in the run's folder. A training saves its state as `STAGE.pt` every half
minute and at the end of each cycle.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

import torch

from goryu.implementation import Reversi
from goryu.players.agents.agents import Agent
from goryu.search.evaluator import Evaluator
from goryu_lab.lessons.alphazero import SELF_PLAY, AlphaZero, Learner
from goryu_lab.lessons.alphazero_config import AlphaZeroConfig
from goryu_lab.lessons.lesson_games import GAMES, lesson_game, read_games, write_games
from goryu_lab.lessons.report import Measurement, ReportError, TutorialReport
from goryu_lab.lessons.value_config import ValueLearnerConfig
from goryu_lab.lessons.value_learner import ValueLearner
from goryu_lab.records.expecting import expecting
from goryu_lab.training.checkpoints import atomic_save, load

SAVE_EVERY_S = 30.0
"""How often a training saves its state between two cycles or two matches."""


class ResumableRun:
    """The report, the folder and the seed of a run.

    log: receives lines of text. progress: receives a task, how much of it is done, and the total.
    """

    def __init__(
        self,
        folder: Path,
        report: TutorialReport,
        seed: int,
        log: Callable[[str], None],
        progress: Callable[[str, int, int], None],
    ) -> None:
        self.folder = folder
        self.report = report
        self.seed = seed
        self.log = log
        self.progress = progress

    def measure(self, stage: str, measurements: Callable[[Random], Iterator[Measurement]]) -> None:
        """Adds the results of `measurements(rng)` to the report, unless an earlier run has done so."""
        if stage in self.report.stages:
            self.log(f"{stage}: measured before")
            return
        found = []
        for measurement in measurements(Random(self.seed)):
            found.append(measurement)
            self.log(f"{measurement.name}: {measurement.value:.3f} ± {measurement.error:.3f}")
        self.report.measurements += found
        self.report.stages.append(stage)
        self.save_report()

    def save_report(self) -> None:
        self.report.write(self.folder / "report.json")

    def load(self, stage: str, restore: Callable[[dict[str, Any]], None]) -> dict[str, Any] | None:
        """Passes a saved state to `restore` and returns it; returns None if the stage has not begun.

        Raises ReportError if the file is something else.
        """
        path = self._path(stage)
        if not path.is_file():
            return None
        try:
            with expecting(path, "the state of an earlier training"):
                saved: dict[str, Any] = _with_games(load(path), _unpacked)
                restore(saved)
        except ValueError as error:
            raise ReportError(str(error)) from error
        return saved

    def save(
        self, stage: str, state: dict[str, Any], clock: "TrainingClock", strength: tuple[int, float, str]
    ) -> None:
        """Writes the state of a training and adds its strength to the report.

        After a kill between the two writes the training reaches the same point again and replaces the entry.
        """
        games, _, what = strength
        curve = self.report.strength
        self.report.strength = [s for s in curve if (s[0], s[2]) != (games, what)] + [strength]
        self.report.training[stage] = clock.read()
        self.save_report()
        self.save_state(stage, state, clock)

    def save_state(self, stage: str, state: dict[str, Any], clock: "TrainingClock") -> None:
        """Writes the state of a training; a kill leaves the old file or the new one."""
        atomic_save(self._path(stage), {**_with_games(state, _packed), "clock": clock.read()})
        clock.saved()

    def _path(self, stage: str) -> Path:
        return self.folder / f"{stage.replace(' ', '-')}.pt"


def _with_games(state: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Returns a state whose parts have other games."""
    parts = {name: part for name, part in state.items() if isinstance(part, dict) and "games" in part}
    return {**state, **{name: {**part, "games": change(part["games"])} for name, part in parts.items()}}


def _packed(games: Sequence[Any]) -> torch.Tensor:
    """Returns games as bytes: a checkpoint may hold large tensors, but no long lists."""
    return torch.frombuffer(bytearray(json.dumps(games).encode()), dtype=torch.uint8)


def _unpacked(games: torch.Tensor) -> list[list[Any]]:
    return [[_as_tuples(example) for example in game] for game in json.loads(games.numpy().tobytes())]


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


class TrainingClock:
    """Seconds of wall-clock and processor time, including those of earlier processes."""

    def __init__(self, before: dict[str, float] | None = None) -> None:
        before = before or {"seconds": 0.0, "cpu_seconds": 0.0}
        self._wall = time.monotonic() - before["seconds"]
        self._processor = time.process_time() - before["cpu_seconds"]
        self._saved = time.monotonic()

    def read(self) -> dict[str, float]:
        wall, processor = time.monotonic() - self._wall, time.process_time() - self._processor
        return {"seconds": round(wall, 1), "cpu_seconds": round(processor, 1)}

    def saved(self) -> None:
        """Notes that the state has been saved."""
        self._saved = time.monotonic()

    @property
    def is_save_due(self) -> bool:
        """Have `SAVE_EVERY_S` passed since the state was saved?"""
        return time.monotonic() >= self._saved + SAVE_EVERY_S


def train_alphazero(
    run: ResumableRun,
    learner: Learner[Any],
    config: AlphaZeroConfig,
    export: Callable[[], None],
    strength: Callable[[Evaluator], tuple[float, str]],
    size: int | None = None,
) -> Evaluator:
    """Runs AlphaZero's loop, or the rest of it, and returns the champion.

    export: writes the learner's network; called before the first cycle and after every promotion.
    strength: returns the points of a champion and their label, for the plot.
    size: squares a side; then `games.jsonl` gets the games of self-play, for `lesson_games.replay`.
    """
    loop = AlphaZero(learner, config, Random(run.seed))
    saved = run.load("alphazero", lambda saved: loop.load_state_dict(saved["loop"]))
    if saved is None:
        export()
    else:
        run.log(f"resuming after {loop.cycles} of {config.cycles} cycles and {loop.played} games")
    clock = TrainingClock(saved and saved["clock"])
    path = run.folder / GAMES
    games = read_games(path)[: loop.games_played] if size and saved and path.is_file() else []

    def progress(task: str, done: int, total: int) -> None:
        is_last_of_cycle = loop.played == config.games_per_cycle
        if task == SELF_PLAY and size:
            games.append(lesson_game(cast(Reversi, loop.last).move_stack, done, size))
        if task == SELF_PLAY and (is_last_of_cycle or clock.is_save_due):
            if size:
                write_games(path, games)
            run.save_state("alphazero", {"loop": loop.state_dict()}, clock)
        run.progress(task, done, total)

    run.progress(SELF_PLAY, loop.games_played, config.cycles * config.games_per_cycle)
    for cycle in loop.run(progress):
        if cycle.is_promoted:
            export()
        points, what = strength(loop.champion)
        match = f"challenger {cycle.score}" if cycle.score else "no match"
        run.log(
            f"cycle {cycle.number}: losses {cycle.policy_loss:.3f} {cycle.value_loss:.3f}; {match}; "
            f"{'promoted' if cycle.is_promoted else 'kept'}; {what}: {points:.3f}"
        )
        run.save("alphazero", {"loop": loop.state_dict()}, clock, (cycle.games, points, what))
    return loop.champion


def train_value_network(
    run: ResumableRun,
    stage: str,
    config: ValueLearnerConfig,
    new_opponents: Callable[[Random], list[Agent]],
    *,
    match_games: int = 100,
    keeps_best: bool = True,
) -> ValueLearner:
    """Runs the value learner of the reversi tutorial, or the rest of its games, and returns it.

    match_games: games of each match during the training, for the plot and to find the best network.
    """
    rng = Random(run.seed)
    learner = ValueLearner(config, new_opponents(rng), run.seed)

    def restore(saved: dict[str, Any]) -> None:
        learner.load_state_dict(saved["learner"])
        rng.setstate(saved["opponents"])

    def state() -> dict[str, Any]:
        return {"learner": learner.state_dict(), "opponents": rng.getstate()}

    saved = run.load(stage, restore)
    if saved is not None:
        run.log(f"{stage}: resuming after {learner.played} of {config.games} games")
    clock = TrainingClock(saved and saved["clock"])
    tenth = max(1, config.games // 10)
    half = config.games // 2
    stops = [*range(tenth, half, tenth), *range(half, config.games, max(1, tenth // 2)), config.games]
    for stop in (stop for stop in stops if stop > learner.played):
        while learner.played < stop:
            learner.step()
            run.progress(f"{stage}: games", learner.played, config.games)
            if learner.played < stop and clock.is_save_due:
                run.save_state(stage, state(), clock)
        points = learner.compete(match_games)
        run.save(stage, state(), clock, (learner.played, points, stage))
    if keeps_best:
        learner.restore_best()
    return learner
