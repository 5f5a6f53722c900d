r"""Plays on a CSA server, such as floodgate, game after game, by itself.

    goryu csa floodgate.toml
    goryu csa floodgate.toml --games 10 --parallel 2

FILE names the server, the logins and the options of the engine; only you may be able to read it (chmod 600):

    host = "wdoor.c.u-tokyo.ac.jp"
    game = "floodgate-300-10F"
    [[login]]
    name = "your-name"
    password = "a-secret-of-yours"
    [options]
    Threads = 4

Ctrl-C ends the program after the games that are being played; a second one asks the server to interrupt them.
The records are CSA files that grow with every move.

Exit status: 0; 2 if the server refuses the login or the engine fails; 130 if games were interrupted.
"""

import argparse
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from goryu.base.language import tr
from goryu.base.printable import printable
from goryu.commands.common import UsageError, command_words, new_parser, positive, program
from goryu.commands.config_options import add_fields, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu.csa.client import Client, Tally
from goryu.csa.game import PlayConfig
from goryu.csa.settings import read_settings
from goryu.engines.usi_client import EngineSpec, Timeouts, UsiClient

GORYU = (sys.executable, "-m", "goryu")

START_S = 600.0
"""An engine may measure its threads and compile its network when it is started for the first time."""

POLL_S = 0.2
"""How often the main thread looks for Ctrl-C; Windows wakes no thread that waits longer."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu csa", make_parser(), run, arguments, starts_engines=False)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="server, logins and options of the engine, in TOML"
    )
    parser.add_argument(
        "--games", type=positive, metavar="N", help="end after so many games (default: no end)"
    )
    parser.add_argument(
        "--parallel", type=positive, default=1, metavar="N",
        help="games at a time; each needs a login of its own in the file (default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--engine", type=command_words, default=GORYU, metavar="CMD", help="another USI engine than Goryu"
    )
    add_fields(parser, PlayConfig)
    return parser


def run(args: argparse.Namespace) -> int:
    """Plays until there are enough games, or Ctrl-C; returns the exit status."""
    settings = read_settings(args.file)
    if args.parallel > len(settings.logins):
        raise UsageError(
            tr(
                "--parallel {count}: expected as many [[login]] in {path}, found {found}",
                count=args.parallel, path=args.file, found=len(settings.logins),
            )
        )  # fmt: skip
    config = from_arguments(PlayConfig, args)
    config.records.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=config.records):
        pass  # Now it is known that records can be written, not when a game has begun.
    spec = EngineSpec(args.engine, settings.options)
    # A grace before `stop` and one after it: an engine that hangs leaves a third of the margin.
    timeouts = Timeouts(start_timeout_s=START_S, grace_s=config.margin_ms / 3000)
    tally = Tally(args.games)
    with ProgressDisplay() as display:
        watch = Watch(display, tally)
        return play(
            [
                Client(
                    settings, login, UsiClient(spec, timeouts=timeouts), config, tally,
                    partial(watch.say, login.name), partial(watch.show, login.name),
                )
                for login in settings.logins[: args.parallel]
            ],
            partial(watch.say, "goryu csa"),
        )  # fmt: skip


class Watch:
    """Shows all clients: a line for each, the results, and above them what they say. Threads may share it."""

    def __init__(self, display: ProgressDisplay, tally: Tally) -> None:
        self._display, self._tally = display, tally
        self._lines: dict[str, str] = {}
        self._lock = threading.Lock()

    def say(self, name: str, text: str) -> None:
        """Prints a line that stays."""
        self._display.print(f"{datetime.now():%H:%M:%S} {name}: {text}")

    def show(self, name: str, line: str) -> None:
        """Shows the state of a client in place of its last one."""
        with self._lock:
            self._lines[name] = line
            self._display.below([f"{name}: {printable(line)}" for name, line in self._lines.items()])
            results = self._tally.results
            text = " ".join(f"{tr(result)} {results[result]}" for result in ("won", "lost", "drawn"))
            self._display.update(tr("games"), results.total(), self._tally.games, text)


def play(clients: Sequence[Client], say: Callable[[str], None]) -> int:
    """Runs the clients to their end or to Ctrl-C; returns the exit status, or raises the first error."""
    signals: list[int] = []
    wanted = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: signals.append(number)) for number in wanted]
    interrupts = 0
    try:
        with ThreadPoolExecutor(len(clients)) as pool:
            running = {pool.submit(client.run) for client in clients}
            failed: Future[None] | None = None
            while running:
                done, running = wait(running, POLL_S, FIRST_COMPLETED)
                failed = failed or next((one for one in done if one.exception()), None)
                asked = 2 if signal.SIGTERM in signals else len(signals)
                if failed or (asked and not interrupts):
                    for client in clients:
                        client.leave()
                if asked == 1 and not interrupts and running:
                    say(tr("ends after the games that are being played; Ctrl-C again interrupts them"))
                if asked >= 2 > interrupts:
                    for client in clients:
                        client.abort()
                interrupts = asked
    finally:
        for number, handler in zip(wanted, before, strict=True):
            signal.signal(number, handler)
    if failed:
        failed.result()
    return 130 if interrupts >= 2 else 0
