"""AlphaZero's pseudocode as a program: actors play while a trainer trains.

`alphazero.py` plays and trains by turns. Here actors, each a process of its own, fetch the newest network
from a storage, play a game and send it to the trainer's replay buffer, over and over. The trainer takes steps
on random positions of the buffer and stores a network at every checkpoint. Before the first checkpoint a
uniform network plays. There is no match: the newest network is the one that plays.

What differs:

- The pseudocode lets both sides run freely, with 5,000 actors for one trainer. Here the trainer waits for its
  share of games, or it would learn the first few of them by heart.
- The search is the engine's: positions merge, and what is proven is not searched. A proven win is learnt as
  the only move; the pseudocode learns the visits.
- The trainer rotates and reflects the positions at random.

With `as_published` the last two do not differ: `published_search.py` searches, and positions stay as they
are.
Source: see `pseudocode_config.py`.
"""

import multiprocessing as mp
import traceback
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import Any, Protocol, cast

from goryu.base.errors import GoryuError
from goryu.base.files import atomic_path
from goryu.evaluators.uniform import UniformEvaluator
from goryu.search.evaluator import Evaluator
from goryu_lab.lessons.alphazero import (
    SELF_PLAY,
    TRAINING,
    Example,
    Learner,
    Progress,
    self_play,
)
from goryu_lab.lessons.alphazero_config import AlphaZeroConfig
from goryu_lab.lessons.pseudocode_config import PseudocodeConfig
from goryu_lab.lessons.pseudocode_games import GAMES, PseudocodeGame

STEPS_AT_ONCE = 10
"""The trainer looks for new games after this many steps."""

WAIT_S = 0.2
"""How long the trainer waits at a time: on Windows a wait without a limit cannot be interrupted."""


class ActorError(GoryuError, RuntimeError):
    """An actor has failed; the message holds its traceback or exit status."""


class NetworkStorage:
    """The networks by the step of the training at which they were stored: `STEP.onnx` in a folder."""

    def __init__(self, folder: Path, game: PseudocodeGame) -> None:
        self.folder = folder
        self.game = game
        self._newest: tuple[int, Evaluator] = 0, UniformEvaluator()

    def save(self, step: int, learner: Any) -> None:
        """Stores the learner's network."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(self._path(step)) as path:  # An actor never reads half a file.
            learner.export(path)

    def steps(self) -> list[int]:
        """Returns the steps of all networks, in order."""
        return sorted(int(path.stem) for path in self.folder.glob("*.onnx") if path.stem.isdigit())

    def network(self, step: int) -> Evaluator:
        """Returns the network of a step."""
        return self.game.load(self._path(step))

    def newest(self) -> tuple[int, Evaluator]:
        """Returns the last step and its network; step 0 is the uniform one."""
        step = max(self.steps(), default=0)
        if step != self._newest[0]:
            self._newest = step, self.network(step)
        return self._newest

    def _path(self, step: int) -> Path:
        return self.folder / f"{step:08d}.onnx"


class GameSource(Protocol):
    """Where the trainer's games come from."""

    def get(self, *, waits: bool) -> tuple[int, list[Example[Any]]] | None:
        """Returns the next game and the step of its network; None if there is none and `waits` is False."""
        ...


class OneActor:
    """Plays in the trainer's process, whenever the trainer waits: slower, but the run can be repeated."""

    def __init__(self, storage: NetworkStorage, config: AlphaZeroConfig, rng: Random) -> None:
        self.storage = storage
        self.config = config
        self.rng = rng

    def play(self) -> tuple[int, list[Example[Any]]]:
        """Plays a game with the newest network; returns it and the step of the network."""
        step, evaluator = self.storage.newest()
        game = self.storage.game
        return step, self_play(game.new(), game.encode, evaluator, self.config, self.rng)

    def get(self, *, waits: bool) -> tuple[int, list[Example[Any]]] | None:
        """Returns a game if the trainer waits for one."""
        return self.play() if waits else None


def act(game: str, folder: Path, config: AlphaZeroConfig, seed: int, games: Connection) -> None:
    """Plays games with the newest network until this process is ended: the life of an actor.

    games: a pipe that takes (step of the network, examples), or a traceback.
    """
    alone = OneActor(NetworkStorage(folder, GAMES[game]), config, Random(seed))
    with suppress(KeyboardInterrupt, ConnectionError):  # The trainer gets Ctrl-C, too, or it is gone.
        try:
            while True:
                step, examples = alone.play()
                games.send((step, [(e.position, e.policy, e.value) for e in examples]))
        except Exception:
            games.send(traceback.format_exc())


