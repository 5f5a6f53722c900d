"""Simulates the clocks of whole games, as the engine plans its time.

    python tools/experiments/clock.py              every move takes its soft end
    python tools/experiments/clock.py --use 85     85 % of it, because many searches end early

A move waits for the network delay, too. In byoyomi (秒読み) no search ends early. The columns, in seconds:
the mean of our first ten moves, the longest one, and for games of 30, 45, 60 and 90 moves of ours the mean of
all and the main time left at the end.
"""

import argparse
from collections.abc import Sequence
from random import Random

from goryu.commands.common import new_parser, positive, program
from goryu.players.clock.limits import Limits
from goryu.players.clock.time_manager import TimeConfig, plan

MINUTE_MS, SECOND_MS = 60_000.0, 1000.0

CONTROLS = {
    "10 min + 10 s byoyomi": (10 * MINUTE_MS, 0.0, 10 * SECOND_MS),
    "15 min + 60 s byoyomi": (15 * MINUTE_MS, 0.0, 60 * SECOND_MS),
    "5 min + 10 s increment": (5 * MINUTE_MS, 10 * SECOND_MS, 0.0),
    "10 min + 10 s increment": (10 * MINUTE_MS, 10 * SECOND_MS, 0.0),
    "10 s byoyomi": (0.0, 0.0, 10 * SECOND_MS),
    "10 min": (10 * MINUTE_MS, 0.0, 0.0),
}
"""Main time, increment and byoyomi, in ms. Those with an increment are floodgate's."""

OWN_MOVES = (30, 45, 60, 90)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("clock.py", make_parser(), run, arguments, extra="")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "--use", type=positive, default=100, metavar="N", help="per cent of the soft end (default 100)"
    )
    return parser


def run(args: argparse.Namespace) -> None:
    """Prints the table."""
    lengths = ", ".join(map(str, OWN_MOVES))
    print(f"| control | first ten | longest | mean of {lengths} | left after {lengths} |")
    print("|---|--:|--:|---|---|")
    for name, control in CONTROLS.items():
        games = [game(*control, moves, args.use / 100) for moves in OWN_MOVES]
        times = games[-1][0]
        means, left = [sum(times) / len(times) for times, _ in games], [left_ms for _, left_ms in games]
        cells = [sum(times[:10]) / 10], [max(times)], means, left
        print(f"| {name} | {' | '.join(map(seconds, cells))} |")


def seconds(times: Sequence[float]) -> str:
    """Returns times in ms as text, in seconds."""
    return ", ".join(f"{ms / SECOND_MS:.1f}" for ms in times)


def game(
    main_ms: float, increment_ms: float, byoyomi_ms: float, moves: int, use: float
) -> tuple[list[float], float]:
    """Returns the times of our moves in one game and the main time left, in ms.

    Raises RuntimeError if the plan oversteps the time.
    """
    config, times, left_ms = TimeConfig(), [], main_ms
    for move in range(moves):
        limits = Limits((left_ms, left_ms), (increment_ms, increment_ms), byoyomi_ms)
        budget = plan(limits, 0, 2 * move, config, Random(0))
        assert budget is not None
        used_ms = budget.optimum_ms * (use if left_ms else 1.0) + config.network_delay_ms
        if used_ms > left_ms + byoyomi_ms:
            raise RuntimeError(f"move {move + 1} takes {used_ms:.0f} ms, and {left_ms:.0f} ms are left")
        left_ms = max(0.0, left_ms - used_ms) + increment_ms
        times.append(used_ms)
    return times, left_ms


if __name__ == "__main__":
    raise SystemExit(main())
