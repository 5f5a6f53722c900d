"""The language of messages for people at a terminal: Japanese where the locale is, else English.

Usage, anywhere in Goryu except in what the USI engine sends:

    from goryu.base.language import tr

    out.write(tr("{side} wins: {reason}", side=..., reason=...))

The English text is the key. The file locale/texts.ja.toml of the package that says it has the Japanese one,
with the same {fields}; add it there with the code (`tests/engine/base/test_language.py` finds every missing
text). Only literal texts can be found: write `tr("...")`, not `tr(variable)`, except for texts that a table
defines.

USI output stays English and ASCII whatever the locale is.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

PACKAGES = ("goryu", "goryu_page", "goryu_lab", "bootstrap")
"""The modules with a folder `locale` beside them: the three packages, and the set-up in tools/bootstrap.py.

The texts of a package are read when the first of them is wanted, and those of one that is not imported never.
"""

VARIABLES = ("GORYU_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""The environment variables that name the language; the first one that is set decides, as in POSIX."""

WINDOWS_JAPANESE = 0x11
"""The primary language of Windows' Japanese locales: the low ten bits of a LANGID."""


class _Filling(Formatter):
    """Fills in the fields of a text."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        one, bar, many = format_spec.partition("|")
        if bar:
            return one if value == 1 else many
        return super().format_field(value, format_spec)


_FILLING = _Filling()

_spoken: ContextVar[str] = ContextVar("goryu.base.language", default="")


@contextmanager
def speaking(name: str) -> Iterator[None]:
    """Chooses the language of messages, "ja" or "en", in this context instead of the environment.

    A task of asyncio inherits it; a thread does only through `contextvars.copy_context`.
    """
    token = _spoken.set(name)
    try:
        yield
    finally:
        _spoken.reset(token)


def language() -> str:
    """Returns "ja" or "en", the language of messages."""
    if spoken := _spoken.get():
        return spoken
    for name in VARIABLES:
        if text := os.environ.get(name, "").lower():
            return "ja" if text.startswith(("ja", "japanese")) else "en"
    return "ja" if _is_windows_japanese() else "en"


def plural(number: int, noun: str) -> str:
    """Returns a number with an English noun whose plural ends in s.

    >>> plural(1, "pair"), plural(0, "pair"), plural(2, "loss")
    ('1 pair', '0 pairs', '2 losses')
    """
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{ending}"


def tr(text: str, /, **values: object) -> str:
    """Returns the text in the user's language, with its {fields} filled in.

    A text without a translation is returned in English. Of {count:game|games} the first word stands for 1,
    the second for all other numbers.
    """
    if language() == "ja":
        text = japanese(text) or text
    return _FILLING.vformat(text, (), values) if values else text


def both(text: str) -> dict[str, str]:
    """Returns a text in both languages, for a view that shows either: {"en": ..., "ja": ...}."""
    return {"en": text, "ja": japanese(text) or text}


def either(english: str, japanese: str) -> str:
    """Returns the one of two texts that is in the user's language."""
    return japanese if language() == "ja" else english


def japanese(key: str, file: str = "texts") -> str | None:
    """Returns the Japanese text of a key, or None if no package has it.

    file: "texts", whose keys are the English texts; or "descriptions" of commands or "usi_options", whose
        keys are their names.
    """
    for package in PACKAGES:
        if package in sys.modules and (text := _catalogue(package, file).get(key)):
            return text
    return None


@cache
def _catalogue(package: str, file: str) -> dict[str, str]:
    """Returns the Japanese texts of a package by their keys; none if it has no such file."""
    import tomllib  # Here, because an English user needs none of it.

    path = Path(str(sys.modules[package].__file__)).with_name("locale") / f"{file}.ja.toml"
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def _is_windows_japanese() -> bool:
    """Is Windows' user interface Japanese?"""
    import ctypes

    windows: Any = getattr(ctypes, "windll", None)  # Only on Windows.
    return windows is not None and windows.kernel32.GetUserDefaultUILanguage() & 0x3FF == WINDOWS_JAPANESE