class Actors:
    """The actors, as a context: they play while it lasts.

    Each has a pipe of its own, so the end of a process is the end of its pipe: nobody waits for the rest of a
    message from an actor that was killed. An actor waits while its pipe is full.
    """

    def __init__(self, count: int, game: str, folder: Path, config: AlphaZeroConfig, seed: int) -> None:
        self._arguments = [(game, folder, config, seed + i) for i in range(count)]
        self._processes: dict[Connection, BaseProcess] = {}
        self._ready: deque[Connection] = deque()  # Pipes that hold something.

    def __enter__(self) -> "Actors":
        context = mp.get_context("spawn")  # The fork of a process with threads may hang.
        for arguments in self._arguments:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=act, args=(*arguments, theirs), daemon=True)
            process.start()
            theirs.close()
            self._processes[ours] = process
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes.values():
            process.kill()  # It has nothing to tidy up.
        for pipe, process in self._processes.items():
            process.join()
            pipe.close()

    def get(self, *, waits: bool) -> tuple[int, list[Example[Any]]] | None:
        """Returns the next game, as `GameSource`; raises ActorError if an actor has failed."""
        while not self._ready:  # All of them have their turn before the first one has another.
            self._ready += cast(list[Connection], wait(list(self._processes), WAIT_S if waits else 0.0))
            if not waits and not self._ready:
                return None
        pipe = self._ready.popleft()
        try:
            found = pipe.recv()
        except (EOFError, OSError):  # Killed, perhaps within a message.
            process = self._processes[pipe]
            process.join()
            raise ActorError(f"an actor ended with status {process.exitcode}") from None
        if isinstance(found, str):
            raise ActorError(f"an actor failed:\n{found}")
        step, examples = found
        return step, [Example(*example) for example in examples]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A point of the training at which a network was stored.

    games: received so far. positions: in the replay buffer. lag: by how many steps, on average, the networks
        of the last games were older than the trainer's.
    """

    step: int
    games: int
    positions: int
    policy_loss: float
    value_loss: float
    lag: float


class Trainer:
    """Trains a network on the games of the actors."""

    def __init__(
        self, learner: Learner[Any], storage: NetworkStorage, config: PseudocodeConfig, rng: Random
    ) -> None:
        self.learner = learner
        self.storage = storage
        self.config = config
        self.rng = rng
        self.step = 0
        self.received = 0  # Games.
        self.buffer: list[list[Example[Any]]] = []
        self._lags: list[int] = []

    def run(
        self, actors: GameSource, progress: Progress = lambda task, done, total: None
    ) -> Iterator[Checkpoint]:
        """Trains to the end and yields every checkpoint."""
        config = self.config
        while self.step < config.steps:
            end = min(self.step + config.checkpoint_interval, config.steps)
            losses, self._lags = [], []
            while self.step < end:
                steps = min(STEPS_AT_ONCE, end - self.step)
                self._receive(actors, ceil(config.games_per_step * (self.step + steps)), progress)
                once = replace(config.alphazero, steps_per_cycle=steps)
                losses.append((steps, *self.learner.train(self.buffer, once, self.rng)))
                self.step += steps
                progress(TRAINING, self.step, config.steps)
            self.storage.save(self.step, self.learner)
            total = sum(steps for steps, _, _ in losses)
            yield Checkpoint(
                self.step,
                self.received,
                sum(map(len, self.buffer)),
                sum(steps * policy for steps, policy, _ in losses) / total,
                sum(steps * value for steps, _, value in losses) / total,
                sum(self._lags) / max(1, len(self._lags)),
            )

    def _receive(self, actors: GameSource, wanted: int, progress: Progress) -> None:
        """Takes all games that are ready, and waits until there were `wanted` in all."""
        while (game := actors.get(waits=self.received < wanted)) is not None:
            step, examples = game
            self._lags.append(self.step - step)
            self.buffer.append(examples)
            self.received += 1
            expected = ceil(self.config.games_per_step * self.config.steps)
            progress(SELF_PLAY, self.received, max(expected, self.received))
        del self.buffer[: -self.config.alphazero.window]

    def state_dict(self) -> dict[str, Any]:
        """Returns what an interrupted run needs to resume after a checkpoint."""
        return {
            "step": self.step,
            "received": self.received,
            "learner": self.learner.state_dict(),
            "games": [[(e.position, e.policy, e.value) for e in game] for game in self.buffer],
            "rng": self.rng.getstate(),
        }

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self.step, self.received = saved["step"], saved["received"]
        self.learner.load_state_dict(saved["learner"])
        self.buffer = [[Example(*example) for example in game] for game in saved["games"]]
        self.rng.setstate(saved["rng"])
