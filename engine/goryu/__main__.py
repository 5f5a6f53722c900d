"""`goryu` or `python -m goryu`: the USI engine, or another command if one is named."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from goryu import __version__
from goryu.base import standard_output
from goryu.base.installation import how_to_install
from goryu.base.language import tr

__all__ = ["main"]


class Command(NamedTuple):
    """A command.

    function: "module:name"; it is called with the arguments and returns the exit status. Its module is
        imported when the command is run: `usiok` must come before heavy modules are loaded.
    about: what it does, for `goryu --help`. extra: the extra of the package that the command needs.
    """

    function: str
    about: str
    extra: str = ""


COMMANDS = {
    "usi": Command("goryu.usi.loop:main", "runs the USI engine on stdin and stdout, for GUIs; the default"),
    "play": Command("goryu.commands.play:main", "plays a game in the terminal"),
    "arena": Command("goryu.commands.arena:main", "plays games between algorithms, in a cross table"),
    "web": Command(
        "goryu_page.commands.web:main",
        "opens a page in the browser: play, review games, watch searches",
        "web",
    ),
    "csa": Command("goryu.commands.csa:main", "plays on a CSA server, such as floodgate"),
    "review": Command(
        "goryu.commands.review:main", "reviews game records: win rates, mistakes, what was better"
    ),
    "analysis": Command("goryu.commands.analysis:main", "analyses positions for programs, by lines of JSON"),
    "tsume": Command("goryu_page.commands.tsume:main", "solves mate problems, and makes them from games"),
    "tree": Command("goryu_page.commands.tree:main", "draws the tree of a search on any position"),
    "convert": Command(
        "goryu_lab.commands.convert:main", "turns a network of another program into an ONNX file", "convert"
    ),
    "download": Command("goryu.commands.download:main", "fetches a larger, stronger network"),
    "options": Command(
        "goryu.usi.console:print_options",
        "lists the USI options with values, default and meaning; goryu options NAME: only that one",
    ),
    "doctor": Command("goryu.commands.doctor:main", "checks the installation or a model, suggests fixes"),
    "match": Command(
        "goryu_lab.commands.match:main", "plays a match between two USI engines; Elo with its error", "tools"
    ),
    "move-test": Command(
        "goryu_lab.commands.move_test:main", "compares variants of an engine by single moves", "tools"
    ),
    "book": Command("goryu_lab.commands.book:main", "makes, shows, checks and joins opening books", "tools"),
    "bench": Command("goryu_lab.commands.bench:main", "measures the search and networks", "tools"),
    "records": Command(
        "goryu_lab.commands.records:main", "chooses and converts game records for training", "tools"
    ),
    "teach": Command("goryu_lab.commands.teach:main", "records training games of a USI engine", "tools"),
    "selfplay": Command(
        "goryu_lab.commands.training.selfplay:main", "records training games of a network", "train"
    ),
    "train": Command("goryu_lab.commands.training.train:main", "trains a network on training games", "train"),
    "evaluate": Command(
        "goryu_lab.commands.training.evaluate:main", "measures how well networks predict games", "tools"
    ),
    "learn": Command(
        "goryu_lab.commands.training.learn:main",
        "trains networks of the small games; measures the tutorials",
        "train",
    ),
}


def overview() -> str:
    """Returns what `goryu --help` prints."""
    lines = {
        name: f"  {name:<13} {tr(command.about)}" + (" *" if command.extra == "train" else "")
        for name, command in COMMANDS.items()
    }
    measures = [name for name, command in COMMANDS.items() if command.extra in ("tools", "train")]
    programs = "Programs for matches, measurements and training. They need more packages: {tools}"
    return "\n".join(
        [
            tr("usage: goryu [COMMAND] ..."),
            tr("Each prints its options with --help."),
            "",
            *(line for name, line in lines.items() if name not in measures),
            "",
            tr(programs, tools=how_to_install("tools")),
            tr("Those marked with * also need PyTorch: {train}", train=how_to_install("train")),
            "",
            *(lines[name] for name in measures),
            "",
        ]
    )


INTERRUPTED = 130
"""The exit status that shells expect of a program that was ended by Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command in `argv`, or `usi` if there is none; returns the exit status."""
    command, *arguments = (sys.argv[1:] if argv is None else argv) or ["usi"]
    # The parent process may have closed them.
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        status = run(command, arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:  # During the import of a command; later each handles it itself.
        return INTERRUPTED
    except (ImportError, OSError) as error:
        standard_output.discard()
        if standard_output.is_closed(error):  # As in `goryu options | head`.
            return 1
        advice = " (goryu doctor may show the cause)" if isinstance(error, ImportError) else ""
        print(f"goryu: {error}{advice}", file=sys.stderr)  # noqa: T201
        return 1
    return status


def run(command: str, arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit status."""
    if command == "--version":
        print(f"goryu {__version__}")  # noqa: T201
        return 0
    if {command, *(arguments if command == "options" else ())} & {"-h", "--help"}:
        print(overview(), end="")  # noqa: T201
        return 0
    if command not in COMMANDS:
        expected = ", ".join(COMMANDS)
        problem = tr("unknown command {name!r}; expected one of {expected}", name=command, expected=expected)
        print(f"goryu: {problem}", file=sys.stderr)  # noqa: T201
        return 2
    standard_output.accept_every_letter()
    module, function = COMMANDS[command].function.split(":")
    status: int = getattr(import_module(module), function)(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
