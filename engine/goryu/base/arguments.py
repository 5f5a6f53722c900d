"""A parser of command lines that speaks the user's language.

argparse takes its own texts, such as "usage:" and its messages about wrong arguments, from `gettext`, whose
functions it has imported as `_` and `ngettext`. While a parser of this module works, argparse finds `tr`
under these names. (The files of gettext itself are binary, and it looks at other variables than
`language.py`.) If another version of argparse uses other names, its texts are English; a test compares them
with the catalogue.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from goryu.base.language import tr

__all__ = ["ArgumentParser", "whole_number"]


class ArgumentParser(argparse.ArgumentParser):
    """`argparse.ArgumentParser` with headings and errors in the user's language."""

    def __init__(self, prog: str, **options: Any) -> None:
        with _translated():
            super().__init__(prog, **options)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Returns the arguments that are known, and the others."""
        with _translated():
            return super().parse_known_args(args, namespace)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Returns the arguments; prints what is wrong with them, and ends the program."""
        with _translated():
            return super().parse_args(args, namespace)

    def format_help(self) -> str:
        """Returns the help, which begins with the usage."""
        with _translated():
            return super().format_help()

    def format_usage(self) -> str:
        """Returns the usage in a line or two."""
        with _translated():
            return super().format_usage()

    def error(self, message: str) -> NoReturn:
        """Prints the usage and the message, and ends the program with status 2."""
        with _translated():
            super().error(message)


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Returns a type of arguments: the whole numbers from `least` to `most`.

    >>> whole_number(1, 1000)("0300")
    300
    >>> whole_number(1, 1000)("1001")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: 1001: expected a whole number from 1 to 1000
    """

    def parse(text: str) -> int:
        # int() refuses thousands of digits with an error of its own.
        is_whole = text.isascii() and text.isdecimal() and len(text) <= 20
        if not is_whole or not least <= int(text) <= most:
            expected = "{text}: expected a whole number from {least} to {most}"
            raise argparse.ArgumentTypeError(tr(expected, text=text, least=least, most=most))
        return int(text)

    return parse


@contextmanager
def _translated() -> Iterator[None]:
    """Lets argparse take its texts from `tr`."""
    names: dict[str, Any] = vars(argparse)
    english = names["_"], names["ngettext"]
    names["_"], names["ngettext"] = tr, _plural
    try:
        yield
    finally:
        names["_"], names["ngettext"] = english


def _plural(one: str, many: str, count: int) -> str:
    return tr(one if count == 1 else many)
