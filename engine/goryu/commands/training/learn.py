r"""Trains networks of small games from nothing, as in the AlphaZero tutorials, and measures them.

    goryu learn tictactoe
    goryu learn reversi --json reversi.json --plot reversi.png
    goryu learn lesson --size 6 --games 300 --opponents greedy random
    goryu learn lesson --as-published
    goryu learn strip --plot rate.png
    goryu learn replay 57 --step
    goryu learn replay final
    goryu learn pseudocode tictactoe --actors 2 --playouts 0.1 --untried reduced
    goryu learn pseudocode tictactoe --as-published
    goryu learn pi
    goryu learn bandit
    goryu learn pruning

Prints our numbers next to those of the tutorials and writes the networks to a folder. You can interrupt it at
any time; run the same command again to resume. `exercises` are those of the reversi tutorial: a mixture of
opponents, and corners. `shogi` is only a demonstration of the loop.

`lesson` is that of the reversi tutorial, with every number of it. It prints + for each game that the learner
won, - for each it lost and = for a draw. Every 30 games it writes a network and plays a game without random
moves; `strip` prints the results again, and `replay` shows a game board by board. With `--as-published` it
does what the tutorial's code does; other options change that, as its exercises propose.

`pseudocode` is AlphaZero's: actors play while a trainer trains. The numbers are the published ones for chess
times a factor each; `--show` prints them and does nothing else. Networks go to networks/STEP.onnx. With
`--as-published` the search is the pseudocode's tree and no position is rotated or reflected.

`pi`, `bandit` and `pruning` train nothing and need no PyTorch: pi by random points, three slot machines on
which you play against UCB1, and what cuts and symmetry save at tic-tac-toe.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from goryu.base.arguments import ArgumentParser
from goryu.base.files import atomic_write, held_folder
from goryu.commands.common import (
    UsageError,
    add_verb,
    new_parser,
    output_file,
    picture_file,
    positive,
    program,
    seed,
)
from goryu.commands.config_options import add_fields, changed, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu.learning.tutorials import lesson_games
from goryu.learning.tutorials.bandit import Bandit, Gambler
from goryu.learning.tutorials.options import LessonOptions, PseudocodeOptions, TutorialOptions
from goryu.learning.tutorials.pi import estimates
from goryu.learning.tutorials.pruning import positions_visited
from goryu.learning.tutorials.pseudocode_config import SMALL_GAMES, Factors, PseudocodeConfig, scaled
from goryu.learning.tutorials.report import ReportError, TutorialReport
from goryu.learning.tutorials.value_config import PUBLISHED, TUTORIAL

if TYPE_CHECKING:
    from goryu.learning.tutorials.run import ResumableRun

TUTORIALS = {
    "tictactoe": ("AlphaZero's loop, and all other algorithms", ["cycles"]),
    "reversi": ("a value network, then AlphaZero's loop", ["cycles", "value_games", "value_only"]),
    "exercises": ("value networks that meet several opponents", ["value_games"]),
    "shogi": ("AlphaZero's loop, as a demonstration", ["cycles"]),
}
"""What each tutorial trains, and which options it has besides those of all."""

OPPONENTS = (
    "greedy (most discs after two plies; greedy:0.3: three moves in ten at random), varied, corners, "
    "random, or an algorithm such as uct:50"
)
RESUME = (
    "the same command resumes from its folder; an unfinished measurement or what was trained since the last "
    "saved state is repeated"
)
WIDTH = 60
"""Results on a line of a strip."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program(
        "goryu learn",
        make_parser(),
        lambda args: args.verb(args),
        arguments,
        extra="train",
        interrupted=RESUME,
    )


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    verbs = parser.add_subparsers(prog="goryu learn", dest="tutorial", required=True, metavar="WHAT")
    for name, (text, options) in TUTORIALS.items():
        _add_training(add_verb(verbs, name, learn_tutorial, text), name, options)
    lesson = add_verb(verbs, "lesson", learn_lesson, "the reversi tutorial with its numbers")
    _add_training(lesson, "lesson")
    lesson.add_argument(
        "--opponents", nargs="+", default=LessonOptions().opponents, metavar="NAME",
        help=f"one for each game, in turn: {OPPONENTS} (default greedy)",
    )  # fmt: skip
    add_fields(lesson, LessonOptions)
    add_fields(lesson, TUTORIAL, fills=False)
    strip = add_verb(verbs, "strip", show_strip, "print the results of a lesson's games")
    strip.add_argument("--plot", type=picture_file, metavar="FILE", help="draw the running win rate")
    replay = add_verb(verbs, "replay", show_game, "show a game of a lesson board by board")
    replay.add_argument("game", metavar="GAME", help="its number, from 1, or final: the last --checkpoint game")
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
    pi = add_verb(verbs, "pi", show_pi, "pi by random points")
    pi.add_argument(
        "--points", type=positive, default=1_000_000, metavar="N", help="random points (default 1000000)"
    )
    bandit = add_verb(verbs, "bandit", play_bandit, "three slot machines: you against UCB1")
    bandit.add_argument(
        "--rounds", type=positive, default=30, metavar="N", help="rounds of play (default 30)"
    )
    bandit.add_argument("--watch", action="store_true", help="an A/B test plays instead of you")
    for verb in (pi, bandit):
        verb.add_argument("--seed", type=seed, help="of the random numbers (default: another every time)")
    add_verb(verbs, "pruning", show_pruning, "what cuts and symmetry save")


