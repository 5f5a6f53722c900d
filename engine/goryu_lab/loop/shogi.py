"""Shogi in the loop: the games of `self_play` and the training of `training`.

A match plays by Gumbel searches without noise: they yield the positions that they want evaluated, so the
games of a match share their batches. That matters on a GPU.

This module needs no PyTorch; the training does.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from goryu.base.errors import InputError
from goryu.games.shogi import Rules, move_to_usi
from goryu.implementation import Board
from goryu.search.evaluator import Evaluator
from goryu.search.gumbel import GumbelConfig
from goryu_lab.loop.adapter import NETWORK, GameSteps, PairSteps, Report
from goryu_lab.loop.config import ShogiLoopConfig
from goryu_lab.loop.pairs import pair_of_games
from goryu_lab.match.openings import Opening
from goryu_lab.records.game_records import GAMES_SUFFIX, GameRecord, GameWriter, read_games
from goryu_lab.self_play.game import self_play_game
from goryu_lab.self_play.workers import open_evaluator
from goryu_lab.training.config import TrainingConfig
from goryu_lab.training.dataset import load_datasets
from goryu_lab.training.sources import Source

RANDOM_PLIES = 4
"""Random moves after the opening of a match, which make its games differ."""

MOST_TRIES = 1000
"""How often to look for random moves that leave the game undecided."""

TRAINING = "train"
"""The folder of a training in that of its candidate: its checkpoint and its log."""


@dataclass(frozen=True, slots=True)
class ShogiLoopGame:
    """Shogi with the numbers of a loop."""

    config: ShogiLoopConfig
    name: str = "shogi"
    suffix: str = GAMES_SUFFIX

    @property
    def steps(self) -> int:
        return self.config.steps

    @property
    def samples(self) -> int:
        return self.config.steps * self.config.batch_size

    def initialise(self, folder: Path) -> None:
        """Writes the initial network, or one of random weights; raises InputError for one that is larger."""
        import torch

        from goryu_lab.training.checkpoints import atomic_save
        from goryu_lab.training.export import export_onnx
        from goryu_lab.training.network import PolicyValueNet
        from goryu_lab.training.run_state import load_initial

        initial, size = self.config.initial, (self.config.blocks, self.config.channels)
        torch.manual_seed(self.config.seed)
        net = PolicyValueNet(*size) if initial is None else load_initial(initial, *size)
        folder.mkdir(parents=True, exist_ok=True)
        if initial is None or initial.suffix != ".onnx":
            (folder / TRAINING).mkdir(exist_ok=True)
            atomic_save(folder / TRAINING / "checkpoint.pt", {"averaged": net.state_dict()})
        export_onnx(net, folder / NETWORK)

    def open(self, network: Path, batch_size: int, worker: int = 0) -> Evaluator:
        """Loads a network; raises ModelError or BackendError."""
        config = self.config
        return open_evaluator(network, batch_size, config.backend, gpus=config.gpus, worker=worker)

    def play(self, number: int, network: int) -> GameSteps:
        rng = Random(f"{self.config.seed} {number}")
        opening = rng.choice(self.config.openings)
        return self_play_game(self.config.self_play, opening, rng, number, f"self-play, network {network}")

    def pair(self, candidate: int, number: int) -> PairSteps:
        """Plays two games from an opening of the loop and four random plies."""
        max_plies = self.config.self_play.max_plies
        rng = Random(f"{self.config.seed} {candidate} {number}")
        start = random_start(rng.choice(self.config.openings), max_plies, rng)
        gumbel = GumbelConfig(max_considered=self.config.self_play.considered)
        return pair_of_games(start, self.config.match_playouts, gumbel, max_plies)

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
        from goryu_lab.training.export import export_onnx
        from goryu_lab.training.train import train

        config, seed = self.config, self.config.seed + number

        def on_step(entry: dict[str, Any]) -> None:
            if "loss" in entry:
                report(entry["step"], float(entry["loss"]))

        if not (folder / NETWORK).exists():
            sources = [Source(file, config.self_play.scale, config.result_weight) for file in files]
            training, _ = load_datasets([*sources, *config.source], held_out=0.0, seed=config.seed)
            # Soft targets need no smoothing. A run of some hundred steps is too short for an average over a
            # thousand. Each evaluation saves a checkpoint.
            recipe = TrainingConfig(
                blocks=config.blocks, channels=config.channels, batch_size=config.batch_size,
                steps=config.steps, learning_rate=config.learning_rate, smoothing=0.0, evaluations=4,
                average=0.99, seed=seed, device=config.device, threads=config.threads,
            )  # fmt: skip
            checkpoint = previous / TRAINING / "checkpoint.pt"  # A network from an exported file has none.
            initial = checkpoint if checkpoint.exists() else previous / NETWORK
            net = train(recipe, training, {}, folder / TRAINING, on_step, initial)
            export_onnx(net, folder / NETWORK)
        last = json.loads((folder / TRAINING / "log.jsonl").read_text().splitlines()[-1])
        return {name: round(last[name], 4) for name in ("policy_loss", "value_loss")}


def random_start(opening: Opening, max_plies: int, rng: Random) -> Board:
    """Returns the position after an opening and `RANDOM_PLIES` random moves, in which the game is not over.

    The game is a draw after `max_plies`. Raises InputError if there is no such position.
    """
    for _ in range(MOST_TRIES):
        board = Board(opening.sfen, Rules(max_ply=max_plies, all_moves=False))
        for name in opening.moves:
            board.push_usi(name)
        for _ in range(RANDOM_PLIES):
            if board.outcome() is None:
                board.push_usi(move_to_usi(rng.choice(board.legal_moves())))
        if board.outcome() is None:
            return board
    raise InputError(
        f"{opening}: expected an opening after which {RANDOM_PLIES} random moves leave a game of at most "
        f"{max_plies} plies undecided"
    )
