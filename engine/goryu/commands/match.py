r"""Plays a match between two USI engines, with an independent referee; reports Elo with its error.

    goryu match --engine1 goryu --engine2 /usr/games/fairy-stockfish \
        --option2 UCI_Variant=shogi --games 100 --byoyomi 1000 --openings tools/openings/balanced.txt

Limits hold for both engines; `--limits1` and `--limits2` change them for one (`--limits2 nodes=900`).
If the folder given with `--out` already holds games of the same match, the match is resumed.
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
import time
from argparse import ArgumentTypeError
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from goryu.base.files import atomic_write
from goryu.base.language import plural
from goryu.commands.cluster_options import add_cluster_options, cluster_config, watcher
from goryu.commands.common import (
    UsageError,
    command_words,
    name_and_value,
    new_parser,
    node_count,
    non_negative,
    positive,
    program,
    seed,
)
from goryu.commands.progress_display import LINES_EVERY_S
from goryu.match import screening, tuning
from goryu.match.engine_faults import is_failure, warnings
from goryu.match.export import RECORD_FORMATS, write_records
from goryu.match.game import GameRules
from goryu.match.game_log import GameEntry, GameLog
from goryu.match.openings import DEFAULT_OPENINGS, read_openings
from goryu.match.referee import DeclarationRule, Reason
from goryu.match.referee_board import LIBRARIES
from goryu.match.report import describe, progress_line, report, summary
from goryu.match.screening import ScreeningError, parse_changes, report_lines
from goryu.match.sprt import SequentialTest, Sprt
from goryu.match.time_control import TimeControl
from goryu.match.tournament import Match, MatchConfig, usable_cores
from goryu.match.tuning import TuningError, parse_ranges
from goryu.match.usi_client import EngineSpec, Timeouts
from goryu.work.cluster import ClusterConfig


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
    add_engines(parser.add_argument_group("engines"))
    add_limits(parser.add_argument_group("limits of both engines (times in ms)"))
    add_games(parser.add_argument_group("games"))
    add_tests(parser.add_argument_group("sequential test and tuning"))
    add_running(parser.add_argument_group("running"))
    return parser


def add_engines(group: argparse._ArgumentGroup) -> None:
    """Adds the options of each engine."""
    for side in ("1", "2"):
        group.add_argument(
            f"--engine{side}", type=command_words, required=True, metavar="CMD", help="program and arguments"
        )
        group.add_argument(f"--name{side}", metavar="NAME", help="replaces the engine's own name")
        for option, words in (("option", "USI option"), ("env", "environment variable")):
            group.add_argument(
                f"--{option}{side}", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
                help=words,
            )  # fmt: skip
        group.add_argument(f"--cwd{side}", metavar="DIR", help="working directory")
        group.add_argument(
            f"--limits{side}", default="", metavar="NAME=N,...", help="limits of this engine only"
        )


def add_limits(group: argparse._ArgumentGroup) -> None:
    """Adds the limits of both engines."""
    limits = (
        ("time", non_negative, "main time of a game"),
        ("inc", non_negative, "increment after each move"),
        ("byoyomi", non_negative, "time for each move after the main time"),
        ("movetime", positive, "time for every move"),
        ("nodes", node_count, "nodes for every move"),
        ("depth", positive, "depth of every search"),
    )
    for name, kind, words in limits:
        group.add_argument(f"--{name}", type=kind, metavar="N", help=words)
    group.add_argument(
        "--margin", type=non_negative, default=50, metavar="MS", help="excess that is forgiven (default 50)"
    )
    group.add_argument("--no-flag", action="store_true", help="report time losses, but play on")
    group.add_argument(
        "--move-timeout", type=seconds, default=600, metavar="S",
        help="without a clock, an engine hangs after this time (default 600)",
    )  # fmt: skip
    group.add_argument(
        "--start-timeout", type=seconds, default=60, metavar="S", help="for usiok and readyok (default 60)"
    )


def add_games(group: argparse._ArgumentGroup) -> None:
    """Adds the number of games and their rules."""
    group.add_argument(
        "--games", type=positive, default=20, metavar="N", help="at most; made even (default 20)"
    )
    group.add_argument(
        "--openings", type=Path, metavar="FILE", help="default: ten common openings of four moves"
    )
    group.add_argument("--opening-plies", type=non_negative, metavar="N", help="cut openings after N moves")
    group.add_argument("--seed", type=seed, default=0, help="of the order of the openings (default 0)")
    group.add_argument(
        "--referee", choices=sorted(LIBRARIES), default="rsshogi", help="library of rules (default rsshogi)"
    )
    group.add_argument(
        "--declaration", choices=[str(rule) for rule in DeclarationRule], default="27",
        help="rule of the entering king (default 27)",
    )  # fmt: skip
    group.add_argument(
        "--max-plies", type=positive, default=320, metavar="N", help="then it is a draw (default 320)"
    )
    group.add_argument(
        "--resign", type=non_negative, default=0, metavar="CP",
        help="adjudicate when the scores of both engines agree on a lead of CP (default 0: never)",
    )  # fmt: skip
    group.add_argument(
        "--resign-plies", type=positive, default=4, metavar="N", help="... for N moves in a row (default 4)"
    )


def add_tests(group: argparse._ArgumentGroup) -> None:
    """Adds the options of the sequential test and of tuning."""
    group.add_argument(
        "--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"), help="stop when one of the two is accepted"
    )
    group.add_argument(
        "--sprt-model", choices=("normalized", "logistic"), default="normalized",
        help="kind of Elo of --sprt (default normalized)",
    )  # fmt: skip
    group.add_argument(
        "--alpha", type=float, default=0.05, help="chance to accept ELO1 if ELO0 is true (default 0.05)"
    )
    group.add_argument(
        "--beta", type=float, default=0.05, help="chance to accept ELO0 if ELO1 is true (default 0.05)"
    )
    group.add_argument(
        "--tune", action="append", default=[], metavar="NAME=LOW:HIGH",
        help="draw this option of engine 1 anew for each pair, and report how its values score",
    )  # fmt: skip
    group.add_argument(
        "--screen", action="append", default=[], metavar="NAME=OLD:NEW,...",
        help="give the new values to one engine of each pair, the old ones to the other; reports the Elo of "
        "each change. Repeat it for several changes",
    )  # fmt: skip


def add_running(group: argparse._ArgumentGroup) -> None:
    """Adds the options of the run and its output."""
    group.add_argument(
        "--concurrency", type=games_at_once, metavar="N",
        help="games at a time, or auto: one for each core (default 1; on a cluster: as many as fit)",
    )  # fmt: skip
    add_cluster_options(group)
    group.add_argument("--pin", action="store_true", help="run each game on one core (Linux)")
    group.add_argument(
        "--max-failures", type=positive, default=10, metavar="N",
        help="stop after N failures of the engines, see above (default 10)",
    )  # fmt: skip
    group.add_argument(
        "--out", type=Path, metavar="DIR", help="results (default runs/match-<time>); resumed if it exists"
    )
    group.add_argument(
        "--records", type=record_formats, default=(), metavar="LIST",
        help="write the games in these formats: kif, csa, usi (comma-separated)",
    )  # fmt: skip
    group.add_argument("--transcripts", action="store_true", help="log every line to and from the engines")
    group.add_argument("--dry-run", action="store_true", help="print what would be played, start nothing")


def games_at_once(text: str) -> int:
    """Reads the value of --concurrency."""
    return len(usable_cores()) if text == "auto" else positive(text)


def seconds(text: str) -> float:
    """Reads a time limit above 0; `inf` waits for ever."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise ArgumentTypeError(f"{text}: expected more than 0 seconds")
    return number


