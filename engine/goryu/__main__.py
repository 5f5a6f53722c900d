"""`goryu` or `python -m goryu`: the USI engine, or another command if one is named."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

from goryu import __version__
from goryu.language import either, tr

__all__ = ["main"]

COMMANDS = {
    "usi": "goryu.usi.loop:main",
    "play": "goryu.cli.play:main",
    "web": "goryu.web.command:main",
    "analyze": "goryu.cli.analyze:main",
    "tree": "goryu.cli.tree:main",
    "options": "goryu.usi.console:print_options",
    "doctor": "goryu.cli.doctor:main",
}
"""The function that runs each command: `function(arguments) -> exit status`.

A function is imported when its command is run: `usiok` must come before heavy modules are loaded.
"""

HELP = """usage: goryu [usi | play | web | analyze | tree | options | doctor] ...

  usi      runs the USI engine on stdin and stdout, for GUIs; the default; see goryu usi --help
  play     plays a game in the terminal; see goryu play --help
  web      opens a page in the browser: play, review games, watch searches; see goryu web --help
  analyze  reviews game records: win rates, mistakes, what was better; see goryu analyze --help
  tree     draws the tree of a search on any position; see goryu tree --help
  options  lists every USI option with its values, default and meaning
  doctor   checks the installation and suggests fixes
"""


JAPANESE_HELP = """使い方：goryu [usi | play | web | analyze | tree | options | doctor] ...

  usi      USIエンジンを標準入出力で動かす（GUI用、既定）。goryu usi --help
  play     端末で対局する。goryu play --help
  web      ブラウザで対局、棋譜の検討、探索の観察をする。goryu web --help
  analyze  棋譜を検討し、悪手を示す。goryu analyze --help
  tree     局面の探索木を図にする。goryu tree --help
  options  すべてのUSIオプションの値、既定値、意味を表示する
  doctor   インストールを調べ、直し方を示す
"""

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
    except BrokenPipeError:  # As in `goryu options | head`.
        discard_output()
        return 1
    except (ImportError, OSError) as error:
        discard_output()
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
        print(either(HELP, JAPANESE_HELP), end="")  # noqa: T201
        return 0
    if command not in COMMANDS:
        expected = ", ".join(COMMANDS)
        problem = tr("unknown command {name!r}; expected one of {expected}", name=command, expected=expected)
        print(f"goryu: {problem}", file=sys.stderr)  # noqa: T201
        return 2
    if isinstance(sys.stdout, TextIOWrapper):
        # In a file, Windows uses a code page that lacks the letters of other languages.
        sys.stdout.reconfigure(errors="backslashreplace")
    module, function = COMMANDS[command].split(":")
    status: int = getattr(import_module(module), function)(arguments)
    return status


def discard_output() -> None:
    """Discards all further output: flushing the rest at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
