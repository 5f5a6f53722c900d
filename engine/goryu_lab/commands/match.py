r"""Plays a match between two USI engines, with an independent referee; reports Elo with its error.

    goryu match --engine1 goryu --engine2 /usr/games/fairy-stockfish \
        --option2 UCI_Variant=shogi --games 100 --byoyomi 1000 --openings tools/openings/balanced.txt

Limits hold for both engines; `--limits1` and `--limits2` change them for one (`--limits2 nodes=900`).
If the folder given with `--out` already holds games of the same match, the match is resumed. At the end the
folder holds match.html, a page with the result and all games on a board, and summary.json for programs.
With `--tune C_init=60:180 --tune Softmax_Temperature=80:200` the match draws these options of engine 1 anew
for each pair, and fits a surface to the scores; both engines may be the same program.
With `--screen Softmax_Temperature=150:120 --screen Final_Move=lcb:visits` one engine of each pair has the new
value of an option and the other the old one; the match reports the Elo of every such change.
For large tournaments between many engines use ShogiArena or ShogiHome.

Exit status: 0; 1 after a failure: a crash, a hang, an illegal move, a protocol error, or an engine that
reports an error and resigns without a move; 2 if the match could not be played; 130 after Ctrl-C or SIGTERM.
"""

import argparse
import json
from argparse import ArgumentTypeError
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from goryu.base.files import atomic_write
from goryu.base.language import plural
from goryu.commands.common import (
    UsageError,
    command_words,
    name_and_value,
    new_parser,
    positive,
    program,
)
from goryu.commands.config_options import add_fields, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu.engines.time_control import TimeControl
from goryu.engines.usi_client import EngineSpec, Timeouts
from goryu.players.set_up.threads import cores
from goryu_lab.commands.cluster_options import add_cluster_options, cluster_config, watcher
from goryu_lab.commands.match_page import match_page
from goryu_lab.match import screening, tuning
from goryu_lab.match.engine_faults import is_failure, warnings
from goryu_lab.match.export import RECORD_FORMATS, new_folder, rewrite_records, write_records
from goryu_lab.match.game import GameRules
from goryu_lab.match.game_log import GameEntry, GameLog
from goryu_lab.match.least_squares import ExperimentError
from goryu_lab.match.openings import DEFAULT_OPENINGS, read_openings
from goryu_lab.match.referee import Reason
from goryu_lab.match.report import describe, progress_line, report, summary
from goryu_lab.match.screening import parse_changes, report_lines
from goryu_lab.match.sprt import Sprt
from goryu_lab.match.tournament import Match, MatchConfig
from goryu_lab.match.tuning import parse_ranges
from goryu_lab.work.cluster import ClusterConfig


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu match", make_parser(), run, arguments)


def run(args: argparse.Namespace) -> int:
    """Plays the match or describes it; returns the exit status."""
    config = make_config(args)
    if args.dry_run:
        print(describe(config))
        return 0
    workers = config.concurrency if args.concurrency else None
    return play(config, args.records, cluster_config(args, workers))


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    engines = parser.add_argument_group("engines")
    for side in ("1", "2"):
        engines.add_argument(
            f"--engine{side}", type=command_words, required=True, metavar="CMD", help="program and arguments"
        )
        engines.add_argument(f"--name{side}", metavar="NAME", help="replaces the engine's own name")
        for name, words in (("option", "USI option"), ("env", "environment variable")):
            engines.add_argument(
                f"--{name}{side}", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
                help=words,
            )  # fmt: skip
        engines.add_argument(f"--cwd{side}", metavar="DIR", help="working directory")
        engines.add_argument(
            f"--limits{side}", default="", metavar="NAME=N,...", help="limits of this engine only"
        )
    add_fields(parser.add_argument_group("limits of both engines (times in ms)"), TimeControl)
    games = parser.add_argument_group("games")
    games.add_argument(
        "--openings", type=Path, metavar="FILE", help="default: ten common openings of four moves"
    )
    for config in (GameRules, Timeouts, MatchConfig):
        add_fields(games, config)
    tests = parser.add_argument_group("sequential test and tuning")
    tests.add_argument(
        "--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"),
        help="two differences in normalised Elo (see --elo-kind), the lower one first; stop when one of them "
        "is accepted",
    )  # fmt: skip
    add_fields(tests, Sprt)
    tests.add_argument(
        "--tune", action="append", default=[], metavar="NAME=LOW:HIGH",
        help="draw this option of engine 1 anew for each pair, and report how its values score",
    )  # fmt: skip
    tests.add_argument(
        "--screen", action="append", default=[], metavar="NAME=OLD:NEW,...",
        help="give the new values to one engine of each pair, the old ones to the other; reports the Elo of "
        "each change. Repeat it for several changes",
    )  # fmt: skip
    running = parser.add_argument_group("running")
    running.add_argument(
        "--concurrency", type=games_at_once, metavar="N",
        help="games at a time, or auto: one for each core (default 1; on a cluster: as many as fit)",
    )  # fmt: skip
    add_cluster_options(running)
    running.add_argument(
        "--out", type=Path, metavar="DIR", help="results (default runs/match-<time>); resumed if it exists"
    )
    running.add_argument(
        "--records", type=record_formats, default=(), metavar="LIST",
        help="write the games in these formats: kif, csa, usi (comma-separated)",
    )  # fmt: skip
    running.add_argument("--dry-run", action="store_true", help="print what would be played, start nothing")
    return parser


