"""Measures a training step, and the optimizer's part of it, with our Muon and with PyTorch's, by turns.

    python3 tools/dev.py muon-steps                               a 5x64 network, one thread of the CPU
    python3 tools/dev.py muon-steps --device cuda --size 10x96 --batch-size 4096

The positions are random planes, labelled by random policies. Prints medians of the turns.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import torch

from goryu.base.errors import InputError
from goryu.commands.common import new_parser, positive, program
from goryu_lab.training.batches import Batch
from goryu_lab.training.config import TrainingConfig
from goryu_lab.training.losses import losses
from goryu_lab.training.network import PolicyValueNet
from goryu_lab.training.optimizer import TowerOptimizer

OURS, PYTORCHS = "ours", "PyTorch's"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("muon_steps.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--device", default="cpu", help="of PyTorch (default cpu)")
    parser.add_argument("--size", default="5x64", metavar="BxC", help="blocks and channels (default 5x64)")
    parser.add_argument("--batch-size", type=positive, default=256, metavar="N", help="default 256")
    parser.add_argument("--turns", type=positive, default=5, metavar="N", help="default 5")
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="of PyTorch (default 1)")
    return parser


def run(args: argparse.Namespace) -> None:
    """Measures and prints."""
    torch.set_num_threads(args.threads)
    blocks, _, channels = args.size.partition("x")
    if not (blocks.isdecimal() and channels.isdecimal()):
        raise InputError(f"size: expected 5x64 or the like, received {args.size!r}")
    config = TrainingConfig(blocks=int(blocks), channels=int(channels), device=args.device)
    net = PolicyValueNet(config.blocks, config.channels).to(args.device, memory_format=torch.channels_last)
    batch = random_batch(args.batch_size, args.device)
    optimizers = {name: optimizer_of(net, config, name) for name in (OURS, PYTORCHS)}
    whole: dict[str, list[float]] = {name: [] for name in optimizers}
    part: dict[str, list[float]] = {name: [] for name in optimizers}
    for turn in range(args.turns + 1):  # The first one warms up.
        for name, optimizer in optimizers.items():
            seconds = timed(partial(step, net, optimizer, batch, config), args.device)
            alone = timed(optimizer.step, args.device)
            if turn:
                whole[name].append(seconds)
                part[name].append(alone)
    for name in optimizers:
        seconds, alone = statistics.median(whole[name]), statistics.median(part[name])
        rate = args.batch_size / seconds
        print(f"{name}: {1e3 * alone:.1f} of {1e3 * seconds:.1f} ms, {rate:,.0f} positions/s")


def optimizer_of(net: PolicyValueNet, config: TrainingConfig, name: str) -> TowerOptimizer:
    """Returns the trainer's optimizer, with PyTorch's Muon in place of ours if that is wanted."""
    optimizer = TowerOptimizer(net, config)
    if name == PYTORCHS:
        ours = optimizer._optimizers["muon"]
        optimizer._optimizers["muon"] = torch.optim.Muon(
            ours.param_groups[0]["params"],
            weight_decay=config.weight_decay,
            adjust_lr_fn=ours.param_groups[0]["adjust_lr_fn"],
        )
        optimizer.set_rate(config.learning_rate)
    return optimizer


def step(
    net: PolicyValueNet, optimizer: TowerOptimizer, batch: Batch[torch.Tensor], config: TrainingConfig
) -> None:
    """Takes a training step."""
    policy_loss, value_loss = losses(net, batch, config)
    optimizer.zero_grad()
    (policy_loss + value_loss).backward()
    optimizer.step()


def timed(work: Callable[[], None], device: str) -> float:
    """Returns the seconds of some work, that of a GPU included."""
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    wait()
    start = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - start


def random_batch(size: int, device: str) -> Batch[torch.Tensor]:
    """Returns planes with few ones, 50 legal moves for each position, and a random policy over them."""
    generator = torch.Generator().manual_seed(1)
    board = (torch.rand(size, 62, 9, 9, generator=generator) < 0.05).float()
    hands = (torch.rand(size, 57, 1, 1, generator=generator) < 0.1).float().expand(size, 57, 9, 9)
    order = torch.rand(size, 27 * 81, generator=generator)
    legal = order >= order.topk(50, 1).values[:, -1:]
    policy = order.masked_fill(~legal, -torch.inf).softmax(1)
    value = torch.rand(size, generator=generator)
    planes = [each.to(device, memory_format=torch.channels_last) for each in (board, hands)]
    rest = [each.to(device) for each in (legal, policy.argmax(1), policy, value, value.round())]
    return Batch(*planes, *rest)


if __name__ == "__main__":
    raise SystemExit(main())
