r"""Makes training games with a USI engine as the teacher, and looks after files of them.

    python tools/teach.py play /usr/games/fairy-stockfish --option UCI_Variant=shogi --option Threads=1 \
        --nodes 5000 --seed 1 --out fsf.games
    python tools/teach.py play /usr/games/gpsusi --option LimitDepth=4 --option BookDepth=0 \
        --go "btime 0 wtime 0 byoyomi 1000" --random-plies 2 8 --seed 2 --out gps.games
    python tools/teach.py fit fsf.games gps.games     # the scale to give to tools/train.py
    python tools/teach.py show fsf.games
    python tools/teach.py convert fsf.games fsf.hcpe  # for cshogi, rsshogi, dlshogi; and back

`play` may be killed at any time: the same command goes on where it stopped, and neither loses nor repeats a
game. `fit` and `convert` need cshogi (extra [train]).
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from common import command_words, interrupt_on_sigterm, name_and_value, needs_extra
from goryu.learning.records.game_records import GAMES_SUFFIX, GameRecord, pack_games, read_games, write_games
from goryu.learning.records.hcpe import results, write_hcpe
from goryu.learning.records.summary import GameTally
from goryu.learning.teacher import workers
from goryu.learning.teacher.game import TeacherSettings
from goryu.match.openings import Opening, read_openings
from goryu.match.usi_client import EngineSpec, Timeouts

with needs_extra("tools"):
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

POSITIVE = (
    "nodes", "depth", "movetime", "games", "processes", "resign", "max_plies", "multipv_temperature",
    "move_timeout", "start_timeout",
)  # fmt: skip
"""Numbers without which there are no games, or none that teach: a score of 0 would decide a game."""

LINES_EVERY_S = 60.0
"""How often to print a line where there is no terminal to draw a bar on."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    args = make_parser().parse_args(arguments)
    verbs = {"play": play, "fit": fit, "show": show, "pack": pack, "convert": convert}
    interrupt_on_sigterm()
    try:
        return verbs[args.verb](args)
    except (OSError, ValueError, workers.TeacherError) as error:
        print(f"teach: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("teach: interrupted; `play` goes on with the same command", file=sys.stderr)
        return 130


def make_parser() -> argparse.ArgumentParser:
    default = TeacherSettings()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    verbs = parser.add_subparsers(dest="verb", required=True)

    play = verbs.add_parser("play", help="make games", allow_abbrev=False)
    play.add_argument("engine", type=command_words, metavar="CMD", help="program and its arguments")
    play.add_argument(
        "--option", type=name_and_value, action="append", default=[], metavar="NAME=VALUE", help="USI option"
    )
    play.add_argument("--out", type=Path, required=True, metavar="FILE.games")
    limit = play.add_mutually_exclusive_group()
    limit.add_argument("--nodes", type=int, metavar="N", help="a move (default 5000)")
    limit.add_argument("--depth", type=int, metavar="N")
    limit.add_argument("--movetime", type=int, metavar="MS")
    limit.add_argument("--go", metavar="TEXT", help="what follows `go`, for engines limited by options")
    play.add_argument("--games", type=int, metavar="N", help="play the games 0 to N - 1 (default: no end)")
    play.add_argument("--processes", type=int, default=1, metavar="N", help="engines at once")
    play.add_argument("--seed", type=int, default=0, help="of the openings; another one for every run")
    play.add_argument("--openings", type=Path, metavar="FILE", help="start from these, one a line")
    play.add_argument(
        "--random-plies", type=int, nargs=2, default=default.random_plies, metavar=("MIN", "MAX"),
        help="random moves at the start, or after the opening (default 2 10)",
    )  # fmt: skip
    play.add_argument("--balance", type=int, default=default.balance_cp, metavar="CP", help="of an opening")
    play.add_argument("--decided", type=int, default=default.decided_cp, metavar="CP")
    play.add_argument(
        "--max-decided", type=int, default=default.max_decided, metavar="N",
        help="record so many positions of a game beyond --decided",
    )  # fmt: skip
    play.add_argument("--resign", type=int, default=default.resign_cp, metavar="CP", help="ends a game")
    play.add_argument("--max-plies", type=int, default=default.max_plies, metavar="N", help="then a draw")
    play.add_argument(
        "--multipv", type=int, default=0, metavar="N", help="make soft targets from searches of N moves, too"
    )
    play.add_argument(
        "--multipv-share", type=float, default=default.variation_share, metavar="SHARE", help="of positions"
    )
    play.add_argument(
        "--multipv-temperature", type=float, default=default.variation_cp, metavar="CP", help="of the softmax"
    )
    play.add_argument("--move-timeout", type=float, default=60, metavar="S", help="hung after this")
    play.add_argument("--start-timeout", type=float, default=300, metavar="S", help="for usiok and readyok")

    fit = verbs.add_parser("fit", help="fit the scale of the scores")
    show = verbs.add_parser("show", help="say what files hold")
    pack = verbs.add_parser("pack", help="write files of games anew in large blocks, which take less space")
    for verb in (fit, show, pack):
        verb.add_argument("files", type=Path, nargs="+", metavar="FILE")
    convert = verbs.add_parser("convert", help="games to HCPE or HCPE to games, as the endings say")
    convert.add_argument("source", type=Path)
    convert.add_argument("target", type=Path)
    convert.add_argument("--teacher", default="", help="who played; HCPE does not say")
    return parser


def play(args: argparse.Namespace) -> int:
    """Plays games until there are enough or somebody interrupts."""
    if args.out.suffix != GAMES_SUFFIX:
        raise ValueError(f"--out {args.out}: expected a name that ends in {GAMES_SUFFIX}")
    spec = EngineSpec(args.engine, tuple(args.option))
    settings = make_settings(args)
    console = Console(highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("starting", total=args.games)
        start = last_line = time.monotonic()
        told = 0

        def report(progress: workers.Progress) -> None:
            nonlocal last_line, told
            now = time.monotonic()
            rate = progress.new_positions / max(now - start, 1e-9)
            text = f"{progress.positions} positions, {rate:.1f}/s, draws/black/white {progress.results}"
            bar.update(task, description=text, completed=progress.games)
            messages = progress.failures
            for message in messages[told:]:
                console.print(f"teach: {escape(message)}")
            told = len(messages)
            if not console.is_terminal and now > last_line + LINES_EVERY_S:
                last_line = now
                console.print(f"{now - start:.0f} s: {progress.games} games, {text}")

        timeouts = Timeouts(move_s=args.move_timeout, handshake_s=args.start_timeout)
        progress = workers.run(
            spec, settings, args.out, games=args.games, processes=args.processes, timeouts=timeouts,
            report=report,
        )  # fmt: skip
    pack_games(args.out)
    failed = len(progress.failures)
    print(f"{args.out}: {progress.games} games, {progress.positions} positions, {failed} failures")
    return 0


def make_settings(args: argparse.Namespace) -> TeacherSettings:
    """Turns the arguments into settings; raises the errors of what they name."""
    limits = [
        f"{n} {getattr(args, n)}" for n in ("nodes", "depth", "movetime") if getattr(args, n) is not None
    ]
    least, most = args.random_plies
    if not 0 <= least <= most:
        raise ValueError(f"--random-plies {least} {most}: expected 0 <= MIN <= MAX")
    for name in POSITIVE:
        if (value := getattr(args, name)) is not None and not value > 0:
            raise ValueError(f"--{name.replace('_', '-')} {value:g}: expected more than 0")
    if not 0 <= args.multipv_share <= 1:
        raise ValueError(f"--multipv-share {args.multipv_share:g}: expected a share of 0 to 1")
    return TeacherSettings(
        go=args.go or " ".join(limits) or TeacherSettings().go,
        seed=args.seed,
        random_plies=(least, most),
        openings=tuple(read_openings(args.openings)) if args.openings else (Opening(),),
        balance_cp=args.balance,
        decided_cp=args.decided,
        max_decided=args.max_decided,
        resign_cp=args.resign,
        max_plies=args.max_plies,
        variations=args.multipv,
        variation_share=args.multipv_share,
        variation_cp=args.multipv_temperature,
    )


def fit(args: argparse.Namespace) -> int:
    """Prints the best scale of each file."""
    from goryu.learning.records.conversion import read_records
    from goryu.learning.training.score_scale import fit_scale

    for path in args.files:
        records = read_records(path)
        if not len(records):
            raise ValueError(f"{path}: expected at least one position with a score")
        found = fit_scale(records["eval"].astype(float), results(records))
        print(
            f"{path}: {found.positions} positions, scale {found.scale:.0f} cp, cross-entropy "
            f"{found.cross_entropy:.3f}, sign agrees with the result in {100 * found.sign_agreement:.1f} %"
        )
    return 0


def show(args: argparse.Namespace) -> int:
    """Prints what each teacher left in each file, and how its games ended."""
    for path in args.files:
        holdings: defaultdict[str, Holding] = defaultdict(Holding)
        for game in read_games(path):
            holdings[game.teacher].add(game)
        print(f"{path}: {path.stat().st_size} bytes")
        for teacher, holding in holdings.items():
            print(f"  {teacher or 'unknown teacher'}: {holding}")
    return 0


@dataclass
class Holding:
    """What a file holds of one teacher; soft: positions with a policy."""

    tally: GameTally = field(default_factory=GameTally)
    soft: int = 0

    def add(self, game: GameRecord) -> None:
        self.tally.add(game, is_new=False)
        self.soft += sum(policy is not None for policy in game.policies or ())

    def __str__(self) -> str:
        tally = self.tally
        drawn, black, white = tally.results
        endings = ", ".join(
            f"{count} {ending or 'unknown ending'}" for ending, count in tally.endings.most_common()
        )
        return (
            f"{tally.games} games, {tally.positions} positions, {self.soft} with soft targets; "
            f"{drawn} drawn, black won {black}, white {white}; {endings}"
        )


def pack(args: argparse.Namespace) -> int:
    """Makes files of games smaller."""
    for path in args.files:
        before = path.stat().st_size
        pack_games(path)
        print(f"{path}: {before} -> {path.stat().st_size} bytes")
    return 0


def convert(args: argparse.Namespace) -> int:
    """Converts a file; the target must not be there yet."""
    from goryu.learning.records.conversion import games_from_hcpe, read_records

    if args.target.exists():
        raise ValueError(f"{args.target}: expected a name that is not in use")
    if (args.source.suffix == GAMES_SUFFIX) == (args.target.suffix == GAMES_SUFFIX):
        raise ValueError(f"{args.source} to {args.target}: expected one of the two to end in {GAMES_SUFFIX}")
    records = read_records(args.source)
    unfinished = args.target.with_name(f"unfinished-{args.target.name}")
    unfinished.unlink(missing_ok=True)
    if args.target.suffix == GAMES_SUFFIX:
        write_games(unfinished, games_from_hcpe(records, args.teacher))
    else:
        write_hcpe(unfinished, records)
    unfinished.replace(args.target)
    print(f"{args.target}: {len(records)} positions, {args.target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    with needs_extra("train"):
        raise SystemExit(main())