def record_formats(text: str) -> tuple[str, ...]:
    """Reads the value of --records."""
    formats = tuple(name for name in text.split(",") if name)
    if unknown := set(formats) - set(RECORD_FORMATS):
        raise ArgumentTypeError(f"{', '.join(unknown)}: expected {', '.join(RECORD_FORMATS)}")
    return formats


def make_config(args: argparse.Namespace) -> MatchConfig:
    """Returns the match that the arguments describe; raises GoryuError if it cannot be played."""
    if args.cluster and (args.transcripts or args.pin):
        raise UsageError("--cluster: expected no --transcripts and no --pin, which are for this computer")
    games = args.games + args.games % 2
    if args.screen and (args.tune or args.sprt):
        raise UsageError("--screen: expected neither --tune nor --sprt with it")
    tuned, screened = parse_ranges(args.tune), parse_changes(args.screen)
    if tuned:
        tuning.require_pairs(tuned, games // 2)
    if screened:
        screening.require_pairs(screened, games // 2)
    sprt = None
    if args.sprt:
        sprt = Sprt(args.sprt[0], args.sprt[1], args.alpha, args.beta, args.sprt_model)
    return MatchConfig(
        engines=(make_engine(args, "1"), make_engine(args, "2")),
        games=games,
        openings=read_openings(args.openings, args.opening_plies) if args.openings else DEFAULT_OPENINGS,
        seed=args.seed,
        rules=GameRules(
            library=args.referee,
            declaration=DeclarationRule(args.declaration),
            max_plies=args.max_plies,
            margin_ms=args.margin,
            flag=not args.no_flag,
            resign_cp=args.resign,
            resign_plies=args.resign_plies,
        ),
        timeouts=Timeouts(handshake_s=args.start_timeout, move_s=args.move_timeout),
        concurrency=args.concurrency or 1,
        sprt=sprt,
        max_failures=args.max_failures,
        directory=args.out,
        transcripts=args.transcripts,
        pin=args.pin,
        tuned=tuned,
        screened=screened,
    )


def make_engine(args: argparse.Namespace, side: str) -> EngineSpec:
    """Returns the engine of one side."""
    common = TimeControl(args.time, args.inc, args.byoyomi, args.movetime, args.nodes, args.depth)
    limits = common.merged(TimeControl.parse(getattr(args, f"limits{side}")))
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


class Display:
    """Shows a match in progress: one line that changes on a terminal, a line for each game elsewhere."""

    def __init__(self, config: MatchConfig, played_before: int) -> None:
        from rich.console import Console
        from rich.live import Live

        self._config = config
        self._played_before = played_before
        self._start_s = time.monotonic()
        self._console = Console()
        self._warned: set[tuple[int, str]] = set()
        self._live = Live(console=self._console, auto_refresh=False)
        self._line = ""
        self._below: Sequence[str] = ()
        self._printed_s = self._start_s

    def print(self, line: str) -> None:
        """Prints a line above the result."""
        self._console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def context(self) -> AbstractContextManager[object]:
        """Returns the context in which games are shown."""
        return self._live if self._console.is_terminal else nullcontext()

    def show(self, entries: Sequence[GameEntry], test: SequentialTest | None) -> None:
        """Shows the result so far, after a game."""
        games = self._config.games
        s_per_game = (time.monotonic() - self._start_s) / (len(entries) - self._played_before)
        left_s = s_per_game * max(0, games - len(entries))
        if self._console.is_terminal:
            width = self._console.width - 1
            self._line = progress_line(entries, games, test, left_s, width)
            self._refresh()
        else:
            print(progress_line(entries, games, test, left_s), flush=True)

    def below(self, lines: Sequence[str]) -> None:
        """Shows lines below the result; elsewhere a line a minute, of a cluster only."""
        self._below = lines
        now_s = time.monotonic()
        if self._console.is_terminal:
            self._refresh()
        elif len(lines) > 1 and now_s >= self._printed_s + LINES_EVERY_S:
            self._printed_s = now_s
            print("; ".join(lines), flush=True)

    def _refresh(self) -> None:
        from rich.text import Text

        text = "\n".join(filter(None, [self._line, *self._below]))
        self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

    def show_fault(self, entry: GameEntry) -> None:
        """Prints how an engine failed or lost on time."""
        detail = entry.detail or "after " + "; ".join(text for _, text in entry.errors)
        self._print(f"game {entry.number + 1}: {entry.reason}: {detail}")

    def warn(self, names: Sequence[str], entries: Sequence[GameEntry]) -> None:
        """Prints each warning about an engine once; the report repeats it with its final numbers."""
        for key, text in warnings(names, entries).items():
            if key not in self._warned:
                self._warned.add(key)
                self._print(text)

    def _print(self, text: str) -> None:
        self._console.print(text, style="red", markup=False, highlight=False, soft_wrap=True)


def play(config: MatchConfig, formats: Sequence[str], cluster: ClusterConfig | None) -> int:
    """Plays the match, here or on a cluster, and shows its progress; returns the exit status."""
    directory = config.directory or new_folder()
    config = replace(config, directory=directory)
    directory.mkdir(parents=True, exist_ok=True)
    log = GameLog(directory / "games.jsonl", config.identity())
    played_before = len(log.entries)
    print(describe(config))
    print(f"{directory}: " + (f"resuming after {played_before} games" if played_before else "new match"))
    display = Display(config, played_before)

    def on_game(entry: GameEntry) -> None:
        display.show(match.entries, match.test)
        if formats:
            write_records(entry, match.names, directory, formats)
        if is_failure(entry) or entry.reason == Reason.TIME:
            display.show_fault(entry)
        display.warn(match.names, match.entries)

    match = Match(config, log, on_game, cluster, watcher(display.print, display.below))
    status = 0
    try:
        rewrite_records(match, directory, formats)
        with display.context():
            match.run()
    except KeyboardInterrupt:
        print("interrupted; the unfinished games are dropped")
        status = 130
    finally:
        log.close()
    has_failed = conclude(match, config, directory)
    return status or has_failed


def new_folder() -> Path:
    """Creates a folder for a match; several may begin in the same second."""
    name = f"match-{datetime.now():%Y%m%d-%H%M%S}"
    folder, number = Path("runs") / name, 1
    while True:
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            number += 1
            folder = folder.with_name(f"{name}-{number}")


def rewrite_records(match: Match, directory: Path, formats: Sequence[str]) -> None:
    """Writes the records of logged games; some are missing after a kill, or a run without --records."""
    if "usi" in formats:
        (directory / "games.usi").unlink(missing_ok=True)
    if formats:
        for entry in match.entries:
            write_records(entry, match.names, directory, formats)


def conclude(match: Match, config: MatchConfig, directory: Path) -> int:
    """Prints and writes the result; returns 1 if an engine has failed, else 0."""
    failures = sum(map(is_failure, match.entries))
    if failures >= config.max_failures and len(match.entries) < config.games:
        print(f"stopped after {plural(failures, 'failure')}; to resume, add --max-failures {failures + 10}")
    print(report(match.names, match.entries, match.test))
    if config.tuned:
        try:
            print("\n".join(match.surface().lines()))
        except TuningError as error:  # The match ended early.
            print(f"tuning: {error}")
    if config.screened:
        try:
            print("\n".join(report_lines(config.screened, match.effects())))
        except ScreeningError as error:
            print(f"screening: {error}")
    result = summary(match.names, match.entries, match.test)
    atomic_write(directory / "summary.json", json.dumps(result, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
