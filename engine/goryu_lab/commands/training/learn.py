r"""Trains networks of small games from nothing, as in the AlphaZero tutorials, and measures them.

    goryu learn tictactoe
    goryu learn tictactoe --as-published --folder runs/published
    goryu learn reversi --plot reversi.png
    goryu learn lesson --size 6 --games 300 --opponents greedy random
    goryu learn lesson --as-published
    goryu learn strip --plot rate.png
    goryu learn replay 57 --step
    goryu learn replay final
    goryu learn pseudocode tictactoe --actors 2 --playouts 0.1 --untried reduced
    goryu learn pseudocode tictactoe --as-published
    goryu learn pseudocode shogi
    goryu learn pi
    goryu learn bandit
    goryu learn pruning

Prints our numbers next to those of the tutorials and writes the networks to a folder, with all numbers in
report.json. You can interrupt it at any time; run the same command again to resume.

`lesson` is that of the reversi tutorial, with every number of it. It prints + for each game that the learner
won, - for each it lost and = for a draw. Every 30 games it writes a network and plays a game without random
moves; `strip` prints the results again, and `replay` shows a game board by board (with `--folder
runs/learn/tictactoe` one of self-play). With `--as-published` it
does what the tutorial's code does; other options change that, as its exercises propose.

`pseudocode` is AlphaZero's: actors play while a trainer trains. The numbers are the published ones for chess
times a factor each; `--show` prints them and does nothing else. Networks go to networks/STEP.onnx. With
`--as-published` the search is the pseudocode's tree and no position is rotated or reflected.

`pi`, `bandit` and `pruning` train nothing and need no PyTorch: pi by random points, three slot machines on
which you play against UCB1, and what cuts and symmetry save at tic-tac-toe.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from goryu.base.arguments import ArgumentParser
from goryu.base.files import held_folder
from goryu.commands.common import (
    UsageError,
    add_verb,
    new_parser,
    picture_file,
    positive,
    program,
    run_verb,
    seed,
)
from goryu.commands.config_options import add_fields, changed, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu_lab.commands.training import learn_shows as shows
from goryu_lab.lessons.alphazero_config import TICTACTOE, TICTACTOE_PUBLISHED
from goryu_lab.lessons.options import (
    LOOP_OPTIONS,
    PUBLISHED_SIZE,
    LessonOptions,
    NetworkSize,
    PseudocodeOptions,
    TutorialOptions,
)
from goryu_lab.lessons.pseudocode_config import SMALL_GAMES, Factors, scaled
from goryu_lab.lessons.report import ReportError, TutorialReport
from goryu_lab.lessons.value_config import PUBLISHED, TUTORIAL

Stages = Callable[[ModuleType, Any], None]

OPPONENTS = (
    "greedy (most discs after two plies; greedy:0.3: three moves in ten at random), varied, corners, "
    "random, or an algorithm such as uct:50"
)
RESUME = (
    "the same command resumes a training from its folder; an unfinished measurement or what was trained "
    "since the last saved state is repeated"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu learn", make_parser(), run_verb, arguments, extra="train", interrupted=RESUME)


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    verbs = parser.add_subparsers(prog="goryu learn", dest="tutorial", required=True, metavar="WHAT")
    reversi = add_verb(verbs, "reversi", learn_reversi, "a value network, then AlphaZero's loop")
    _add_training(reversi, "reversi", ["cycles", "value_games", "value_only"])
    tictactoe = add_verb(verbs, "tictactoe", learn_tictactoe, "AlphaZero's loop, and all other algorithms")
    _add_training(tictactoe, "tictactoe", ["cycles"])
    tictactoe.add_argument(
        "--as-published", action="store_true",
        help="the tutorial's network, search, losses and numbers; other options change these",
    )  # fmt: skip
    add_fields(tictactoe, NetworkSize, fills=False)
    add_fields(tictactoe, TICTACTOE, LOOP_OPTIONS, fills=False)
    lesson = add_verb(verbs, "lesson", learn_lesson, "the reversi tutorial with its numbers")
    _add_training(lesson, "lesson")
    lesson.add_argument(
        "--opponents", nargs="+", default=LessonOptions().opponents, metavar="NAME",
        help=f"one for each game, in turn: {OPPONENTS} (default greedy)",
    )  # fmt: skip
    add_fields(lesson, LessonOptions)
    add_fields(lesson, TUTORIAL, fills=False)
    strip = add_verb(verbs, "strip", shows.show_strip, "print the results of a lesson's games")
    strip.add_argument("--plot", type=picture_file, metavar="FILE", help="draw the running win rate")
    replay = add_verb(verbs, "replay", shows.show_game, "show a game of a lesson board by board")
    replay.add_argument(
        "game", metavar="GAME", help="its number, from 1, or final: the last --checkpoint game"
    )
    replay.add_argument(
        "--checkpoint", action="store_true", help="the game without random moves after so many games"
    )
    replay.add_argument("--step", action="store_true", help="wait for Enter after each board")
    for verb in (strip, replay):
        verb.add_argument("--folder", type=Path, default=Path("runs/learn/lesson"),
                          help="of the lesson (default runs/learn/lesson)")  # fmt: skip
    pseudocode = add_verb(verbs, "pseudocode", learn_pseudocode, "AlphaZero's pseudocode")
    boards = pseudocode.add_subparsers(dest="board", required=True, metavar="GAME")
    for board, factors in SMALL_GAMES.items():
        verb = add_verb(boards, board, learn_pseudocode, f"on {board}")
        _add_training(verb, f"pseudocode-{board}")
        verb.set_defaults(threads=1)  # The other cores are for the actors.
        verb.add_argument("--show", action="store_true", help="print the numbers of the run, and end")
        add_fields(verb, PseudocodeOptions)
        add_fields(verb.add_argument_group("factors of the published numbers"), factors)
    _add_demonstrations(verbs)
    return parser


def _add_demonstrations(verbs: "argparse._SubParsersAction[ArgumentParser]") -> None:
    pi = add_verb(verbs, "pi", shows.show_pi, "pi by random points")
    pi.add_argument(
        "--points", type=positive, default=1_000_000, metavar="N", help="random points (default 1000000)"
    )
    bandit = add_verb(verbs, "bandit", shows.play_bandit, "three slot machines: you against UCB1")
    bandit.add_argument(
        "--rounds", type=positive, default=30, metavar="N", help="rounds of play (default 30)"
    )
    bandit.add_argument("--watch", action="store_true", help="an A/B test plays instead of you")
    for verb in (pi, bandit):
        verb.add_argument("--seed", type=seed, help="of the random numbers (default: another every time)")
    add_verb(verbs, "pruning", shows.show_pruning, "what cuts and symmetry save")


def _add_training(parser: argparse.ArgumentParser, name: str, options: Sequence[str] = ()) -> None:
    """Adds what all trainings have. options: those of `TutorialOptions` that this one has besides."""
    parser.add_argument(
        "--folder", type=Path, default=Path("runs/learn") / name,
        help="folder of the networks and the state (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--threads", type=positive, default=2, metavar="N", help="threads of PyTorch (default %(default)s)"
    )
    if not name.startswith("pseudocode"):  # Its strength is measured at the end only.
        parser.add_argument(
            "--plot", type=picture_file, metavar="FILE", help="draw strength against training"
        )
    add_fields(parser, TutorialOptions, ["match_games", "seed", *options])


def learn_reversi(args: argparse.Namespace) -> None:
    """Runs the reversi tutorial, or the rest of it."""
    options = from_arguments(TutorialOptions, args)
    if options.value_only and options.cycles is not None:
        raise UsageError("--cycles: --value-only trains no network in cycles")
    learn(args, options, lambda tutorials, run: tutorials.train_reversi(run, options))


def learn_tictactoe(args: argparse.Namespace) -> None:
    """Runs the tutorial for tic-tac-toe with the network and the numbers of the user."""
    options = from_arguments(TutorialOptions, args)
    size = changed(PUBLISHED_SIZE if args.as_published else NetworkSize(), args)
    if args.as_published and args.steps_per_cycle:
        raise UsageError("--steps-per-cycle: --as-published trains 100 epochs")
    start = TICTACTOE_PUBLISHED if args.as_published else TICTACTOE
    config = changed(start, args, cycles=options.cycles or start.cycles)
    numbers = {name: getattr(config, name) for name in LOOP_OPTIONS}
    published = {"as_published": True} if args.as_published else {}
    learn(
        args,
        options,
        lambda tutorials, run: tutorials.train_tictactoe(run, options, config, size),
        {**asdict(size), **numbers, **published},
    )


def learn_lesson(args: argparse.Namespace) -> None:
    """Plays the lesson, or the rest of it."""
    options = from_arguments(TutorialOptions, args)
    config = changed(PUBLISHED if args.as_published else TUTORIAL, args)
    more = from_arguments(LessonOptions, args)
    if more.checkpoint_every % config.games_together:
        multiple = f"expected a multiple of --games-together ({config.games_together})"
        raise UsageError(f"--checkpoint-every {more.checkpoint_every}: {multiple}")
    learn(
        args,
        options,
        lambda tutorials, run: tutorials.train_lesson(run, options, config, more),
        {**asdict(config), "opponents": list(more.opponents)},
    )


def learn_pseudocode(args: argparse.Namespace) -> None:
    """Trains to the end, or from the last checkpoint on, and measures the network."""
    factors, more = from_arguments(Factors, args), from_arguments(PseudocodeOptions, args)
    if args.show:
        shows.show_numbers(scaled(factors, more.untried, as_published=more.as_published, game=more.board))
        return
    options = from_arguments(TutorialOptions, args)
    others = {"factors": asdict(factors), **asdict(more)}
    del others["actors"]
    learn(
        args,
        options,
        lambda tutorials, run: tutorials.train_pseudocode(run, options, factors, more),
        others,
    )


def learn(
    args: argparse.Namespace,
    options: TutorialOptions,
    stages: Stages,
    numbers: dict[str, Any] | None = None,
) -> None:
    """Runs the remaining stages of a run, then prints the results.

    stages: gets the module `tutorials`, which needs PyTorch, and the run.
    numbers: more of those with which it resumes only.
    """
    report_options = {"game": args.tutorial, **asdict(options), **(numbers or {})}
    with held_folder(args.folder):
        try:
            report = _trained(args, report_options, stages)
        except ReportError as error:
            raise UsageError(f"{error}; give the same options or another --folder") from error
    shows.print_table(report)
    if path := getattr(args, "plot", None):
        report.plot(path)


def _trained(args: argparse.Namespace, options: dict[str, Any], stages: Stages) -> TutorialReport:
    import torch  # Takes seconds.

    from goryu_lab.lessons import tutorials
    from goryu_lab.lessons.run import ResumableRun

    torch.set_num_threads(args.threads)
    report = TutorialReport.read(args.folder / "report.json", options)
    with ProgressDisplay() as display:
        run = ResumableRun(args.folder, report, args.seed, display.print, display.update)
        run.save_report()  # From now on the folder belongs to a run with these options.
        stages(tutorials, run)
    return run.report
