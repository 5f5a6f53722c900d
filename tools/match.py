r"""A match between two USI engines, with an independent referee and honest error bars.

    python tools/match.py --engine1 "python -m goryu" --engine2 /usr/games/fairy-stockfish \
        --option2 UCI_Variant=shogi --games 100 --byoyomi 1000 --openings tools/openings/balanced.txt

Limits hold for both engines; `--limits1` and `--limits2` change them for one (`--limits2 nodes=900`).
A result directory given with `--out` is resumed if it already holds games of the same match.
With `--tune C_init=60:180 --tune Softmax_Temperature=80:200` these options of engine 1 are drawn anew for
each pair, and a surface is fitted to the scores; both engines may be the same program.
For large tournaments between many engines use ShogiArena or ShogiHome; this is for two.

Exit status: 0; 1 after a crash, a hang, an illegal move or a protocol error; 2 if the match could not be
played; 130 after Ctrl-C or SIGTERM.
"""

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from common import command_words, interrupt_on_sigterm, name_and_value, needs_extra, positive
from goryu.match.export import RECORD_FORMATS, write_records
from goryu.match.game import GameRules
from goryu.match.game_log import GameEntry, GameLog, GameLogError
from goryu.match.openings import DEFAULT_OPENINGS, OpeningError, read_openings
from goryu.match.referee import DeclarationRule, Reason
from goryu.match.referee_board import LIBRARIES, BoardError
from goryu.match.report import progress_line, report, summary
from goryu.match.sprt import Sprt, SprtError
from goryu.match.time_control import TimeControl, TimeControlError
from goryu.match.tournament import FAILURES, Match, MatchConfig, usable_cores
from goryu.match.tuning import TuningError, parse_ranges
from goryu.match.usi_client import EngineError, EngineSpec, Timeouts

with needs_extra("tools"):
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