def games_at_once(text: str) -> int:
    """Reads the value of --concurrency."""
    return cores() if text == "auto" else positive(text)


def record_formats(text: str) -> tuple[str, ...]:
    """Reads the value of --records."""
    formats = tuple(name for name in text.split(",") if name)
    if unknown := set(formats) - set(RECORD_FORMATS):
        raise ArgumentTypeError(f"{', '.join(unknown)}: expected {', '.join(RECORD_FORMATS)}")
    return formats


def make_config(args: argparse.Namespace) -> MatchConfig:
    """Returns the match that the arguments describe; raises GoryuError if it cannot be played."""
    if args.cluster and args.transcripts:
        raise UsageError("--cluster: expected no --transcripts, which are for this computer")
    games = args.games + args.games % 2
    if bool(args.screen) + bool(args.tune) + bool(args.sprt) > 1:
        raise UsageError("--sprt, --tune, --screen: expected only one of them")
    if not args.sprt and from_arguments(Sprt, args) != Sprt():
        raise UsageError("--alpha, --beta, --elo-kind: expected --sprt with them")
    tuned, screened = parse_ranges(args.tune), parse_changes(args.screen)
    if tuned:
        tuning.require_pairs(tuned, games // 2)
    if screened:
        screening.require_pairs(screened, games // 2)
    elos = {"elo0": args.sprt[0], "elo1": args.sprt[1]} if args.sprt else {}
    return from_arguments(
        MatchConfig,
        args,
        engines=(make_engine(args, "1"), make_engine(args, "2")),
        games=games,
        openings=read_openings(args.openings) if args.openings else DEFAULT_OPENINGS,
        rules=from_arguments(GameRules, args),
        timeouts=from_arguments(Timeouts, args),
        concurrency=args.concurrency or 1,
        sprt=from_arguments(Sprt, args, **elos) if elos else None,
        directory=args.out,
        tuned=tuned,
        screened=screened,
    )


def make_engine(args: argparse.Namespace, side: str) -> EngineSpec:
    """Returns the engine of one side."""
    limits = from_arguments(TimeControl, args).merged(TimeControl.parse(getattr(args, f"limits{side}")))
    limits.check(f"engine {side}")
    command = list(getattr(args, f"engine{side}"))
    directory = getattr(args, f"cwd{side}")
    if directory and "/" in command[0]:
        command[0] = str(Path(command[0]).absolute())
    return EngineSpec(
        command=tuple(command),
        options=tuple(getattr(args, f"option{side}")),
        limits=limits,
        name=getattr(args, f"name{side}"),
        environment=tuple(getattr(args, f"env{side}")),
        directory=directory,
    )


def play(config: MatchConfig, formats: Sequence[str], cluster: ClusterConfig | None) -> int:
    """Plays the match, here or on a cluster, and shows its progress; returns the exit status."""
    directory = config.directory or new_folder()
    config = replace(config, directory=directory)
    directory.mkdir(parents=True, exist_ok=True)
    identity = config.identity() | {"files": config.files()}
    log = GameLog(directory / "games.jsonl", identity)
    played_before = len(log.entries)
    print(describe(config))
    print(f"{directory}: " + (f"resuming after {played_before} games" if played_before else "new match"))
    print(f"for the browser, at the end: {directory / 'match.html'}")
    warned: set[tuple[int, str]] = set()
    status = 0
    with closing(log), ProgressDisplay() as display:

        def on_game(entry: GameEntry) -> None:
            entries = match.entries
            display.update("games", len(entries), config.games, progress_line(entries, match.test))
            if formats:
                write_records(entry, match.names, directory, formats)
            if is_failure(entry) or entry.reason == Reason.TIME:
                detail = entry.detail or "after " + "; ".join(text for _, text in entry.errors)
                display.print(f"game {entry.number + 1}: {entry.reason}: {detail}")
            for key, text in warnings(match.names, entries).items():
                if key not in warned:  # The report repeats it with its final numbers.
                    warned.add(key)
                    display.print(text)

        match = Match(config, log, on_game, cluster, watcher(display.print, display.below))
        try:
            rewrite_records(match.entries, match.names, directory, formats)
            match.run()
        except KeyboardInterrupt:
            display.print("interrupted; the unfinished games are dropped")
            status = 130
    has_failed = conclude(match, config, directory)
    return status or has_failed


def conclude(match: Match, config: MatchConfig, directory: Path) -> int:
    """Prints and writes the result; returns 1 if an engine has failed, else 0."""
    failures = sum(map(is_failure, match.entries))
    if failures >= config.max_failures and len(match.entries) < config.games:
        print(f"stopped after {plural(failures, 'failure')}; to resume, add --max-failures {failures + 10}")
    lines = [report(match.names, match.entries, match.test)]
    try:
        lines += match.surface().lines() if config.tuned else []
        lines += report_lines(config.screened, match.effects()) if config.screened else []
    except ExperimentError as error:  # The match ended early.
        lines.append(str(error))
    text = "\n".join(lines)
    print(text)
    result = summary(match.names, match.entries, match.test)
    atomic_write(directory / "summary.json", json.dumps(result, indent=1) + "\n")
    limits = [str(engine.limits) for engine in config.engines]
    atomic_write(directory / "match.html", match_page(match.names, limits, match.entries, text))
    return 1 if failures else 0
