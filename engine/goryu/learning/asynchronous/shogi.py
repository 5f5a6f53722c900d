"""Shogi in the asynchronous loop: the games of `self_play` and the training of `training`.

A match plays by Gumbel searches without noise, not by PUCT as the synchronous loop does: they yield the
positions that they want evaluated, so the games of a match share their batches. That matters on a GPU.

This module needs no PyTorch; the training does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from goryu.base.errors import InputError
from goryu.learning.asynchronous.adapter import GameSteps, PairSteps, Report
from goryu.learning.asynchronous.pairs import pair_of_games
from goryu.learning.records.game_records import GAMES_SUFFIX, GameRecord, GameWriter, read_games
from goryu.learning.self_play.config import LoopConfig
from goryu.learning.self_play.game import self_play_game
from goryu.learning.self_play.network_match import board_of, random_starts
from goryu.learning.self_play.workers import open_evaluator
from goryu.learning.training.dataset import Source
from goryu.search.evaluator import Evaluator
from goryu.search.gumbel import GumbelConfig


@dataclass(frozen=True, slots=True)
class ShogiLoopGame:
    """Shogi with the numbers of a loop, of which those of its cycles, window and promotion are not used."""

    config: LoopConfig
    name: str = "shogi"
    suffix: str = GAMES_SUFFIX

    @property
    def steps(self) -> int:
        return self.config.steps

    @property
    def samples(self) -> int:
        return self.config.steps * self.config.batch_size

    def initialise(self, folder: Path) -> None:
        """Writes the initial network, or one of random weights."""
        from goryu.learning.self_play.loop import initialise

        initialise(self.config, folder)

    def open(self, network: Path, batch_size: int, worker: int = 0) -> Evaluator:
        """Loads a network; raises ModelError or BackendError."""
        config = self.config
        return open_evaluator(network, batch_size, config.backend, gpus=config.gpus, worker=worker)

    def play(self, number: int, network: int) -> GameSteps:
        rng = Random(f"{self.config.seed} {number}")
        opening = rng.choice(self.config.openings)
        teacher = f"asynchronous self-play, network {network}"
        return self_play_game(self.config.self_play, opening, rng, number, teacher)

    def pair(self, candidate: int, number: int) -> PairSteps:
        """Plays two games from an opening of the loop and four random plies."""
        max_plies = self.config.self_play.max_plies
        rng = Random(f"{self.config.seed} {candidate} {number}")
        (start,) = random_starts(self.config.openings, 1, max_plies, rng)
        gumbel = GumbelConfig(max_considered=self.config.self_play.considered)
        return pair_of_games(board_of(start, max_plies), self.config.match_playouts, gumbel, max_plies)

    def number_of(self, game: GameRecord) -> int:
        """Returns the number of a game; raises InputError for a game of something else."""
        if game.number is None:
            raise InputError(f"expected numbered games of this loop, found one by {game.teacher!r}")
        return game.number

    def positions_in(self, game: GameRecord) -> int:
        return sum(score is not None for score in game.evals)

    def append_to(self, path: Path) -> GameWriter:
        return GameWriter(path)

    def read(self, path: Path) -> Iterator[GameRecord]:
        return read_games(path)

    def train(
        self, number: int, folder: Path, previous: Path, files: Sequence[Path], report: Report
    ) -> dict[str, float]:
        """Trains from the averaged weights of the candidate before; a killed training continues."""
        from goryu.learning.self_play.loop import train_network

        config = self.config
        sources = [Source(file, config.self_play.scale, config.result_weight) for file in files]

        def on_step(entry: dict[str, Any]) -> None:
            if "loss" in entry:
                report(entry["step"], float(entry["loss"]))

        losses = train_network(config, config.seed + number, sources, folder, previous, on_step)
        return {f"{name}_loss": round(loss, 4) for name, loss in losses.items()}
