"""Teaches networks by the tutorials' loops and measures every algorithm on their games.

    python tools/learn.py tictactoe
    python tools/learn.py reversi --json reversi.json --plot reversi.png
    python tools/learn.py exercises
    python tools/learn.py shogi

Trains from nothing, prints the tutorials' tables with our numbers beside theirs, and writes the networks to a
folder. Interrupt it when you like: the same command goes on from there. `exercises` are those of the
reversi tutorial, a mixture of opponents and corners; `shogi` only shows the loop turning.

Needs the extra [train].
"""

import argparse
import sys
from pathlib import Path

from common import interrupt_on_sigterm, needs_extra
from goryu.files import held_folder
from goryu.learning.tutorials.report import ReportError, TutorialReport

with needs_extra("train"):
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
    from rich.table import Table

GAMES = {
    "tictactoe": {"cycles"},
    "reversi": {"cycles", "value_games", "value_only"},
    "exercises": {"value_games"},
    "shogi": {"cycles"},
}
"""What may be taught, and what of its training may be changed."""


def main() -> int:
    options = parse_arguments()
    interrupt_on_sigterm()
    folder: Path = options.folder or Path("runs/learn") / options.game
    try:
        with held_folder(folder):
            return run(options, folder)
    except OSError as error:
        print(f"learn: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"learn: interrupted; the same command goes on from what is in {folder}", file=sys.stderr)
        return 130


def run(options: argparse.Namespace, folder: Path) -> int:
    """Does what is left of a run; returns the exit status."""
    if options.fresh:
        for left_over in (folder / "report.json", *folder.glob("*.pt")):
            left_over.unlink(missing_ok=True)
    asked = ("game", "seed", "games", "cycles", "value_games", "value_only")
    console = Console(emoji=False)  # Or ":100" becomes a picture.
    try:
        report = TutorialReport.read(folder / "report.json", {key: getattr(options, key) for key in asked})
        report.write(folder / "report.json")  # From now on the folder belongs to a run with these settings.
        learn(options, folder, report, console)
    except ReportError as error:
        print(f"learn: {error}\nGive the same options, another --folder, or --fresh.", file=sys.stderr)
        return 2
    print_table(console, report)
    if options.json:
        options.json.write_text(report.as_json(), encoding="utf-8")
    if options.plot:
        report.plot(options.plot)
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game", choices=GAMES)
    parser.add_argument(
        "--folder", type=Path, help="where the networks and the state go (default: runs/learn/GAME)"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="forget the run in the folder and start from nothing"
    )
    parser.add_argument("--games", type=int, default=100, help="games of a match (default: 100)")
    parser.add_argument("--cycles", type=int, help="cycles of AlphaZero's loop (not for exercises)")
    parser.add_argument(
        "--value-games", type=int, help="games of a value learner (for reversi and exercises)"
    )
    parser.add_argument("--value-only", action="store_true", help="reversi: leave AlphaZero's loop out")
    parser.add_argument("--threads", type=int, default=2, help="threads of PyTorch (default: 2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw strength against training")
    options = parser.parse_args()
    if options.games < 2:
        parser.error(f"--games {options.games}: expected at least 2, one from each side")
    for name in ("cycles", "value_games", "threads"):
        if (number := getattr(options, name)) is not None and number < 1:
            parser.error(f"--{name.replace('_', '-')} {number}: expected at least 1")
    for name in ("cycles", "value_games", "value_only"):
        if getattr(options, name) and name not in GAMES[options.game]:
            parser.error(f"--{name.replace('_', '-')}: {options.game} has no such training")
    if not -(1 << 63) <= options.seed < 1 << 63:
        parser.error(f"--seed {options.seed}: expected a number of 64 bits")
    if problem := problem_with_files(options):
        parser.error(problem)
    return options


def problem_with_files(options: argparse.Namespace) -> str:
    """Returns why what is asked for could not be written after hours of training, or ""."""
    for name in ("json", "plot"):
        path: Path | None = getattr(options, name)
        if path and not path.absolute().parent.is_dir():
            return f"--{name} {path}: no such folder"
        if path and path.is_dir():
            return f"--{name} {path}: a folder, expected a file"
    if options.plot and options.plot.suffix:
        from matplotlib.backend_bases import FigureCanvasBase

        endings = FigureCanvasBase.get_supported_filetypes()
        if options.plot.suffix[1:].lower() not in endings:
            return f"--plot {options.plot}: expected one of the endings {', '.join(sorted(endings))}"
    return ""


def learn(options: argparse.Namespace, folder: Path, report: TutorialReport, console: Console) -> None:
    """Runs the stages that are left, with a progress bar for each training."""
    import torch  # Takes seconds to import: --help should not wait for it.

    from goryu.learning.tutorials.run import ResumableRun
    from goryu.learning.tutorials.tutorials import TUTORIALS, TutorialOptions

    torch.set_num_threads(options.threads)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        tasks: dict[str, TaskID] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what)
            bar.update(tasks[what], completed=done, total=total)

        def say(line: str) -> None:
            bar.console.print(line, soft_wrap=True, markup=False)

        run = ResumableRun(folder, report, options.seed, say, progress)
        lesson = TutorialOptions(options.games, options.cycles, options.value_games, options.value_only)
        TUTORIALS[options.game](run, lesson)


def print_table(console: Console, report: TutorialReport) -> None:
    """Prints the measurements beside the tutorials' numbers."""
    table = Table(title=f"{report.settings['game']}, seed {report.settings['seed']}")
    for heading in ("", "theirs", "ours", "±", ""):
        table.add_column(heading)
    for m in report.measurements:
        theirs = "" if m.theirs is None else f"{m.theirs:g}"
        table.add_row(m.name, theirs, f"{m.value:.3f}", f"{m.error:.3f}", m.detail)
    console.print(table)
    for what, seconds in report.training.items():
        console.print(f"{what}: {seconds['seconds']} s, {seconds['cpu_seconds']} s of processor time")


if __name__ == "__main__":
    sys.exit(main())
