r"""Makes training games with a USI engine as the teacher, and shows files of games.

    goryu teach play /usr/games/fairy-stockfish --option UCI_Variant=shogi --option Threads=1 \
        --go "nodes 5000" --seed 1 --out fsf.games
    goryu teach play /usr/games/gpsusi --option LimitDepth=4 --option BookDepth=0 \
        --go "btime 0 wtime 0 byoyomi 1000" --random-plies 2 8 --seed 2 --out gps.games
    goryu teach fit fsf.games gps.games     # the scale for goryu train --source
    goryu teach show fsf.games

A killed `play` resumes when the same command is given again; it neither loses nor repeats a game.
`goryu records convert` converts the files.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from goryu.commands.common import (
    UsageError,
    add_verb,
    command_words,
    name_and_value,
    new_parser,
    program,
    run_verb,
)
from goryu.commands.config_options import add_fields, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu.engines.usi_client import EngineSpec, Timeouts
from goryu_lab.commands.cluster_options import add_worker_options, cluster_config, watcher
from goryu_lab.commands.training.selfplay_options import add_games, add_out
from goryu_lab.match.openings import Opening, read_openings
from goryu_lab.records.game_records import GAMES_SUFFIX, read_games
from goryu_lab.records.hcpe import results
from goryu_lab.records.summary import GameSummary
from goryu_lab.self_play.teacher.game import TeacherConfig


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    again = "`play` resumes with the same command"
    return program("goryu teach", make_parser(), run_verb, arguments, extra="train", interrupted=again)


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    verbs = parser.add_subparsers(prog="goryu teach", required=True, metavar="VERB")
    play = add_verb(verbs, "play", _play, "make games")
    _add_engine_options(play)
    _add_game_options(play)
    for verb, run, text, kinds in (
        ("fit", _fit, "fit the scale of the teacher's scores to the results", "files of games or HCPE"),
        ("show", _show, "show what files hold", "files of games (*.games)"),
    ):
        files = add_verb(verbs, verb, run, text)
        files.add_argument("files", type=Path, nargs="+", metavar="FILE", help=kinds)
    return parser


def _add_engine_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("engine", type=command_words, metavar="CMD", help="program and its arguments")
    parser.add_argument(
        "--option", type=name_and_value, action="append", default=[], metavar="NAME=VALUE", help="USI option"
    )
    add_out(parser)
    add_worker_options(parser, "engines at a time")
    add_fields(parser, Timeouts(start_timeout_s=300.0, move_timeout_s=60.0))


def _add_game_options(parser: argparse.ArgumentParser) -> None:
    add_games(parser)
    parser.add_argument("--openings", type=Path, metavar="FILE", help="start from these openings, one a line")
    add_fields(parser, TeacherConfig)


def _play(args: argparse.Namespace) -> None:
    """Plays games until there are enough or the user interrupts."""
    from goryu_lab.self_play.teacher import workers

    if args.out.suffix != GAMES_SUFFIX:
        raise UsageError(f"--out {args.out}: expected a name that ends in {GAMES_SUFFIX}")
    with ProgressDisplay() as display:
        progress = workers.run(
            EngineSpec(args.engine, tuple(args.option)),
            make_config(args),
            args.out,
            games=args.games,
            processes=args.processes or 1,
            cluster=cluster_config(args, args.processes),
            timeouts=from_arguments(Timeouts, args),
            report=reporter(display, args.games),
            watch=watcher(display.print, display.below),
        )
    failed = len(progress.failures)
    print(f"{args.out}: {progress.games} games, {progress.positions} positions, {failed} failures")


def make_config(args: argparse.Namespace) -> TeacherConfig:
    """Returns the config that the arguments describe; raises OSError or OpeningError for the openings."""
    openings = tuple(read_openings(args.openings)) if args.openings else (Opening(),)
    return from_arguments(TeacherConfig, args, openings=openings)


def reporter(display: ProgressDisplay, games: int | None) -> Callable[[GameSummary], None]:
    """Returns a function that shows the progress, and each failure once."""
    printed = 0

    def report(progress: GameSummary) -> None:
        nonlocal printed
        text = f"{progress.positions} positions, draws/Black/White {progress.results}"
        display.update("games", progress.games, games, text)
        for failure in progress.failures[printed:]:
            display.print(f"goryu teach: {failure}")
        printed = len(progress.failures)

    return report


def _fit(args: argparse.Namespace) -> None:
    """Prints the best scale of each file."""
    from goryu_lab.records.conversion import read_records
    from goryu_lab.training.score_scale import SCALES, fit_scale

    for path in args.files:
        records = read_records(path)
        if not records["eval"].any():
            raise UsageError(f"{path}: expected at least one position with a score")
        found = fit_scale(records["eval"].astype(float), results(records))
        if not 1.01 * SCALES[0] < found.scale < SCALES[1] / 1.01:
            raise UsageError(f"{path}: no scale fits: the scores do not predict the results, or exactly")
        print(
            f"{path}: {found.positions} positions, scale {found.scale:.0f} cp, cross-entropy "
            f"{found.cross_entropy:.3f}, sign agrees with the result in {100 * found.sign_agreement:.1f} %"
        )


def _show(args: argparse.Namespace) -> None:
    """Prints for each file how many games each teacher played and how they ended."""
    for path in args.files:
        teachers: defaultdict[str, GameSummary] = defaultdict(GameSummary)
        for game in read_games(path):
            teachers[game.teacher].add(game, is_new=False)
        print(f"{path}: {path.stat().st_size} bytes")
        for teacher, summary in teachers.items():
            print(f"  {teacher or 'unknown teacher'}: {summary}")
