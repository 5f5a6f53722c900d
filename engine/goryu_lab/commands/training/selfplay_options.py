"""The options of `goryu selfplay`."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from goryu.base.config_fields import MOST_SEED, option, ranged
from goryu.commands.common import non_negative, positive
from goryu.commands.config_options import add_fields
from goryu.evaluators.network.providers import BACKENDS
from goryu.players.set_up.model_path import named_model
from goryu_lab.commands.cluster_options import add_worker_options
from goryu_lab.loop.config import LoopConfig, ShogiLoopConfig
from goryu_lab.loop.gate import GateConfig
from goryu_lab.loop.window import WindowRule
from goryu_lab.self_play.config import SelfPlayConfig

LOOP_GAMES = ("shogi", "tictactoe", "reversi6", "reversi")
"""What the loop can learn."""


@dataclass(frozen=True, slots=True)
class MachineOptions:
    """How the processes that play run the network, and the seed of their random numbers."""

    at_once: int = ranged(32, "games at once in each process")
    backend: str = option("cpu", "what runs the network", choices=BACKENDS)
    seed: int = ranged(0, "seed of the random numbers", least=0, most=MOST_SEED)


@dataclass(frozen=True, slots=True)
class ReanalysisOptions:
    """Which positions of old games are labelled, and how."""

    playouts: int = ranged(
        SelfPlayConfig().full_playouts,
        "playouts of the search that labels a position; 0: the network's own policy and value (distillation)",
        least=0,
    )
    share: float = ranged(1.0, "share of the positions to label", least=0, most=1)
    danger: int = ranged(
        0,
        "label only positions where the opponent attacks at least so many squares at the king of the side to "
        "move: its own and its neighbours",
        least=0,
    )
    keep_scores: bool = option(
        False, "keep the teacher's scores, and mix its moves half and half into the policies"
    )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", type=named_model, required=True, metavar="FILE.onnx", help="the network of the searches"
    )
    parser.add_argument(
        "--temperature",
        type=float,
        default=1.0,
        metavar="T",
        help="softmax temperature of the network's policy (default 1)",
    )
    add_out(parser)
    add_machine_options(parser)


def add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE.games", help="append the games to this file"
    )


def add_games(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--games", type=positive, metavar="N", help="play the games 0 to N - 1 (default: no end)"
    )


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    add_worker_options(parser, "processes that play")
    add_fields(parser, MachineOptions)
    parser.add_argument(
        "--gpus",
        type=gpu_numbers,
        metavar="N,...",
        help="numbers of the GPUs, which the processes take in turn (default 0)",
    )


def add_game_options(parser: argparse.ArgumentParser, *, fills: bool = True) -> None:
    parser.add_argument(
        "--openings",
        type=Path,
        metavar="FILE",
        help="start half of the games from the openings of this file, one a line",
    )
    add_fields(parser, SelfPlayConfig, fills=fills)


def add_loop_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, required=True, help="folder of all files of the loop")
    parser.add_argument(
        "--game", choices=LOOP_GAMES, default="shogi",
        help="the game (default shogi); the small games have numbers of their own",
    )  # fmt: skip
    for config in (LoopConfig, WindowRule, GateConfig, ShogiLoopConfig):
        add_fields(parser, config, fills=False)
    parser.add_argument(
        "--source",
        action="append",
        metavar="FILE,SCALE[,RESULT_WEIGHT[,REPEAT]]",
        help="more data for every training, as in goryu train",
    )
    add_machine_options(parser)
    parser.set_defaults(at_once=None)  # Every game of the loop has its own.


def gpu_numbers(text: str) -> tuple[int, ...]:
    """Returns the numbers of GPUs; raises ArgumentTypeError.

    >>> gpu_numbers("0,2")
    (0, 2)
    """
    return tuple(non_negative(number) for number in text.split(","))
