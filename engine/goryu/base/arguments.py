"""A parser of command lines that speaks the user's language.

argparse takes its own texts, such as "usage:" and its messages about wrong arguments, from `gettext`, whose
functions it has imported as `_` and `ngettext`. While a parser of this module works, argparse finds `tr`
under these names. (The files of gettext itself are binary, and it looks at other variables than
`language.py`.) If another version of argparse uses other names, its texts are English; a test compares them
with the catalogue.
"""

import argparse
import re
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from goryu.base.config_fields import Range
from goryu.base.language import japanese, language, tr
from goryu.base.printable import columns

__all__ = ["ArgumentParser", "in_range", "whole_number"]

T = TypeVar("T", int, float)

_UNBROKEN = re.compile(r"（既定：[!-~ ]+）|[（「]*(?:[!-~]+|[^!-~]) *[、。）」：！？ーっゃゅょッャュョ]* *")
"""What stays on one line of a Japanese text: a default, or a letter or Latin word and the marks beside it."""


class HelpFormatter(argparse.HelpFormatter):
    """Prints the help of options and the titles of groups in the user's language."""

    def start_section(self, heading: str | None) -> None:
        """Begins a group of options."""
        super().start_section(tr(heading) if heading else heading)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return translated_help(action.help, [*(action.choices or ())]) if action.help else action.help

    def _split_lines(self, text: str, width: int) -> list[str]:
        return super()._split_lines(text, width) if text.isascii() else wrapped(text, width)


class RawHelpFormatter(argparse.RawDescriptionHelpFormatter, HelpFormatter):
    """Also leaves the lines of a description as they are."""


def translated_help(text: str, choices: Container[str] = ()) -> str:
    """Returns the help of an option in the user's language; its default, at its end, is no part of the key.

    choices: what the user may write; such a default stays as it is.

    >>> translated_help("seed of the choice (default 1)")
    'seed of the choice (default 1)'
    """
    start, mark, value = text.partition(" (default ")
    if not mark or not value.endswith(")"):
        return tr(text)
    return tr(start) + tr(" (default {value})", value=value[:-1] if value[:-1] in choices else tr(value[:-1]))


def wrapped(text: str, width: int) -> list[str]:
    """Returns the lines of a Japanese text. width: columns of a terminal, where a Japanese letter takes two.

    >>> wrapped("端末で、playouts の数を（見る）。", 10)
    ['端末で、', 'playouts', 'の数を（見', 'る）。']
    """
    lines = [""]
    for part in _UNBROKEN.findall(" ".join(text.split())):
        if lines[-1] and columns((lines[-1] + part).rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


class ArgumentParser(argparse.ArgumentParser):
    """`argparse.ArgumentParser` whose help and errors are in the user's language.

    It accepts no abbreviated options, and prints a description of several lines as it is.
    """

    def __init__(self, prog: str, **options: Any) -> None:
        options.setdefault("allow_abbrev", False)
        is_raw = "\n" in (options.get("description") or "")
        options.setdefault("formatter_class", RawHelpFormatter if is_raw else HelpFormatter)
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
        english = self.description
        if language() == "ja":
            self.description = japanese(self.prog, "descriptions") or english
        try:
            with _translated():
                return super().format_help()
        finally:
            self.description = english

    def format_usage(self) -> str:
        """Returns the usage in a line or two."""
        with _translated():
            return super().format_usage()

    def error(self, message: str) -> NoReturn:
        """Prints the usage and the message, and ends the program with status 2."""
        with _translated():
            super().error(message)


def in_range(kind: type[T], numbers: Range) -> Callable[[str], T]:
    """Returns a type of arguments: the numbers of a range. kind: int or float.

    >>> in_range(float, Range(0, 1))("0.5")
    0.5
    >>> in_range(int, Range(1, 1000))("1001")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: 1001: expected at least 1 and at most 1000
    """

    def parse(text: str) -> T:
        shown = text
        try:
            if (number := kind(text)) in numbers:
                return number
        except ValueError:
            shown = repr(text)
        raise argparse.ArgumentTypeError(
            tr("{text}: expected {numbers}", text=shown, numbers=numbers.told(tr))
        )

    return parse


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Returns a type of arguments: the whole numbers from `least` to `most`."""
    return in_range(int, Range(least, most))


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
