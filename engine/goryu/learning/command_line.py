"""Values on the command lines of the tools, and what is said of wrong ones.

Each reads one text, as the `type` of an argument of argparse, which shows the words of an ArgumentTypeError
and of no other error.
"""

import os
import shlex
from argparse import ArgumentTypeError

__all__ = ["command_words", "name_and_value", "positive"]


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