def _add_training(parser: argparse.ArgumentParser, name: str, options: Sequence[str] = ()) -> None:
    """Adds what all trainings have. options: those of `TutorialOptions` that this one has besides."""
    parser.add_argument(
        "--folder", type=Path, default=Path("runs/learn") / name,
        help="folder of the networks and the state (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--fresh", action="store_true", help="forget the run in the folder and start from nothing"
    )
    parser.add_argument(
        "--threads", type=positive, default=2, metavar="N", help="threads of PyTorch (default %(default)s)"
    )
    parser.add_argument("--json", type=output_file, metavar="FILE", help="write all numbers")
    if not name.startswith("pseudocode"):  # Its strength is measured at the end only.
        parser.add_argument(
            "--plot", type=picture_file, metavar="FILE", help="draw strength against training"
        )
    add_fields(parser, TutorialOptions, ["match_games", "seed", *options])


def learn_tutorial(args: argparse.Namespace) -> None:
    """Runs the remaining stages of a tutorial."""
    options = from_arguments(TutorialOptions, args)
    if options.value_only and options.cycles is not None:
        raise UsageError("--cycles: --value-only trains no network in cycles")

    def stages(run: "ResumableRun") -> None:
        from goryu.learning.tutorials.tutorials import TUTORIALS

        TUTORIALS[args.tutorial](run, options)

    learn(args, options, stages)


def learn_lesson(args: argparse.Namespace) -> None:
    """Plays the lesson, or the rest of it."""
    options = from_arguments(TutorialOptions, args)
    config = changed(PUBLISHED if args.as_published else TUTORIAL, args)
    more = from_arguments(LessonOptions, args)
    if more.checkpoint_every % config.games_together:
        multiple = f"expected a multiple of --games-together ({config.games_together})"
        raise UsageError(f"--checkpoint-every {more.checkpoint_every}: {multiple}")

    def stages(run: "ResumableRun") -> None:
        from goryu.learning.tutorials.tutorials import train_lesson

        train_lesson(run, options, config, more)

    learn(args, options, stages, {**asdict(config), "opponents": list(more.opponents)})


def learn_pseudocode(args: argparse.Namespace) -> None:
    """Trains to the end, or from the last checkpoint on, and measures the network."""
    factors, more = from_arguments(Factors, args), from_arguments(PseudocodeOptions, args)
    if args.show:
        show_numbers(scaled(factors, more.untried, as_published=more.as_published))
        return
    options = from_arguments(TutorialOptions, args)

    def stages(run: "ResumableRun") -> None:
        from goryu.learning.tutorials.tutorials import train_pseudocode

        train_pseudocode(run, options, factors, more)

    others = {"factors": asdict(factors), **asdict(more)}
    del others["actors"]
    learn(args, options, stages, others)


def learn(
    args: argparse.Namespace,
    options: TutorialOptions,
    stages: Callable[["ResumableRun"], None],
    numbers: dict[str, Any] | None = None,
) -> None:
    """Runs the remaining stages of a run, then prints and writes the results.

    numbers: more of those with which it resumes only.
    """
    report_options = {"game": args.tutorial, **asdict(options), **(numbers or {})}
    with held_folder(args.folder):
        try:
            report = _trained(args, report_options, stages)
        except ReportError as error:
            raise UsageError(f"{error}; give the same options, another --folder, or --fresh") from error
    print_table(report)
    if args.json:
        atomic_write(args.json, report.as_json())
    if path := getattr(args, "plot", None):
        report.plot(path)


