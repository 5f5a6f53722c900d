r"""Makes an opening file for `tools/match.py`: distinct, balanced, repeatable from the seed.

    python tools/openings.py --engine /usr/games/fairy-stockfish --option UCI_Variant=shogi \
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

from common import command_words, interrupt_on_sigterm, name_and_value, needs_extra
from goryu.match.opening_sampler import Sampling, sample_openings
from goryu.match.time_control import TimeControl
from goryu.match.usi_client import EngineError, EngineSpec, UsiClient

with needs_extra("tools"):
    from rich.progress import track


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    default = Sampling()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument(
        "--engine", type=command_words, required=True, metavar="CMD",
        help="proposes the moves and judges the result",
    )  # fmt: skip
    parser.add_argument(
        "--option", type=name_and_value, action="append", default=[], metavar="NAME=VALUE", help="USI option"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--count", type=int, default=400, help="openings (default 400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plies", type=int, nargs=2, default=(default.min_plies, default.max_plies))
    parser.add_argument(
        "--balance", type=int, default=default.balance_cp, help="kept if |cp| is less (default 150)"
    )
    parser.add_argument("--judge-nodes", type=int, default=default.judge_nodes, metavar="N")
    parser.add_argument("--variations", type=int, default=8, metavar="N", help="moves proposed at each step")
    args = parser.parse_args(arguments)
    interrupt_on_sigterm()
    try:
        check(args)
        args.out.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        print(f"openings: {error}", file=sys.stderr)
        return 2
    options = (*args.option, ("MultiPV", str(args.variations)))
    client = UsiClient(EngineSpec(args.engine, options, TimeControl(nodes=args.judge_nodes)))
    sampling = Sampling(args.plies[0], args.plies[1], judge_nodes=args.judge_nodes, balance_cp=args.balance)
    try:
        client.start()
        openings = islice(sample_openings(client, sampling, Random(args.seed)), args.count)
        found = list(track(openings, "openings", total=args.count))
    except EngineError as error:
        print(f"openings: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("openings: interrupted; nothing was written", file=sys.stderr)
        return 130
    finally:
        client.quit()
    lines = [
        f"# {args.count} distinct openings of {args.plies[0]} to {args.plies[1]} plies, each with its score:",
        f"# centipawns for the side to move by {client.name} at {args.judge_nodes} nodes,",
        f"# absolute value below {args.balance}.",
        f"# python tools/openings.py {shlex.join(arguments)}",
        *(f"{line.opening}  # {line.cp:+}" for line in found),
    ]
    args.out.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


def check(args: argparse.Namespace) -> None:
    """Raises ValueError for arguments with which no opening can be made or written."""
    least, most = args.plies
    if not 0 <= least <= most:
        raise ValueError(f"--plies {least} {most}: expected 0 <= MIN <= MAX")
    for name in ("count", "balance", "judge_nodes", "variations"):
        if (number := getattr(args, name)) < 1:
            raise ValueError(f"--{name.replace('_', '-')} {number}: expected at least 1")
    if args.out.is_dir():
        raise ValueError(f"--out {args.out}: expected a file")


if __name__ == "__main__":
    raise SystemExit(main())
