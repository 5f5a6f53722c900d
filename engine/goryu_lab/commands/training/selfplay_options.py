"""The options of `goryu selfplay`."""

import argparse
from pathlib import Path

from goryu.commands.common import non_negative, positive, seed
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

AT_ONCE = 32
"""Games in progress in each worker, if the user says nothing."""


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
    parser.add_argument(
        "--at-once",
        type=positive,
        default=AT_ONCE,
        metavar="N",
        help="games at once in each process (default 32)",
    )
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        default="cpu",
        metavar="NAME",
        help="what runs the network: %(choices)s (default cpu)",
    )
    parser.add_argument(
        "--gpus",
        type=gpu_numbers,
        metavar="N,...",
        help="numbers of the GPUs, which the processes take in turn (default 0)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="seed of the random numbers (default 0)")


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
