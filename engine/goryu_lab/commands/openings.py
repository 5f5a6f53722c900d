r"""Makes an opening file for `goryu match`: distinct, balanced, reproducible from the seed.

    goryu openings --engine /usr/games/fairy-stockfish --option UCI_Variant=shogi \
        --count 400 --seed 1 --out tools/openings/balanced.txt

The engine needs `MultiPV` and `go nodes`.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random

from goryu.base.files import atomic_write, check_writable
from goryu.commands.common import command_words, name_and_value, new_parser, positive, program, seed
from goryu.commands.config_options import add_fields, from_arguments
from goryu.engines.time_control import TimeControl
from goryu.engines.usi_client import EngineSpec, UsiClient
from goryu_lab.match.opening_sampler import BalancedOpening, Sampling, sample_openings

VARIATIONS = "8"
"""Moves that the engine proposes at each step."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    words = sys.argv[1:] if arguments is None else arguments

    def run(args: argparse.Namespace) -> None:
        make_openings(args, shlex.join(words))

    return program("goryu openings", make_parser(), run, arguments, interrupted="nothing was written")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "--engine", type=command_words, required=True, metavar="CMD",
        help="proposes the moves and evaluates the last position",
    )  # fmt: skip
    parser.add_argument(
        "--option", type=name_and_value, action="append", default=[], metavar="NAME=VALUE", help="USI option"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the opening file")
    parser.add_argument("--count", type=positive, default=400, help="number of openings (default 400)")
    parser.add_argument("--seed", type=seed, default=1, help="of the random moves (default 1)")
    add_fields(parser, Sampling)
    return parser


def make_openings(args: argparse.Namespace, command_line: str) -> None:
    """Samples the openings and writes the file."""
    from rich.progress import track

    check_writable(args.out, makes_folders=True)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    sampling = from_arguments(Sampling, args)
    options = (*args.option, ("MultiPV", VARIATIONS))
    client = UsiClient(EngineSpec(args.engine, options, TimeControl(nodes=sampling.evaluation_nodes)))
    try:
        client.start()
        openings = islice(sample_openings(client, sampling, Random(args.seed)), args.count)
        found = list(track(openings, "openings", total=args.count))
    finally:
        client.quit()
    atomic_write(args.out, file_text(found, args, client.name, command_line))


def file_text(
    openings: Sequence[BalancedOpening], args: argparse.Namespace, engine: str, command_line: str
) -> str:
    """Returns the text of the opening file."""
    least, most = args.plies
    lines = [
        f"# {len(openings)} distinct openings of {least} to {most} plies, each with its score in centipawns",
        f"# for the side to move, by {engine} at {Sampling().evaluation_nodes} nodes;",
        f"# absolute value below {args.balance_cp}.",
        f"# goryu openings {command_line}",
        *(f"{balanced.opening}  # {balanced.cp:+}" for balanced in openings),
    ]
    return "\n".join(lines) + "\n"