LEAST = {
    "games": 1, "opening_plies": 0, "max_plies": 1, "resign": 0, "resign_plies": 1, "margin": 0,
    "max_failures": 1, "time": 0, "inc": 0, "byoyomi": 0, "movetime": 1, "nodes": 1, "depth": 1,
}  # fmt: skip
"""The least numbers with which a match can be played."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    args = make_parser().parse_args(arguments)
    interrupt_on_sigterm()
    try:
        config = make_config(args)
        if args.dry_run:
            print(describe(config))
            return 0
        return play(args, config)
    except (
        TimeControlError,
        OpeningError,
        BoardError,
        GameLogError,
        SprtError,
        TuningError,
        EngineError,
        OSError,
    ) as error:
        print(f"match: {error}", file=sys.stderr)
        return 2


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser; every option says its unit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    engines = parser.add_argument_group("engines")
    for side in ("1", "2"):
        engines.add_argument(
            f"--engine{side}", type=command_words, required=True, metavar="CMD", help="program and arguments"
        )
        engines.add_argument(f"--name{side}", metavar="NAME", help="instead of the engine's own name")
        engines.add_argument(
            f"--option{side}", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
            help="USI option",
        )  # fmt: skip
        engines.add_argument(
            f"--env{side}", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
            help="environment",
        )  # fmt: skip
        engines.add_argument(f"--cwd{side}", metavar="DIR", help="working directory")
        engines.add_argument(
            f"--limits{side}", default="", metavar="NAME=N,...", help="limits of this engine only"
        )
    limits = parser.add_argument_group("limits of both engines (times in ms)")
    for name in ("time", "inc", "byoyomi", "movetime", "nodes", "depth"):
        limits.add_argument(f"--{name}", type=int, metavar="N")
    limits.add_argument(
        "--margin", type=int, default=50, metavar="MS", help="excess that is forgiven (default 50)"
    )
    limits.add_argument("--no-flag", action="store_true", help="report time losses, but play on")
    limits.add_argument(
        "--move-timeout", type=float, default=600, metavar="S", help="hung after this, without a clock"
    )
    limits.add_argument("--start-timeout", type=float, default=60, metavar="S", help="for usiok and readyok")
    games = parser.add_argument_group("games")
    games.add_argument("--games", type=int, default=20, metavar="N", help="at most; made even (default 20)")
    games.add_argument(
        "--openings", type=Path, metavar="FILE", help="default: ten usual openings of four moves"
    )
    games.add_argument("--opening-plies", type=int, metavar="N", help="cut each opening after N moves")
    games.add_argument("--seed", type=int, default=0, help="of the order of the openings")
    games.add_argument("--referee", choices=sorted(LIBRARIES), default="rsshogi")
    games.add_argument("--declaration", choices=[str(rule) for rule in DeclarationRule], default="27")
    games.add_argument(
        "--max-plies", type=int, default=320, metavar="N", help="then it is a draw (default 320)"
    )
    games.add_argument(
        "--resign", type=int, default=0, metavar="CP", help="adjudicate when both engines agree on this"
    )
    games.add_argument("--resign-plies", type=int, default=4, metavar="N", help="for so many moves in a row")
    test = parser.add_argument_group("sequential test")
    test.add_argument(
        "--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"), help="stop once one is accepted"
    )
    test.add_argument("--sprt-model", choices=("normalized", "logistic"), default="normalized")
    test.add_argument("--alpha", type=float, default=0.05)
    test.add_argument("--beta", type=float, default=0.05)
    tuning = parser.add_argument_group("tuning")
    tuning.add_argument(
        "--tune",
        action="append",
        default=[],
        metavar="NAME=LOW:HIGH",
        help="draw this option of engine 1 anew for each pair, and report what its values are worth",
    )
    run = parser.add_argument_group("running")
    run.add_argument(
        "--concurrency", type=games_at_once, default=1, metavar="N", help="games at once, or auto: one a core"
    )
    run.add_argument("--pin", action="store_true", help="one core for each game (Linux)")
    run.add_argument(
        "--max-failures", type=int, default=10, metavar="N", help="stop after so many crashes and the like"
    )
    run.add_argument(
        "--out", type=Path, metavar="DIR", help="results (default runs/match-<time>); resumed if it exists"
    )
    run.add_argument(
        "--records",
        type=record_formats,
        default=(),
        metavar="LIST",
        help="write games as kif, csa, usi (comma-separated)",
    )
    run.add_argument("--transcripts", action="store_true", help="log every line to and from the engines")
    run.add_argument("--dry-run", action="store_true", help="print what would be played, start nothing")
    return parser


def games_at_once(text: str) -> int:
    """Reads the value of --concurrency."""
    return len(usable_cores()) if text == "auto" else positive(text)


def record_formats(text: str) -> tuple[str, ...]:
    """Reads the value of --records."""
    formats = tuple(name for name in text.split(",") if name)
    if unknown := set(formats) - set(RECORD_FORMATS):
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: expected {', '.join(RECORD_FORMATS)}")
    return formats


def make_config(args: argparse.Namespace) -> MatchConfig:
    """Turns the arguments into a match; raises the errors of what they name."""
    for name, least in LEAST.items():
        if (number := getattr(args, name)) is not None and number < least:
            raise TimeControlError(f"--{name.replace('_', '-')} {number}: expected at least {least}")
    for name in ("start_timeout", "move_timeout"):
        if not (seconds := getattr(args, name)) > 0:
            raise TimeControlError(f"--{name.replace('_', '-')} {seconds:g}: expected more than 0")
    common = TimeControl(args.time, args.inc, args.byoyomi, args.movetime, args.nodes, args.depth)
    openings = read_openings(args.openings, args.opening_plies) if args.openings else DEFAULT_OPENINGS
    sprt = None
    if args.sprt:
        sprt = Sprt(args.sprt[0], args.sprt[1], args.alpha, args.beta, args.sprt_model)
    return MatchConfig(
        engines=(make_engine(args, "1", common), make_engine(args, "2", common)),
        games=args.games + args.games % 2,
        openings=openings,
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
        concurrency=args.concurrency,
        sprt=sprt,
        max_failures=args.max_failures,
        directory=args.out or Path("runs") / f"match-{datetime.now():%Y%m%d-%H%M%S}",
        transcripts=args.transcripts,
        pin=args.pin,
        tuned=parse_ranges(args.tune),
    )


def make_engine(args: argparse.Namespace, side: str, common: TimeControl) -> EngineSpec:
    """Returns the engine of one side."""
    limits = common.merged(TimeControl.parse(getattr(args, f"limits{side}")))
    if limits.is_empty:
        raise TimeControlError(f"engine {side} has no limit: expected --nodes, --byoyomi, --time or the like")
    if 0 in (limits.movetime, limits.nodes, limits.depth):
        raise TimeControlError(f"engine {side} ({limits}) may do nothing: expected at least 1")
    if limits.has_clock and not limits.time and not limits.byoyomi:
        raise TimeControlError(
            f"engine {side} ({limits}) has no time for its first move: expected time or byoyomi"
        )
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


def describe(config: MatchConfig) -> str:
    """Returns what will be played, and what about it deserves a warning."""
    lines = []
    for side, engine in enumerate(config.engines, 1):
        options = " ".join(f"{name}={value}" for name, value in engine.options)
        lines.append(f"engine {side}: {shlex.join(engine.command)} {options} ({engine.limits})")
    lines.append(
        f"{config.games} games, {len(config.openings)} openings, concurrency {config.concurrency}, "
        f"referee {config.rules.library}, declaration {config.rules.declaration}, "
        f"max plies {config.rules.max_plies}"
    )
    for option in config.tuned:
        lines.append(f"tuned of engine 1: {option.name} from {option.low} to {option.high}")
    if config.engines[0] == config.engines[1] and not config.tuned:
        lines.append("warning: both engines are the same program with the same settings")
    if config.games > 2 * len(config.openings):
        lines.append("warning: more pairs than openings; engines at fixed nodes will repeat games")
    return "\n".join(lines)


def play(args: argparse.Namespace, config: MatchConfig) -> int:
    """Plays the match and prints how it goes; returns the exit status."""
    directory = config.directory
    assert directory is not None
    directory.mkdir(parents=True, exist_ok=True)
    formats: tuple[str, ...] = args.records
    console = Console()
    log = GameLog(directory / "games.jsonl", config.decisive())
    played_before = len(log.entries)
    print(describe(config))
    print(f"{directory}: " + (f"resuming after {played_before} games" if played_before else "new match"))
    start = time.monotonic()
    live = Live(console=console, auto_refresh=False) if console.is_terminal else None

    def on_game(entry: GameEntry) -> None:
        done = len(match.entries) - played_before
        left = (time.monotonic() - start) / done * max(0, config.games - len(match.entries))
        line = progress_line(match.entries, config.games, config.sprt, left)
        if live:
            live.update(Text(line), refresh=True)
        else:
            print(line, flush=True)
        if formats:
            write_records(entry, match.names, directory, formats)
        if entry.reason in (*FAILURES, Reason.TIME):
            text = f"game {entry.number + 1}: {entry.reason}: {entry.detail}"
            console.print(text, style="red", markup=False, highlight=False, soft_wrap=True)

    match = Match(config, log, on_game)
    status = 0
    try:
        if "usi" in formats:
            (directory / "games.usi").unlink(missing_ok=True)
        for earlier in match.entries if formats else ():  # Played without, or logged just before a kill.
            write_records(earlier, match.names, directory, formats)
        if live:
            with live:
                match.run()
        else:
            match.run()
    except KeyboardInterrupt:
        print("interrupted; the games under way are dropped")
        status = 130
    finally:
        log.close()
    failed = conclude(match, config, directory)
    return status or failed


def conclude(match: Match, config: MatchConfig, directory: Path) -> int:
    """Prints and writes what has come of the match; returns 1 if an engine has failed, else 0."""
    for warning in match.warnings:
        print(f"warning: {warning}")
    failures = sum(entry.reason in FAILURES for entry in match.entries)
    if failures >= config.max_failures and len(match.entries) < config.games:
        print(f"stopped after {failures} failures; --max-failures {failures + 10} goes on")
    print(report(match.names, match.entries, config.sprt))
    if config.tuned:
        try:
            print("\n".join(match.surface().lines()))
        except TuningError as error:
            print(f"tuning: {error}")
    result = summary(match.names, match.entries, config.sprt)
    (directory / "summary.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
