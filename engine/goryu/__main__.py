"""`goryu` or `python -m goryu`: the USI engine, or with a word behind it a command for people."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

from goryu import __version__

__all__ = ["main"]

COMMANDS = {
    "usi": "goryu.usi.loop:main",
    "play": "goryu.cli.play:main",
    "options": "goryu.usi.console:print_options",
    "doctor": "goryu.cli.doctor:main",
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


INTERRUPTED = 130
"""The exit status of a program that Ctrl-C has ended, in a shell."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; without arguments the command is `usi`."""
    command, *arguments = (sys.argv[1:] if argv is None else argv) or ["usi"]
    if sys.stdin is None:  # Closed by who started us: then there is no input,
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:  # and nobody to read the output.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        status = run(command, arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:  # While a command is being imported; later each knows what to do.
        return INTERRUPTED
    except BrokenPipeError:  # Who reads has seen enough: `goryu options | head`.
        write_no_more()
        return 1
    except (ImportError, OSError) as error:
        write_no_more()
        advice = " (goryu doctor says more)" if isinstance(error, ImportError) else ""
        print(f"goryu: {error}{advice}", file=sys.stderr)  # noqa: T201
        return 1
    return status


def run(command: str, arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit status."""
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
    status: int = getattr(import_module(module), function)(arguments)
    return status


def write_no_more() -> None:
    """Lets stdout lead nowhere, or what it still holds would fail again when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
