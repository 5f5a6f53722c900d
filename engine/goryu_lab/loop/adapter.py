"""What the loop needs of a game and of the network that learns it."""

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from goryu.games.state import State
from goryu.search.evaluator import Evaluation, Evaluator

GameSteps = Generator[list[State], list[Evaluation], Any]
"""A game of self-play that yields positions, is sent an evaluation for each, and returns its record."""

Seats = tuple[int, list[State]]
"""Positions of a match for one of its networks: 0 for the candidate, 1 for the champion."""

PairSteps = Generator[Seats, list[Evaluation], tuple[float, float]]
"""Two games from one start with swapped colours; returns the candidate's points (1, 1/2 or 0) in each."""

Report = Callable[[int, float], None]
"""Receives the steps of a training so far and the loss of the last one."""

NETWORK = "network.onnx"
"""The name of the network in the folder of a candidate."""


class GameFile(Protocol):
    """A file of games that is open for writing."""

    def write(self, games: Sequence[Any]) -> None:
        """Appends games, all or none, so that a kill loses none of them after this call."""
        ...

    def close(self) -> None: ...


class LoopGame(Protocol):
    """A game, its search and the training of its network; workers receive a copy, so it must be picklable.

    name: as the user gives it. samples, steps: positions that the training of one candidate draws, and steps.
    """

    @property
    def name(self) -> str: ...

    @property
    def samples(self) -> int: ...

    @property
    def steps(self) -> int: ...

    @property
    def suffix(self) -> str:
        """The suffix of its files of games."""
        ...

    def initialise(self, folder: Path) -> None:
        """Writes the first network, `NETWORK`, and what the first training starts from; makes the folder."""
        ...

    def open(self, network: Path, batch_size: int, worker: int = 0) -> Evaluator:
        """Loads a network. batch_size: the usual number of positions in a call.

        worker: the number of the worker, from 0: workers may take several GPUs in turn.
        """
        ...

    def play(self, number: int, network: int) -> GameSteps:
        """Plays game `number` of the run with the network of candidate `network`."""
        ...

    def pair(self, candidate: int, number: int) -> PairSteps:
        """Plays a pair of games of the match in which `candidate` is tested."""
        ...

    def number_of(self, game: Any) -> int:
        """Returns the number of a recorded game."""
        ...

    def positions_in(self, game: Any) -> int:
        """Returns how many positions the training can draw from a recorded game."""
        ...

    def append_to(self, path: Path) -> GameFile:
        """Opens a file of games; drops what a killed program left unfinished at its end."""
        ...

    def read(self, path: Path) -> Iterator[Any]:
        """Yields the games of a file in the order of writing."""
        ...

    def train(
        self, number: int, folder: Path, previous: Path, files: Sequence[Path], report: Report
    ) -> dict[str, float]:
        """Trains candidate `number` and writes `NETWORK` into its folder; returns losses by name.

        previous: the folder of the candidate before it. files: the games of the window, oldest first.
        A training that was killed is asked for again with the same arguments.
        """
        ...
