r"""Makes an opening file for `goryu match`: distinct, balanced, reproducible from the seed.

    python3 tools/dev.py openings --engine /usr/games/fairy-stockfish --option UCI_Variant=shogi \
        --count 400 --seed 1 --out tools/openings/balanced.txt

The engine needs `MultiPV` and `go nodes`.

Every opening is a random walk from the start position or from one of the common openings, which an engine
without an opening book rarely finds. At each step the engine searches, and one of its best moves is drawn by
its score (a softmax over centipawns). Sometimes any legal move is played instead. The walk is kept if a
longer search scores its last position as balanced and no kept opening ends there.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp
from pathlib import Path
from random import Random

from goryu.base.config_fields import option, ranged
from goryu.base.files import atomic_write, check_writable
from goryu.commands.common import command_words, name_and_value, new_parser, positive, program, seed
from goryu.commands.config_options import add_fields, from_arguments
from goryu.engines.time_control import TimeControl
from goryu.engines.usi_client import EngineError, EngineSpec, UsiClient
from goryu.engines.usi_output import variations
from goryu_lab.match.openings import DEFAULT_OPENINGS, Opening
from goryu_lab.match.referee import Referee

VARIATIONS = "8"
"""Moves that the engine proposes at each step."""

MAX_WALKS = 1000
"""How many walks in a row may fail before the sampler gives up."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to walk and which openings to keep.

    walk_nodes, evaluation_nodes: of the search at each step, and of the last position.
    temperature_cp: a move that is this much worse is drawn e times less often.
    any_move: probability that a step plays any legal move instead.
    stem: probability that a walk begins with the first moves of one of `DEFAULT_OPENINGS`.
    balance_cp: of the last position.
    """

    plies: tuple[int, int] = option((4, 12), "length of an opening, drawn uniformly")
    walk_nodes: int = 2000
    evaluation_nodes: int = 50_000
    temperature_cp: float = 60.0
    any_move: float = 0.1
    stem: float = 0.5
    balance_cp: int = ranged(150, "keep openings whose score is below this for either side", least=1)


@dataclass(frozen=True, slots=True)
class BalancedOpening:
    """An opening and its score in centipawns, from the side to move."""

    opening: Opening
    cp: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    words = sys.argv[1:] if arguments is None else arguments

    def run(args: argparse.Namespace) -> None:
        make_openings(args, shlex.join(words))

    return program("make_openings.py", make_parser(), run, arguments, interrupted="nothing was written")


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
        f"# python3 tools/dev.py openings {command_line}",
        *(f"{balanced.opening}  # {balanced.cp:+}" for balanced in openings),
    ]
    return "\n".join(lines) + "\n"


def sample_openings(client: UsiClient, sampling: Sampling, rng: Random) -> Iterator[BalancedOpening]:
    """Yields distinct balanced openings without end.

    client: started, with MultiPV set. With one thread the same seed gives the same openings.
    Raises EngineError if the engine fails, or after `MAX_WALKS` walks in a row without a new opening.
    """
    seen: set[str] = set()
    walks = 0
    while walks < MAX_WALKS:
        walks += 1
        client.new_game()
        referee = Referee()
        if not walk(client, referee, sampling, rng) or referee.key in seen or referee.is_check:
            continue
        client.new_game()
        cp = client.go(referee.position_command, f"go nodes {sampling.evaluation_nodes}", None).info.cp
        if cp is not None and abs(cp) < sampling.balance_cp:
            seen.add(referee.key)
            yield BalancedOpening(Opening(moves=tuple(referee.moves)), cp)
            walks = 0
    raise EngineError("protocol", f"{client.name}: no new balanced opening in {walks} walks")


def walk(client: UsiClient, referee: Referee, sampling: Sampling, rng: Random) -> bool:
    """Plays a random opening; returns False if the game ended or the engine proposed no move."""
    plies = rng.randint(*sampling.plies)
    if rng.random() < sampling.stem:
        for move in rng.choice(DEFAULT_OPENINGS).moves[: min(plies, rng.randint(1, 4))]:
            referee.play(move)
    while len(referee.moves) < plies:
        if rng.random() < sampling.any_move:
            move = rng.choice(sorted(referee.legal_moves()))
        else:
            lines = client.go(referee.position_command, f"go nodes {sampling.walk_nodes}", None).lines
            choices = [(info.pv[0], info.cp) for info in variations(lines) if info.pv and info.cp is not None]
            if not choices:
                return False
            best = max(cp for _, cp in choices)
            weights = [exp((cp - best) / sampling.temperature_cp) for _, cp in choices]
            move = rng.choices([move for move, _ in choices], weights)[0]
        if referee.play(move) is not None:
            return False
    return True


if __name__ == "__main__":
    raise SystemExit(main())
