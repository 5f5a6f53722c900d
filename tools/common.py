"""What the programs in tools/ share: argument types, missing extras, SIGTERM."""

import os
import shlex
import signal
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def positive(text: str) -> int:
    """Returns a number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r}: expected a number above 0")
    return int(text)


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
    try:
        words = shlex.split(text, posix=system != "nt")
    except ValueError as error:  # A quotation mark is missing.
        raise ArgumentTypeError(f"{text!r}: {error}") from error
    if system == "nt":
        words = [word[1:-1] if word.startswith('"') and word.endswith('"') else word for word in words]
    if not words:
        raise ArgumentTypeError(f"{text!r}: expected a program and its arguments")
    return tuple(words)


@contextmanager
def needs_extra(name: str) -> Iterator[None]:
    """Ends the program and says what installs it, if a package of others is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "goryu":
            raise
        sys.exit(f"{package} is not installed: python3 tools/dev.py setup {name}")


def interrupt_on_sigterm() -> None:
    """Raises KeyboardInterrupt on SIGTERM, so that files are closed and engines stopped."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
