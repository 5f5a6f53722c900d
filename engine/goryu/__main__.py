"""`goryu` or `python -m goryu`: the USI engine, or with a word behind it a command for people."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

from goryu import __version__

__all__ = ["main"]

COMMANDS = {
    "usi": "goryu.protocols.usi_loop:main",
    "play": "goryu.protocols.play:main",
    "options": "goryu.protocols.console:print_options",
    "doctor": "goryu.protocols.doctor:main",
}
"""Name of a command -> the function that runs it: `function(arguments) -> exit status`.

The functions are imported when they are asked for: `usiok` must come before anything heavy is loaded.
"""

HELP = """usage: goryu [usi | play | options | doctor] ...

  usi      the USI engine on stdin and stdout, for GUIs; also without a word
  play     a game at the terminal: goryu play --help
  options  every USI option with its default and meaning
  doctor   what is installed, what works, and what to do about the rest
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; without arguments the command is `usi`."""
    command, *arguments = (sys.argv[1:] if argv is None else argv) or ["usi"]
    if command == "--version":
        print(f"goryu {__version__}")  # noqa: T201
        return 0
    if {command, *(arguments if command in ("usi", "options") else ())} & {"-h", "--help"}:
        print(HELP, end="")  # noqa: T201
        return 0
    if command not in COMMANDS:
        print(f"goryu: no command {command!r}; there are: {', '.join(COMMANDS)}", file=sys.stderr)  # noqa: T201
        return 2
    if isinstance(sys.stdout, TextIOWrapper):
        # Into a file Windows writes the code page of the country, which lacks the letters of others.
        sys.stdout.reconfigure(errors="backslashreplace")
    module, function = COMMANDS[command].split(":")
    try:
        status: int = getattr(import_module(module), function)(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # Who reads has seen enough: `goryu options | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
