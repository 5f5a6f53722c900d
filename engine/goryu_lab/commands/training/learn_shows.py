"""What `goryu learn` shows without training anything: tables, games, numbers, and three demonstrations."""

import argparse
import sys
from dataclasses import asdict
from random import Random

from goryu.commands.common import UsageError
from goryu_lab.lessons import lesson_games
from goryu_lab.lessons.bandit import Bandit, Gambler
from goryu_lab.lessons.pi import estimates
from goryu_lab.lessons.pruning import positions_visited
from goryu_lab.lessons.pseudocode_config import PseudocodeConfig
from goryu_lab.lessons.report import TutorialReport

WIDTH = 60
"""Results on a line of a strip."""


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
                 "evaluation_games", "promotion", "window_positions", "epochs", "policy_loss"):  # fmt: skip
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
