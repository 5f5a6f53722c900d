"""The lesson of the reversi tutorial, with every number of it on the command line.

    goryu lesson train --size 6 --games 300 --opponents greedy random
    goryu lesson strip --plot rate.png
    goryu lesson replay 57 --step

`train` plays the games, prints + for each that the learner won, - for each it lost and = for a draw, and
writes a checkpoint every 30 games: the network as network-NNNNN.onnx. You can interrupt it; the same command
resumes.
`strip` prints the results again, `replay` shows a game board by board.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from goryu.base.files import held_folder
from goryu.commands.common import UsageError, new_parser, output_file, positive, program
from goryu.commands.config_options import add_fields, from_arguments
from goryu.learning.tutorials import lesson_games
from goryu.learning.tutorials.lesson_config import LessonConfig

OPPONENTS = "greedy (most discs after two plies), varied, corners, random, or an algorithm such as uct:50"
RESUME = "the same command resumes from its last checkpoint"
WIDTH = 60
"""Results on a line of a strip."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu lesson", make_parser(), run, arguments, extra="train", interrupted=RESUME)


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    commands = parser.add_subparsers(
        prog="goryu lesson", dest="command", required=True, metavar="{train,strip,replay}"
    )
    train = commands.add_parser("train", help="play, learn and write checkpoints")
    _add_folder(train)
    train.add_argument("--fresh", action="store_true", help="forget the lesson in the folder")
    train.add_argument("--opponents", nargs="+", default=["greedy"], metavar="NAME",
                       help=f"one for each game, in turn: {OPPONENTS} (default greedy)")  # fmt: skip
    train.add_argument("--match-games", type=positive, default=100, metavar="N",
                       help="games of each match after the training (default 100)")  # fmt: skip
    train.add_argument("--threads", type=positive, default=2, metavar="N",
                       help="threads of PyTorch (default 2)")  # fmt: skip
    add_fields(train, LessonConfig)
    strip = commands.add_parser("strip", help="print the results of all games")
    _add_folder(strip)
    strip.add_argument("--plot", type=output_file, metavar="FILE", help="draw the running win rate")
    replay = commands.add_parser("replay", help="show a game board by board")
    replay.add_argument("game", type=positive, help="its number, from 1")
    _add_folder(replay)
    replay.add_argument("--step", action="store_true", help="wait for Enter after each board")
    return parser


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=Path("runs/lesson"), metavar="FOLDER",
                        help="of the lesson (default runs/lesson)")  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Runs one of the commands."""
    {"train": train, "strip": show_strip, "replay": show_game}[args.command](args)


def train(args: argparse.Namespace) -> None:
    """Plays the lesson, or the rest of it, then measures the learner against its opponents."""
    import torch  # Takes seconds.

    from goryu.commands.progress_display import ProgressDisplay
    from goryu.learning.tutorials import lesson

    torch.set_num_threads(args.threads)
    config = from_arguments(LessonConfig, args)
    config.check()  # Wrong numbers are named before the folder is made.
    with held_folder(args.folder), ProgressDisplay() as display:
        if args.fresh:
            for path in (args.folder / lesson.STATE, args.folder / lesson_games.GAMES):
                path.unlink(missing_ok=True)
        course = lesson.Lesson(args.folder, config, args.opponents)
        if course.games:
            display.print(f"resuming after {len(course.games)} of {config.games} games")

        def checkpoint(games: Sequence[lesson_games.LessonGame], loss: float) -> None:
            rate, running = (
                lesson_games.win_rate(course.games),
                lesson_games.running_win_rates(course.games)[-1],
            )
            numbers = f"{100 * rate:3.0f} % won, {100 * running:3.0f} % of the last {lesson_games.RUNNING}"
            more = f"epsilon {games[-1].epsilon:.2f}, loss {loss:.4f}"
            display.print(f"{games[-1].number:5}  {lesson_games.strip(games)}  {numbers}, {more}")
            display.update("games", len(course.games), config.games)

        course.run(checkpoint)
        for name in dict.fromkeys(args.opponents):
            for side, place in enumerate(("first", "second")):
                score = course.match(name, args.match_games, side)
                display.print(f"without random moves, moving {place}, against {name}: {score}")


def show_strip(args: argparse.Namespace) -> None:
    """Prints the results of all games, and draws the running win rate."""
    games = lesson_games.read_games(args.folder / lesson_games.GAMES)
    rates = lesson_games.running_win_rates(games)
    for first in range(0, len(games), WIDTH):
        part = games[first : first + WIDTH]
        rate = rates[first + len(part) - 1]
        print(
            f"{part[0].number:5}  {lesson_games.strip(part):{WIDTH}}  "
            f"{100 * rate:3.0f} % of the last {lesson_games.RUNNING}"
        )
    print(f"{len(games)} games, {100 * lesson_games.win_rate(games):.0f} % won")
    if args.plot:
        _plot(rates, args.plot)


def _plot(rates: Sequence[float], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(range(1, len(rates) + 1), rates)
    axes.set(xlabel="games", ylabel="points a game, running mean", ylim=(0, 1.02))
    figure.savefig(path)


def show_game(args: argparse.Namespace) -> None:
    """Shows a game board by board."""
    games = lesson_games.read_games(args.folder / lesson_games.GAMES)
    if args.game > len(games):
        raise UsageError(f"game {args.game}: expected 1 to {len(games)}")
    for text in lesson_games.replay(games[args.game - 1]):
        print(text + "\n")
        if args.step and sys.stdin.isatty():
            input()


if __name__ == "__main__":
    raise SystemExit(main())
