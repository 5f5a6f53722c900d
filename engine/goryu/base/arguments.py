"""A parser of command lines that speaks the user's language.

argparse takes its own texts, such as "usage: " and its messages about wrong arguments, from `gettext`, which
looks at other variables than `language.py` and knows one language for all threads. So here argparse works in
English, and what it prints is translated: headings and help as they are, an error by the one of `ERRORS` that
it was made of. If another version of argparse has other texts, they stay English; a test compares them.
"""

import argparse
import re
import sys
from collections.abc import Callable, Container
from typing import Any, NoReturn, TypeVar

from goryu.base.config_fields import Range
from goryu.base.language import japanese, language, tr
from goryu.base.printable import columns

__all__ = ["ArgumentParser", "in_range", "whole_number"]

T = TypeVar("T", int, float)

_UNBROKEN = re.compile(r"（既定：[!-~ ]+）|[（「]*(?:[!-~]+|[^!-~]) *[、。）」：！？ーっゃゅょッャュョ]* *")
"""What stays on one line of a Japanese text: a default, or a letter or Latin word and the marks beside it."""


ERRORS = (
    "argument %(argument_name)s: %(message)s",
    "the following arguments are required: %s",
    "one of the arguments %s is required",
    "unrecognized arguments: %s",
    "expected one argument",
    "expected at most one argument",
    "expected at least one argument",
    "expected %s argument",
    "expected %s arguments",
    "ignored explicit argument %r",
    "invalid %(type)s value: %(value)r",
    "invalid choice: %(value)r (choose from %(choices)s)",
    "unknown parser %(parser_name)r (choices: %(choices)s)",
    "not allowed with argument %s",
    "ambiguous option: %(option)s could match %(matches)s",
    "unexpected option string: %s",
    "can't open '%(filename)s': %(error)s",
)
"""What argparse says of wrong arguments, as it stands there and in the catalogue."""

_FIELD = re.compile(r"%(?:\(\w+\))?[sr]")


class HelpFormatter(argparse.HelpFormatter):
    """Prints the usage, the help of options and the titles of groups in the user's language."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Adds the usage, after `prefix`."""
        super().add_usage(usage, actions, groups, tr("usage: ") if prefix is None else prefix)

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
        super().__init__(prog, **options)

    def format_help(self) -> str:
        """Returns the help, which begins with the usage."""
        english = self.description
        if language() == "ja":
            self.description = japanese(self.prog, "descriptions") or english
        try:
            return super().format_help()
        finally:
            self.description = english

    def error(self, message: str) -> NoReturn:
        """Prints the usage and the message, and ends the program with status 2."""
        self.print_usage(sys.stderr)
        texts = {"prog": self.prog, "message": translated_error(message)}
        self.exit(2, tr("%(prog)s: error: %(message)s\n") % texts)


def translated_error(message: str) -> str:
    """Returns a message of argparse in the user's language.

    >>> translated_error("argument --size: expected one argument")
    'argument --size: expected one argument'
    """
    for text in ERRORS:
        pattern = "(.*?)".join(map(re.escape, _FIELD.split(text)))
        if found := re.fullmatch(pattern, message, re.DOTALL):
            values = map(translated_error, found.groups())
            return _filled(tr(text), dict(zip(_FIELD.findall(text), values, strict=True)))
    return message


def _filled(text: str, fields: dict[str, str]) -> str:
    return _FIELD.sub(lambda field: fields[field[0]], text)


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
