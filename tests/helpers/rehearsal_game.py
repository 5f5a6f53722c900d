"""A loop that only pretends to learn: tic-tac-toe at random, and a network that is only its number.

It shows what the driver, the files and the workers do, in seconds and without PyTorch.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from goryu.base.files import atomic_write
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.tictactoe import TicTacToe
from goryu.search.evaluator import Evaluator
from goryu_lab.loop.adapter import NETWORK, GameSteps, PairSteps, Report
from goryu_lab.records.json_lines import GamesInLines, read_lines


@dataclass(frozen=True)
class RehearsalGame(GamesInLines):
    """The candidates in `worse` lose every pair, the others win. seconds: of a training."""

    worse: frozenset[int] = frozenset()
    seconds: float = 0.0
    name: str = "rehearsal"
    suffix: str = ".jsonl"
    samples: int = 120
    steps: int = 20

    def initialise(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write(folder / NETWORK, "0")

    def open(self, network: Path, batch_size: int, worker: int = 0) -> Evaluator:
        assert network.read_text().isdecimal()
        return UniformEvaluator()

    def play(self, number: int, network: int) -> GameSteps:
        rng, state = Random(number), TicTacToe()
        while state.outcome() is None:
            (evaluation,) = yield [state]
            state.push(rng.choices(state.legal_moves(), evaluation.policy)[0])
        return {"number": number, "network": network, "moves": state.move_stack}

    def pair(self, candidate: int, number: int) -> PairSteps:
        yield 0, [TicTacToe()]
        yield 1, [TicTacToe()]
        return (0.0, 0.0) if candidate in self.worse else (1.0, 1.0)

    def positions_in(self, game: Any) -> int:
        return len(game["moves"])

    def train(
        self, number: int, folder: Path, previous: Path, files: Sequence[Path], report: Report
    ) -> dict[str, float]:
        """Counts the games of the window instead of a loss."""
        assert (previous / NETWORK).read_text() == str(number - 1)
        time.sleep(self.seconds)
        report(self.steps, 1.0)
        games = sum(1 for file in files for _ in read_lines(file))
        atomic_write(folder / NETWORK, str(number))
        return {"policy_loss": float(games), "value_loss": 0.5}
