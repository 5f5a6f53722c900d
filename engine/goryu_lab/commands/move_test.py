r"""Compares variants of an engine by the moves that they choose, judged by another engine.

    goryu move-test games.usi game.kif --engine goryu --option Threads=1 --nodes 800 \
        --variant C_init=125,C_init_root=150 --variant C_init=200,C_init_root=240 \
        --judge fairy-stockfish --judge-option UCI_Variant=shogi --judge-limits nodes=300000 --out runs/moves

The first variant is the engine as it is. Each --variant is the same engine with other options; a second
--engine is another program. They choose moves in positions of the games, drawn at random; the judge gives the
win rate after each of them where they differ. Games: records of any kind, such as `goryu match --records usi`
writes; damaged ones are left out. Killed, it goes on when the same command is given again, also with more
--positions or more games. The test says what deserves a match; it does not replace one.
"""

import argparse
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from goryu.commands.common import UsageError, command_words, name_and_value, new_parser, program
from goryu.commands.config_options import add_fields, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu.engines.time_control import TimeControl
from goryu.engines.usi_client import EngineSpec, Timeouts
from goryu.kifu.archives import find_records, read_candidates
from goryu_lab.match.single_moves import MoveTest, MoveTestConfig, report


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    again = "the same command goes on"
    return program("goryu move-test", make_parser(), run, arguments, interrupted=again)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "games", type=Path, nargs="+", metavar="GAME", help="files, folders or archives of records"
    )
    engines = parser.add_argument_group("engines")
    engines.add_argument(
        "--engine", type=command_words, action="append", required=True, metavar="CMD",
        help="program and arguments",
    )  # fmt: skip
    engines.add_argument(
        "--option", type=name_and_value, action="append", default=[], metavar="NAME=VALUE", help="USI option"
    )
    engines.add_argument(
        "--variant", type=options_of, action="append", default=[], metavar="NAME=VALUE,...",
        help="the first engine with these options as well",
    )  # fmt: skip
    add_fields(parser.add_argument_group("limits of the variants (times in ms)"), TimeControl)
    judge = parser.add_argument_group("judge")
    judge.add_argument(
        "--judge", type=command_words, required=True, metavar="CMD", help="program and arguments"
    )
    judge.add_argument(
        "--judge-option", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
        help="USI option",
    )  # fmt: skip
    judge.add_argument(
        "--judge-limits", default="movetime=1000", metavar="NAME=N,...",
        help="as those of the variants (default %(default)s)",
    )  # fmt: skip
    test = parser.add_argument_group("test")
    for config in (MoveTestConfig, Timeouts):
        add_fields(test, config)
    test.add_argument("--out", type=Path, required=True, metavar="DIR", help="results; resumed if it exists")
    return parser


def options_of(text: str) -> tuple[tuple[str, str], ...]:
    """Reads the value of --variant.

    >>> options_of("C_init=125,C_init_root=150")
    (('C_init', '125'), ('C_init_root', '150'))
    """
    return tuple(name_and_value(part) for part in text.split(","))


def run(args: argparse.Namespace) -> None:
    """Tests positions until there are enough, and prints the report."""
    config = make_config(args)
    games = [found.game for found in read_candidates(find_records(args.games)) if found.game]
    if not games:
        raise UsageError("expected a game that can be read")
    args.out.mkdir(parents=True, exist_ok=True)
    test = MoveTest(config, args.out / "moves.jsonl", from_arguments(Timeouts, args))
    with closing(test), ProgressDisplay() as display:
        for _ in test.run(games):
            differ = sum(len(set(one.moves)) > 1 for one in test.tested)
            display.update("positions", len(test.tested), config.positions, f"{differ} differ")
    print("\n".join(report([one.name or "" for one in config.variants], test.tested)))


def make_config(args: argparse.Namespace) -> MoveTestConfig:
    """Returns the test that the arguments describe; raises GoryuError if nothing can be compared."""
    limits, judge_limits = from_arguments(TimeControl, args), TimeControl.parse(args.judge_limits)
    limits.check("each variant")
    judge_limits.check("the judge")
    options = tuple(args.option)
    variants = [EngineSpec(words, options, limits, " ".join(words)) for words in args.engine]
    for added in args.variant:
        name = " ".join(f"{name}={value}" for name, value in added)
        variants.append(EngineSpec(args.engine[0], options + added, limits, name))
    if len(variants) < 2:
        raise UsageError("expected a --variant, or another --engine")
    judge = EngineSpec(args.judge, tuple(args.judge_option), judge_limits)
    return from_arguments(MoveTestConfig, args, variants=tuple(variants), judge=judge)
