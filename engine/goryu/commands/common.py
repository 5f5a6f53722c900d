"""Shared code of the programs: a frame for `main`, and types of arguments.

Options from dataclasses: `config_options.py`.

A program looks like this:

    def main(arguments: Sequence[str] | None = None) -> int:
        return program("goryu train", make_parser(), run, arguments, extra="train")

    def make_parser() -> argparse.ArgumentParser:
        parser = new_parser(__doc__)
        parser.add_argument("--games", type=positive, default=100, help="...")
        return parser

    def run(args: argparse.Namespace) -> int | None:
        from rich.table import Table  # Packages of extras are imported here, so that --help needs none.
"""

import argparse
import os
import shlex
import signal
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from goryu.base import standard_output
from goryu.base.arguments import ArgumentParser, in_range, whole_number
from goryu.base.config_fields import MOST, MOST_SEED, MOST_WHOLE, Range
from goryu.base.errors import GoryuError, explained
from goryu.base.installation import how_to_install
from goryu.base.language import tr
from goryu.players.set_up.model_path import named_model


class UsageError(GoryuError, ValueError):
    """Arguments that do not go together, or with which nothing can be done."""


def program(
    name: str,
    parser: argparse.ArgumentParser,
    run: Callable[[argparse.Namespace], int | None],
    arguments: Sequence[str] | None = None,
    *,
    extra: str = "tools",
    interrupted: str = "",
    starts_engines: bool = True,
) -> int:
    """Parses the command line, calls `run` and returns the exit status of the program.

    The status is what `run` returns (None: 0); 2 after a GoryuError, an OSError, or an ImportError of a
    module that exists, which is printed as one line "name: message"; 130 after Ctrl-C or SIGTERM; and 1 if
    nobody reads the output any more.

    name: what the user calls the program, "goryu match" or "fuzz.py"; it begins its usage and its errors.
    arguments: the words of the command line; None: those of this process.
    extra: the extra in pyproject.toml that installs the packages that `run` imports.
    interrupted: a message for the user after Ctrl-C, such as how to resume.
    starts_engines: then those of Goryu neither depend on what an earlier one has measured nor use a book.
    """
    parser.prog = name
    with needs_extra(name, extra):
        args = parser.parse_args(arguments)
    standard_output.accept_every_letter()
    interrupt_on_sigterm()
    if starts_engines:
        add_own_folder_to_path()
        os.environ.setdefault("GORYU_MEASURE", "off")
        os.environ.setdefault("GORYU_BOOK", "off")
    try:
        with needs_extra(name, extra):
            status = run(args) or 0
            sys.stdout.flush()
            return status
    except ModuleNotFoundError:  # Of Goryu itself: a defect.
        raise
    except (GoryuError, OSError, ImportError) as error:
        if standard_output.is_closed(error):  # As in `goryu book show FILE | head`.
            standard_output.discard()
            return 1
        print(f"{name}: {explained(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{name}: interrupted" + (f"; {interrupted}" if interrupted else ""), file=sys.stderr)
        return 130


def new_parser(description: str | None) -> ArgumentParser:
    """Returns the parser of a program. description: its module's docstring; `program` gives it its name."""
    return ArgumentParser("", description=description)


def add_model(parser: argparse._ActionsContainer) -> None:
    """Adds --model, the network with which the engine plays."""
    about = tr("network (default: the strongest one here)")
    parser.add_argument("--model", type=named_model, metavar="FILE.onnx", help=about)


def add_verb(
    verbs: "argparse._SubParsersAction[ArgumentParser]",
    name: str,
    run: Callable[[argparse.Namespace], int | None],
    text: str,
) -> ArgumentParser:
    """Returns the parser of a verb of a program; `run_verb` calls `run`. text: its help."""
    translated = tr(text)
    description = text[0].upper() + text[1:] + "." if translated == text else translated
    parser = verbs.add_parser(name, help=text, description=description)
    parser.set_defaults(verb=run)
    return parser


def run_verb(args: argparse.Namespace) -> int | None:
    """Runs the verb that the arguments name."""
    status: int | None = args.verb(args)
    return status


@contextmanager
def needs_extra(program_name: str, extra: str) -> Iterator[None]:
    """Ends the program with advice on what to install if a package outside Goryu is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "goryu":
            raise
        sys.exit(f"{program_name}: {package} is not installed: {how_to_install(extra)}")


def add_own_folder_to_path() -> None:
    """Lets `--engine1 goryu` find this installation's program: a virtual environment may be off the PATH."""
    folders = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([folders, os.path.dirname(sys.executable)])


def interrupt_on_sigterm() -> None:
    """Raises KeyboardInterrupt on SIGTERM, or SIGBREAK of Windows, to close files and stop engines."""
    for name in ("SIGTERM", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


# Types of arguments, for `add_argument(type=...)`. The messages follow argparse's "argument --option: ".


positive = whole_number(1, MOST_WHOLE)
non_negative = whole_number(0, MOST_WHOLE)
seed = whole_number(0, MOST_SEED)
above_zero = in_range(float, Range(0, MOST, is_open=True))
"""A number such as a temperature or of seconds."""

share = in_range(float, Range(0, 1))


def output_file(text: str) -> Path:
    """Returns the path of a file that can be written: its folder exists, and it is no folder."""
    path = Path(text)
    if not path.absolute().parent.is_dir():
        raise ArgumentTypeError(f"{text}: no such folder")
    if path.is_dir():
        raise ArgumentTypeError(f"{text}: a folder, expected a file")
    return path


def picture_file(text: str) -> Path:
    """Returns the path of a picture that matplotlib, of the extra [train] or [tools], can write."""
    from matplotlib.backend_bases import FigureCanvasBase

    path = output_file(text)
    suffixes = FigureCanvasBase.get_supported_filetypes()
    if path.suffix and path.suffix[1:].lower() not in suffixes:
        raise ArgumentTypeError(f"{text}: expected one of the endings {', '.join(sorted(suffixes))}")
    return path


def name_and_value(text: str) -> tuple[str, str]:
    """Splits `NAME=VALUE`; the value may be empty and may hold further signs of equality.

    >>> name_and_value("BookFile=a=b")
    ('BookFile', 'a=b')
    """
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ArgumentTypeError(f"{text!r}: expected NAME=VALUE")
    return name, value


def command_words(text: str, system: str = os.name) -> tuple[str, ...]:
    r"""Splits a command line into the program and its arguments.

    system: as in `os.name`. On Windows a backslash is no escape but part of a path.

    >>> command_words(r'"C:\My Engines\x.exe" usi', "nt")
    ('C:\\My Engines\\x.exe', 'usi')
    """
    if os.path.isfile(text):
        return (text,)  # The shell has removed the quotes around a path with blanks.
    try:
        words = shlex.split(text, posix=system != "nt")
    except ValueError as error:  # A quotation mark is missing.
        raise ArgumentTypeError(f"{text!r}: {error}") from error
    if system == "nt":
        words = [word[1:-1] if word.startswith('"') and word.endswith('"') else word for word in words]
    if not words:
        raise ArgumentTypeError(f"{text!r}: expected a program and its arguments")
    return tuple(words)
