"""Measures reviews: how fast they are, and whether a longer search agrees with them.

    python tools/experiments/review_quality.py GAME...            both
    python tools/experiments/review_quality.py --speed GAME...    only the speed; needs a minute
    python tools/experiments/review_quality.py --agreement --limit 8 --out runs/quality GAME...

Speed: 150 moves of the games are reviewed at 200 playouts, without the database. Agreement: the games are
reviewed at 400 playouts, and all their moves then judged at 10,000; with `--limit` only so many of those
called mistakes (疑問手, 悪手, 大悪手) and as many of the others, chosen at random. The mistakes show how many
the long search confirms, the others how many the short search misses. The folder `--out` keeps the analyses,
so an interrupted run goes on.
"""

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from goryu.analysis.judgement import LEAST_LOSS, MISTAKES, MoveClass
from goryu.analysis.review import GameReview, PlyReview
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.store import AnalysisStore
from goryu.commands.common import new_parser, positive, program
from goryu.kifu.reading import read_record
from goryu.players.set_up.loading import load_evaluator
from goryu.usi.start_config import start_config

SPEED_MOVES, SPEED_PLAYOUTS = 150, 200


@dataclass
class Counts:
    """What became of the judgements.

    called: mistakes of the short search; confirmed: those that are mistakes of the long one, too.
    checked, missed: other moves that the long search judged, and those that it calls mistakes.
    others: all other moves of the games. severe, severe_confirmed: 悪手 and 大悪手, and those still mistakes.
    """

    called: int = 0
    confirmed: int = 0
    severe: int = 0
    severe_confirmed: int = 0
    checked: int = 0
    missed: int = 0
    others: int = 0
    changes: list[float] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("review_quality.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("games", nargs="+", type=Path, metavar="GAME", help="a game record")
    parser.add_argument("--speed", action="store_true", help="only the speed")
    parser.add_argument("--agreement", action="store_true", help="only the agreement")
    parser.add_argument("--playouts", type=positive, default=400, metavar="N", help="short (default 400)")
    parser.add_argument(
        "--reference", type=positive, default=10_000, metavar="N", help="long (default 10000)"
    )
    parser.add_argument(
        "--limit",
        type=positive,
        metavar="N",
        help="mistakes of each game, and as many other moves, that are judged at length (default all moves)",
    )
    parser.add_argument(
        "--threads", type=positive, default=2, metavar="N", help="positions at once (default 2)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("runs/review_quality"), help="folder of the analyses"
    )
    return parser


def run(args: argparse.Namespace) -> None:
    """Measures and prints."""
    games = [read_record(path) for path in args.games]
    both = args.speed == args.agreement
    if both or args.speed:
        measure_speed([game.moves for game in games], [game.start for game in games], args.threads)
    if both or args.agreement:
        counts = Counts()
        for path, game in zip(args.games, games, strict=True):
            compare(game.start, game.moves, args, counts)
            print(f"{path.name}: {describe(counts)}", flush=True)


def reviewer(threads: int, store: Path | None) -> Reviewer:
    """Returns a reviewer with the engine's network."""
    config = start_config(None, print)
    config = replace(config, evaluator=replace(config.evaluator, threads=threads))
    return Reviewer(load_evaluator(config.evaluator, print), config, AnalysisStore(store, print))


def measure_speed(games: Sequence[tuple[str, ...]], starts: Sequence[str], threads: int) -> None:
    """Prints how long a review of 150 moves takes."""
    quick = reviewer(threads, None)
    moves = 0
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    for start, line in zip(starts, games, strict=True):
        line = line[: SPEED_MOVES - moves]
        quick.review(GameReview(start, line, SPEED_PLAYOUTS))
        moves += len(line)
        if moves == SPEED_MOVES:
            break
    spent_s, cpu_s = time.monotonic() - began_s, time.process_time() - began_cpu_s
    print(
        f"speed: {moves} moves at {SPEED_PLAYOUTS} playouts, {threads} threads: "
        f"{spent_s:.1f} s, {cpu_s:.1f} s of CPU time"
    )


def compare(start: str, moves: Sequence[str], args: argparse.Namespace, counts: Counts) -> None:
    """Judges one game shortly, and some of its moves at length."""
    args.out.mkdir(parents=True, exist_ok=True)
    short = GameReview(start, moves, args.playouts)
    reviewer(args.threads, args.out / f"{args.playouts}.sqlite3").review(short)
    rng = Random(len(moves))
    plies = {ply.ply - 1: ply for ply in short.plies()}
    called = [index for index, ply in plies.items() if ply.kind in MISTAKES]
    others = [index for index in plies if index not in called]
    counts.others += len(others)
    if args.limit is not None:
        called = sorted(rng.sample(called, min(args.limit, len(called))))
        others = sorted(rng.sample(others, min(len(called), len(others))))
    long = GameReview(start, moves, args.reference)
    reviewer(args.threads, args.out / f"{args.reference}.sqlite3").review(long, moves=[*called, *others])
    for index in called:
        count_called(counts, plies[index], long.ply(index))
    for index in others:
        ply = long.ply(index)
        assert ply is not None
        counts.checked += 1
        counts.missed += ply.kind in MISTAKES
        counts.changes.append(ply.loss - plies[index].loss)


def count_called(counts: Counts, short: PlyReview, long: PlyReview | None) -> None:
    """Counts a move that the short search calls a mistake."""
    assert long is not None
    is_confirmed = long.kind in MISTAKES
    counts.called += 1
    counts.confirmed += is_confirmed
    if short.kind is not MoveClass.DUBIOUS:
        counts.severe += 1
        counts.severe_confirmed += is_confirmed
    counts.changes.append(long.loss - short.loss)
    print(f"  {short.ply:>4} {short.move:<6} {short.loss:.3f} {short.kind:<8} -> {long.loss:.3f} {long.kind}")


def describe(counts: Counts) -> str:
    """Returns the counts so far as text."""
    severe = f"{counts.severe_confirmed} of {counts.severe} from {LEAST_LOSS[MoveClass.MISTAKE]:.0%} on"
    share = interval(counts.confirmed, counts.called)
    text = f"confirmed {counts.confirmed} of {counts.called} ({share}), {severe}"
    if counts.checked == counts.others:
        mistakes = counts.confirmed + counts.missed
        return f"{text}; missed {counts.missed} of {mistakes} ({interval(counts.missed, mistakes)})"
    missed = counts.missed / max(1, counts.checked)
    return (
        f"{text}; of the other moves {counts.missed} of {counts.checked} are mistakes "
        f"({interval(counts.missed, counts.checked)}), about {missed * counts.others:.0f} of {counts.others}"
    )


def interval(hits: int, trials: int) -> str:
    """Returns a share with its 95 % interval (Wilson).

    >>> interval(17, 20)
    '85 %, 64 to 95'
    """
    if not trials:
        return "none"
    share, z = hits / trials, 1.96
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    least, most = ((centre + sign * half) / (1 + z * z / trials) for sign in (-1, 1))
    return f"{100 * share:.0f} %, {100 * least:.0f} to {100 * most:.0f}"


if __name__ == "__main__":
    raise SystemExit(main())
