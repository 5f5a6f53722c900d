"""A run of `tools/learn.py` that may be interrupted: what it has found out, trained and still has to do.

A run is a row of stages. A stage measures something or trains a network; each draws its random numbers from
the seed anew, so that none depends on which others ran in the same process. Measurements go to
`report.json` in the run's folder when their stage is complete; a network in training is kept as
`STAGE.pt` and goes on from there.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import torch

from goryu.agents.agents import Agent
from goryu.files import atomic_save
from goryu.learning.training.export import expecting
from goryu.learning.tutorials.alphazero import AlphaZero, Learner
from goryu.learning.tutorials.alphazero_config import AlphaZeroConfig
from goryu.learning.tutorials.report import Measurement, ReportError, TutorialReport
from goryu.learning.tutorials.value_learner import ValueLearner, ValueLearnerConfig
from goryu.search.evaluator import Evaluator


class ResumableRun:
    """The report, the folder and the seed; `say` gets lines for people, `progress` (what, done, of)."""

    def __init__(
        self,
        folder: Path,
        report: TutorialReport,
        seed: int,
        say: Callable[[str], None],
        progress: Callable[[str, int, int], None],
    ) -> None:
        self.folder = folder
        self.report = report
        self.seed = seed
        self.say = say
        self.progress = progress

    def measure(self, stage: str, measurements: Callable[[Random], Iterator[Measurement]]) -> None:
        """Adds what `measurements(rng)` yields to the report, unless an earlier run has."""
        if stage in self.report.stages:
            self.say(f"{stage}: measured before")
            return
        found = []
        for measurement in measurements(Random(self.seed)):
            found.append(measurement)
            self.say(f"{measurement.name}: {measurement.value:.3f} ± {measurement.error:.3f}")
        self.report.measurements += found
        self.report.stages.append(stage)
        self.save_report()

    def save_report(self) -> None:
        self.report.write(self.folder / "report.json")

    def load(self, stage: str, restore: Callable[[dict[str, Any]], None]) -> dict[str, Any] | None:
        """Has `restore` take over what `save` wrote and returns it, or None if the stage has not begun.

        Raises ReportError if the file is something else.
        """
        path = self._path(stage)
        if not path.is_file():
            return None
        try:
            with expecting(path, "where the training of an earlier run stands"):
                saved: dict[str, Any] = torch.load(path, weights_only=True)
                restore(saved)
        except ValueError as error:
            raise ReportError(str(error)) from error
        return saved

    def save(
        self, stage: str, state: dict[str, Any], clock: "TrainingClock", strength: tuple[int, float, str]
    ) -> None:
        """Writes where a training stands and adds its strength, an entry of the report, to the curve.

        A kill leaves the old files whole. In between the report is ahead: the training then comes to the
        same point again, and replaces it.
        """
        games, _, what = strength
        curve = self.report.strength
        self.report.strength = [s for s in curve if (s[0], s[2]) != (games, what)] + [strength]
        self.report.training[stage] = clock.read()
        self.save_report()
        atomic_save(self._path(stage), {**state, "clock": clock.read()})

    def _path(self, stage: str) -> Path:
        return self.folder / f"{stage.replace(' ', '-')}.pt"


class TrainingClock:
    """Seconds of the wall clock and of the processor, those of earlier processes included."""

    def __init__(self, before: dict[str, float] | None = None) -> None:
        before = before or {"seconds": 0.0, "cpu_seconds": 0.0}
        self._wall = time.monotonic() - before["seconds"]
        self._processor = time.process_time() - before["cpu_seconds"]

    def read(self) -> dict[str, float]:
        wall, processor = time.monotonic() - self._wall, time.process_time() - self._processor
        return {"seconds": round(wall, 1), "cpu_seconds": round(processor, 1)}


def train_alphazero(
    run: ResumableRun,
    learner: Learner[Any],
    config: AlphaZeroConfig,
    export: Callable[[], None],
    strength: Callable[[Evaluator], tuple[float, str]],
) -> Evaluator:
    """Runs AlphaZero's loop, or what is left of it, and returns the champion.

    export: writes the learner's network; called before the first cycle and when it has become the champion.
    strength: the points of a champion and what they are points of, for the plot.
    """
    loop = AlphaZero(learner, config, Random(run.seed))
    saved = run.load("alphazero", lambda saved: loop.load_state_dict(saved["loop"]))
    if saved is None:
        export()
    else:
        run.say(f"AlphaZero: cycle {loop.cycles} of {config.cycles} is done")
    clock = TrainingClock(saved and saved["clock"])
    games, of = loop.cycles * config.games_per_cycle, config.cycles * config.games_per_cycle

    def on_game() -> None:
        nonlocal games
        games += 1
        run.progress("AlphaZero: games", games, of)

    run.progress("AlphaZero: games", games, of)
    for cycle in loop.run(on_game):
        if cycle.is_promoted:
            export()
        points, what = strength(loop.champion)
        match = f"challenger {cycle.score}" if cycle.score else "no match"
        run.say(
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
    """Runs the reversi tutorial's learner, or what is left of its games, and returns it.

    match_games: games of each match on the way, for the plot and for keeping the best network.
    """
    rng = Random(run.seed)
    learner = ValueLearner(config, new_opponents(rng), run.seed)

    def restore(saved: dict[str, Any]) -> None:
        learner.load_state_dict(saved["learner"])
        rng.setstate(saved["opponents"])

    saved = run.load(stage, restore)
    if saved is not None:
        run.say(f"{stage}: {learner.played} of {config.games} games are played")
    clock = TrainingClock(saved and saved["clock"])
    tenth = max(1, config.games // 10)
    half = config.games // 2
    stops = [*range(tenth, half, tenth), *range(half, config.games, max(1, tenth // 2)), config.games]
    for stop in (stop for stop in stops if stop > learner.played):
        while learner.played < stop:
            learner.step()
            run.progress(f"{stage}: games", learner.played, config.games)
        points = learner.compete(match_games)
        state = {"learner": learner.state_dict(), "opponents": rng.getstate()}
        run.save(stage, state, clock, (learner.played, points, stage))
    if keeps_best:
        learner.restore_best()
    return learner
