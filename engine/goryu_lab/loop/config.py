"""Every number of the loop; without PyTorch, so that `goryu selfplay --help` is quick."""

from dataclasses import dataclass, field
from pathlib import Path

from goryu.base.config_fields import check_ranges, option, ranged
from goryu.base.errors import InputError
from goryu_lab.loop.gate import GateConfig
from goryu_lab.loop.window import WindowRule
from goryu_lab.match.openings import Opening
from goryu_lab.self_play.config import SelfPlayConfig
from goryu_lab.training.sources import Source


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """The numbers of the loop for any game; the defaults are those of shogi. Raises InputError for bad ones.

    at_once: games in progress in each worker.
    """

    cycles: int = ranged(10, "candidates to train and to test")
    reuse: float = ranged(4.0, "most samples of training for each position played")
    window: WindowRule = field(default_factory=WindowRule)
    gate: GateConfig = field(default_factory=GateConfig)
    at_once: int = 32

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True)
class ShogiLoopConfig:
    """How shogi is played and learnt in the loop. Raises InputError for bad numbers.

    threads: of PyTorch; 0: all cores. backend, gpus: what runs the network in the workers.
    """

    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    openings: tuple[Opening, ...] = (Opening(),)
    initial: Path | None = option(
        None, "start from the weights of a checkpoint.pt or of an exported float32 .onnx file"
    )
    source: tuple[Source, ...] = ()
    blocks: int = ranged(5, "blocks of the network", least=0)
    channels: int = ranged(64, "channels of every convolution in the tower")
    steps: int = ranged(400, "training steps for a candidate")
    batch_size: int = ranged(256, "positions in a training step")
    learning_rate: float = ranged(5e-4, "peak of the learning rate in each training")
    result_weight: float = ranged(
        0.5, "share of the game's result in the value target, from 0 to 1", least=0, most=1
    )
    match_playouts: int = ranged(100, "playouts a move in the match")
    device: str = option("cpu", "device of the training: cpu or cuda")
    threads: int = 1
    backend: str = "cpu"
    gpus: tuple[int, ...] = (0,)
    seed: int = ranged(0, least=0, most=2**63 - 1)

    def __post_init__(self) -> None:
        check_ranges(self)
        for name in ("cheap_playouts", "full_playouts"):  # Without a search there is nothing to learn.
            if (playouts := getattr(self.self_play, name)) < 1:
                raise InputError(f"{name}: expected more than 0, received {playouts}")
