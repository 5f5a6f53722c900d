"""The loop of self-play, training and match for shogi, with every step on disk.

    champion plays itself -> challenger learns from the last cycles' games -> match -> the winner plays on

as in AlphaGo Zero (Silver et al., Nature, 2017). `tutorials/alphazero.py` is the same loop on a page, in
memory and for any game. This one uses several processes and writes a file at every step, so a run of days can
be killed and resumed. Cycle 7 is in `cycle-007/`: `self.games`, `train/` (checkpoint, log), `network.onnx`,
`match.json`. A step is done if its file exists. Cycle 0 is the initial network.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch

from goryu.base.errors import InputError
from goryu.base.files import atomic_save, atomic_write
from goryu.learning.records.summary import GameSummary
from goryu.learning.self_play import workers
from goryu.learning.self_play.config import LoopConfig
from goryu.learning.self_play.network_match import network_match
from goryu.learning.training.config import TrainingConfig
from goryu.learning.training.dataset import Source, load_datasets
from goryu.learning.training.export import export_onnx
from goryu.learning.training.network import PolicyValueNet
from goryu.learning.training.train import load_initial, train
from goryu.players.agents.arena import Score
from goryu.work.driver import Workforce

TYPICAL_PLIES = 100
"""Moves of a game of self-play, by which the positions of a cycle are estimated before it is played."""


@dataclass(frozen=True, slots=True)
class LoopCycle:
    """The results of a cycle; score: the challenger's (None: there was no match)."""

    number: int
    games: int
    positions: int
    losses: dict[str, float]
    score: Score | None
    is_promoted: bool

    def __str__(self) -> str:
        losses = ", ".join(f"{name} {loss:.3f}" for name, loss in self.losses.items())
        match = "no match" if self.score is None else f"challenger {self.score}"
        return (
            f"cycle {self.number}: {self.games} games, {self.positions} positions; losses: {losses}; "
            f"{match}; {'promoted' if self.is_promoted else 'not promoted'}"
        )


def run_loop(
    config: LoopConfig,
    folder: Path,
    report: Callable[[GameSummary], None] = lambda summary: None,
    on_step: Callable[[dict[str, Any]], None] = lambda entry: None,
    watch: Callable[[Workforce], None] = lambda workforce: None,
) -> Iterator[LoopCycle]:
    """Runs the cycles that the folder lacks and yields every cycle, those of earlier runs too.

    report: called after every game of self-play. on_step: the `report` of `train`. watch: as in `run_tasks`.

    Raises InputError before the first game if a cycle cannot give one batch of positions.
    """
    _check_positions(config)
    champion = initialise(config, folder / "cycle-000")
    for number in range(1, config.cycles + 1):
        cycle = folder / f"cycle-{number:03}"
        cycle.mkdir(parents=True, exist_ok=True)
        name = f"self-play, cycle {number}"
        work = workers.PlayWork(name, config.self_play, config.openings, config.seed + number, config.games)
        played = workers.run(
            work, champion / "network.onnx", cycle / "self.games",
            processes=config.processes, cluster=config.cluster, at_once=config.at_once,
            backend=config.backend, gpus=config.gpus, report=report, watch=watch,
        )  # fmt: skip
        losses = _train(config, folder, number, champion, on_step)
        score = None
        if config.match_games:
            score = _match(config, cycle, champion, watch)
        is_promoted = score is None or score.points > config.promotion
        yield LoopCycle(number, played.games, played.positions, losses, score, is_promoted)
        if is_promoted:
            champion = cycle


def expected_positions(config: LoopConfig) -> int:
    """Returns an estimate of the positions that the self-play of one cycle records."""
    plies = min(TYPICAL_PLIES, config.self_play.max_plies)
    return round(config.games * plies * min(1.0, config.self_play.full_share))


def _check_positions(config: LoopConfig) -> None:
    """Raises InputError if the first cycle will have too few positions for one batch."""
    if (expected := expected_positions(config)) >= config.batch_size:
        return
    if config.source:
        expected += len(load_datasets(config.source, held_out=0.0, seed=config.seed)[0])
    if expected < config.batch_size:
        raise InputError(
            f"{config.games} games of self-play give about {expected} positions, expected at least one batch "
            f"of {config.batch_size}: play more games in a cycle or choose a smaller batch size"
        )


def initialise(config: LoopConfig, folder: Path) -> Path:
    """Writes the first champion, `network.onnx`, unless it exists; returns its folder."""
    network = folder / "network.onnx"
    if not network.exists():
        if config.initial is None:
            torch.manual_seed(config.seed)
            net = PolicyValueNet(config.blocks, config.channels)
        else:
            net = load_initial(config.initial, config.blocks, config.channels)
        folder.mkdir(parents=True, exist_ok=True)
        if config.initial is None or config.initial.suffix != ".onnx":
            (folder / "train").mkdir(exist_ok=True)
            atomic_save(folder / "train" / "checkpoint.pt", {"averaged": net.state_dict()})
        export_onnx(net, network)
    return folder


def _train(
    config: LoopConfig,
    folder: Path,
    number: int,
    champion: Path,
    on_step: Callable[[dict[str, Any]], None],
) -> dict[str, float]:
    """Trains the challenger from the champion's weights on the last cycles' games; returns its losses."""
    cycle = folder / f"cycle-{number:03}"
    first = max(1, number - config.window + 1)
    sources = [
        Source(folder / f"cycle-{i:03}" / "self.games", config.self_play.scale, config.result_weight)
        for i in range(first, number + 1)
    ]
    return train_network(config, config.seed + number, sources, cycle, champion, on_step)


def train_network(
    config: LoopConfig,
    seed: int,
    sources: Sequence[Source],
    folder: Path,
    previous: Path,
    on_step: Callable[[dict[str, Any]], None],
) -> dict[str, float]:
    """Trains from the weights in the folder `previous`, unless `folder` has a network; returns the losses.

    Writes `network.onnx` and `train/`, from which a training that was killed continues.
    """
    network = folder / "network.onnx"
    if not network.exists():
        training, _ = load_datasets([*sources, *config.source], held_out=0.0, seed=config.seed)
        recipe = TrainingConfig(
            blocks=config.blocks, channels=config.channels, batch_size=config.batch_size,
            steps=config.steps, learning_rate=config.learning_rate, smoothing=0.0, evaluations=4,
            average=0.99, seed=seed, device=config.device, threads=config.processes,
        )  # fmt: skip
        checkpoint = previous / "train" / "checkpoint.pt"  # A network from an exported file has none.
        initial = checkpoint if checkpoint.exists() else previous / "network.onnx"
        net = train(recipe, training, {}, folder / "train", on_step, initial)
        export_onnx(net, network)
    last = json.loads((folder / "train" / "log.jsonl").read_text().splitlines()[-1])
    return {"policy": last["policy_loss"], "value": last["value_loss"]}


def _match(config: LoopConfig, cycle: Path, champion: Path, watch: Callable[[Workforce], None]) -> Score:
    """Plays the challenger against the champion unless the result exists."""
    path = cycle / "match.json"
    if not path.exists():
        score = network_match(
            cycle / "network.onnx", champion / "network.onnx", config.openings, config.match_games,
            config.match_playouts, config.self_play.max_plies, Random(config.seed + 1),
            backend=config.backend, gpus=config.gpus, processes=config.processes, cluster=config.cluster,
            watch=watch,
        )  # fmt: skip
        atomic_write(path, json.dumps(asdict(score)))
    return Score(**json.loads(path.read_text()))