def _trained(
    args: argparse.Namespace, options: dict[str, Any], stages: Callable[["ResumableRun"], None]
) -> TutorialReport:
    import torch  # Takes seconds.

    from goryu.learning.tutorials.run import ResumableRun
    from goryu.learning.tutorials.tutorials import STAGES

    torch.set_num_threads(args.threads)
    path = args.folder / "report.json"
    report = TutorialReport(options) if args.fresh else TutorialReport.read(path, options)
    with ProgressDisplay() as display:
        run = ResumableRun(args.folder, report, args.seed, display.print, display.update)
        if args.fresh:
            run.forget(STAGES[args.tutorial])
        run.save_report()  # From now on the folder belongs to a run with these options.
        stages(run)
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


def show_numbers(config: PseudocodeConfig) -> None:
    """Prints the numbers of a run of the pseudocode."""
    numbers = {**asdict(config.alphazero), **asdict(config)}
    for name in ("alphazero", "cycles", "games_per_cycle", "steps_per_cycle", "gumbel",
                 "evaluation_games", "promotion", "window_positions"):  # fmt: skip
        del numbers[name]
    for name, value in numbers.items():
        print(f"{name:20} {_shown(value)}")


def _shown(value: object) -> str:
    """Returns a number or the steps of the learning rate as text.

    >>> _shown(0.02 * 0.1 * 10), _shown(((0, 0.2), (100, 0.02)))
    ('0.02', '0.2, from step 100 on 0.02')
    """
    if isinstance(value, tuple):
        return ", ".join(f"from step {step} on {rate:g}" if step else f"{rate:g}" for step, rate in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def show_pi(args: argparse.Namespace) -> None:
    """Prints pi after more and more points."""
    for found in estimates(args.points, Random(args.seed)):
        print(f"{found.points:12,} points   pi = {found.pi:.5f} +- {found.error:.5f}", flush=True)


def play_bandit(args: argparse.Namespace) -> None:
    """Plays the rounds, or as many as the person wants, then shows the chances and the regret of both."""
    rng = Random(args.seed)
    bandit = Bandit([share / 10 for share in rng.sample(range(1, 10), 3)], args.rounds, rng)
    first, ucb1 = Gambler(bandit), Gambler(bandit)
    name = "A/B test" if args.watch else "you"
    print(f"Three arms pay 1 or nothing, each with its own chance. {args.rounds} rounds against UCB1.")
    for number in range(1, args.rounds + 1):
        arm = first.in_turn() if args.watch else _chosen_arm(number)
        if arm is None:
            break
        theirs = ucb1.ucb1()
        for who, gambler, pulled in ((name, first, arm), ("UCB1", ucb1, theirs)):
            pays = gambler.pull(pulled)
            print(f"{number:3}  {who:8} arm {pulled + 1} pays {pays:d}   {gambler}")
    print("chances: " + "  ".join(f"{arm}: {rate:g}" for arm, rate in enumerate(bandit.rates, 1)))
    for who, gambler in ((name, first), ("UCB1", ucb1)):
        print(f"{who:8} earned {gambler.earned}, regret {gambler.regret:.1f}")


def _chosen_arm(number: int) -> int | None:
    """Returns the arm that the person writes, from 0; None at the end of the input or after q."""
    while True:
        try:
            text = input(f"round {number}, arm 1, 2 or 3 (q ends)> ").strip()
        except EOFError:
            print()
            return None
        if text in ("1", "2", "3"):
            return int(text) - 1
        if text == "q":
            return None
        print(f"{text!r}: expected 1, 2, 3 or q")


def show_pruning(_args: argparse.Namespace) -> None:
    """Prints how many positions of tic-tac-toe each search visits."""
    print(f"{'positions visited':18} {'every move':>12} {'one of each kind':>18}")
    for name, every, of_each_kind in positions_visited():
        print(f"{name:18} {every:12,} {of_each_kind:18,}", flush=True)


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
        lesson_games.plot(rates, args.plot)


def show_game(args: argparse.Namespace) -> None:
    """Shows a game board by board."""
    is_final = args.game == "final"
    name = lesson_games.CHECKPOINT_GAMES if args.checkpoint or is_final else lesson_games.GAMES
    games = {str(game.number): game for game in lesson_games.read_games(args.folder / name)}
    number = list(games)[-1] if is_final and games else args.game
    if number not in games:
        expected = ", ".join(games) if args.checkpoint else f"1 to {len(games)} or final"
        raise UsageError(f"game {args.game}: expected {expected}")
    for text in lesson_games.replay(games[number]):
        print(text + "\n")
        if args.step and sys.stdin.isatty():
            input()


if __name__ == "__main__":
    raise SystemExit(main())
