"""Every number of a training run; without PyTorch, so that `goryu train --help` is quick."""

import math
from dataclasses import dataclass

from goryu.base.config_fields import check_ranges, option, ranged
from goryu.base.errors import InputError

PRECISIONS = ("auto", "bfloat16", "float32")


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """Every number of a run; the help of an option of `goryu train` is the help of its field.

    Raises InputError for numbers with which nothing can be trained.
    """

    blocks: int = ranged(5, "blocks of the network", least=0)
    channels: int = ranged(64, "channels of every convolution in the tower")
    batch_size: int = ranged(256, "positions in a training step")
    steps: int = ranged(1_000_000, "end the run after this many steps, or after --minutes if that is sooner")
    minutes: float = ranged(math.inf, "end the run after this many minutes of training", most=math.inf)
    learning_rate: float = ranged(
        2e-3,
        "peak of the learning rate, reached after 5 % of the run, for batches of 256; it grows with the "
        "square root of the batch",
    )
    tower_rate: float = ranged(
        2.5,
        "learning rate of the tower's convolutions, which Muon trains, as a multiple of the other weights'",
    )
    weight_decay: float = ranged(0.05, "weight decay; biases and normalisations are exempt", least=0)
    smoothing: float = ranged(
        0.1, "share of the policy target that is spread evenly over the legal moves", least=0, most=1
    )
    value_weight: float = ranged(1.0, "weight of the value loss; the policy loss has weight 1", least=0)
    clip: float = ranged(10.0, "greatest norm of the gradient; a longer one is shortened to it")
    average: float = ranged(
        0.999,
        "decay per 256 positions of the moving average of the weights, which is exported",
        least=0,
        most=1,
    )
    evaluations: int = ranged(10, "how often to measure the held-out games, and to save a checkpoint")
    save_minutes: float = ranged(2.0, "minutes after which the next checkpoint is saved")
    seed: int = ranged(
        0,
        "seed of the weights, of the order of the positions and of the held-out games",
        least=0,
        most=2**64 - 1,
    )
    threads: int = ranged(
        0,
        "threads of PyTorch; 0: all processors, divided among the processes that train on this computer",
        least=0,
    )
    workers: int = ranged(
        0,
        "processes that make batches, with --teacher threads; 0: the training makes them between its steps",
        least=0,
    )
    device: str = option("cpu", "device of PyTorch: cpu, cuda, cuda:1, ...")
    precision: str = option(
        "auto",
        "arithmetic of the training: bfloat16, float32, or auto, the faster: bfloat16 on GPUs, on CPUs with "
        "AMX and on AMD's with AVX-512 BF16, float32 on others",
    )
    compile: bool = option(
        False, "let torch.compile translate the network for this device; on a CPU it needs a C++ compiler"
    )

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.precision not in PRECISIONS:
            raise InputError(f"precision: expected {', '.join(PRECISIONS)}, received {self.precision!r}")
