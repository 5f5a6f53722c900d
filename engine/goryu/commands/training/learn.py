"""Trains networks from nothing, as in the AlphaZero tutorials, and measures every algorithm on their games.

    goryu learn tictactoe
    goryu learn reversi --json reversi.json --plot reversi.png
    goryu learn exercises
    goryu learn shogi

Prints our numbers next to those of the tutorials and writes the networks to a folder. You can interrupt it at
any time; run the same command again to resume. `exercises` are those of the reversi tutorial: a mixture of
opponents, and corners. `shogi` is only a demonstration of the loop.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from goryu.base.files import atomic_write, held_folder
from goryu.commands.common import UsageError, new_parser, output_file, positive, program
from goryu.commands.progress_display import ProgressDisplay
from goryu.learning.tutorials.report import ReportError, TutorialReport

GAMES = {
    "tictactoe": {"cycles"},
    "reversi": {"cycles", "value_games", "value_only"},
    "exercises": {"value_games"},
    "shogi": {"cycles"},
}
"""The options that change the training, for each game."""

RESUME = (
    "the same command resumes from its folder; an unfinished measurement or the last half minute of a "
    "training is repeated"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu learn", make_parser(), run, arguments, extra="train", interrupted=RESUME)


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    parser.add_argument("game", choices=GAMES)
    parser.add_argument(
        "--folder", type=Path, help="folder of the networks and the state (default runs/learn/GAME)"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="forget the run in the folder and start from nothing"
    )
    parser.add_argument(
        "--games", type=positive, default=100, metavar="N", help="games of each match (default 100)"
    )
    parser.add_argument(
        "--cycles", type=positive, metavar="N", help="cycles of AlphaZero's loop (not for exercises)"
    )
    parser.add_argument(
        "--value-games",
        type=positive,
        metavar="N",
        help="games that train a value network (for reversi and exercises)",
    )
    parser.add_argument("--value-only", action="store_true", help="reversi: skip AlphaZero's loop")
    parser.add_argument(
        "--threads", type=positive, default=2, metavar="N", help="threads of PyTorch (default 2)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers (default 1)")
    parser.add_argument("--json", type=output_file, metavar="FILE", help="write all numbers")
    parser.add_argument("--plot", type=picture, metavar="FILE", help="draw strength against training")
    return parser


def picture(text: str) -> Path:
    """Returns the path of a picture that matplotlib can write."""
    from matplotlib.backend_bases import FigureCanvasBase

    path = output_file(text)
    suffixes = FigureCanvasBase.get_supported_filetypes()
    if path.suffix and path.suffix[1:].lower() not in suffixes:
        raise argparse.ArgumentTypeError(f"{text}: expected one of the endings {', '.join(sorted(suffixes))}")
    return path


def run(args: argparse.Namespace) -> None:
    """Does the remaining stages of a run, then prints and writes the results."""
    check(args)
    folder: Path = args.folder or Path("runs/learn") / args.game
    with held_folder(folder):
        try:
            report = train(args, folder)
        except ReportError as error:
            raise UsageError(f"{error}; give the same options, another --folder, or --fresh") from error
    print_table(report)
    if args.json:
        atomic_write(args.json, report.as_json())
    if args.plot:
        report.plot(args.plot)


def check(args: argparse.Namespace) -> None:
    """Raises UsageError for options that do not go together."""
    if args.games < 2:
        raise UsageError(f"--games {args.games}: expected at least 2, one from each side")
    for name in ("cycles", "value_games", "value_only"):
        if getattr(args, name) and name not in GAMES[args.game]:
            raise UsageError(f"--{name.replace('_', '-')}: {args.game} has no such training")
    if args.value_only and args.cycles is not None:
        raise UsageError("--cycles: --value-only trains no network in cycles")
    if not -(1 << 63) <= args.seed < 1 << 63:
        raise UsageError(f"--seed {args.seed}: expected a number of 64 bits")


def train(args: argparse.Namespace, folder: Path) -> TutorialReport:
    """Runs the remaining stages and returns the report."""
    import torch  # Takes seconds.

    from goryu.learning.tutorials.run import ResumableRun
    from goryu.learning.tutorials.tutorials import STAGES, TUTORIALS, TutorialOptions

    torch.set_num_threads(args.threads)
    options = {
        name: getattr(args, name) for name in ("game", "seed", "games", "cycles", "value_games", "value_only")
    }
    path = folder / "report.json"
    report = TutorialReport(options) if args.fresh else TutorialReport.read(path, options)
    with ProgressDisplay() as display:
        run = ResumableRun(folder, report, args.seed, display.print, display.update)
        if args.fresh:
            run.forget(STAGES[args.game])
        run.save_report()  # From now on the folder belongs to a run with these options.
        TUTORIALS[args.game](run, TutorialOptions(args.games, args.cycles, args.value_games, args.value_only))
    return run.report


def print_table(report: TutorialReport) -> None:
    """Prints the measurements and the numbers of the tutorials."""
    from rich.console import Console
    from rich.table import Table

    console = Console(emoji=False)  # Or ":100" becomes a picture.
    table = Table(title=f"{report.options['game']}, seed {report.options['seed']}")
    for heading in ("", "tutorial", "ours", "±", ""):
        table.add_column(heading)
    for m in report.measurements:
        theirs = "" if m.theirs is None else f"{m.theirs:g}"
        table.add_row(m.name, theirs, f"{m.value:.3f}", f"{m.error:.3f}", m.detail)
    console.print(table)
    for stage, seconds in report.training.items():
        console.print(f"{stage}: {seconds['seconds']} s, {seconds['cpu_seconds']} s of processor time")


if __name__ == "__main__":
    raise SystemExit(main())
