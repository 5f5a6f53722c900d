"""The language of messages for people at a terminal: Japanese where the locale is, else English.

Usage, anywhere in goryu except in what the USI engine sends:

    from goryu.base.language import tr

    out.write(tr("{side} wins: {reason}", side=..., reason=...))

The English text is the key. `japanese/` maps it to the Japanese one, with the same {fields}; add the
translation there with the code (`tests/engine/base/test_language.py` finds every missing text). Only literal
texts can be found: write `tr("...")`, not `tr(variable)`, except for texts that a table defines.

USI output stays English and ASCII whatever the locale is.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

VARIABLES = ("GORYU_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""The environment variables that name the language; the first one that is set decides, as in POSIX."""

WINDOWS_JAPANESE = 0x11
"""The primary language of Windows' Japanese locales: the low ten bits of a LANGID."""


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

    >>> plural(1, "pair"), plural(0, "pair")
    ('1 pair', '0 pairs')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def tr(text: str, /, **values: object) -> str:
    """Returns the text in the user's language, with its {fields} filled in.

    A text without a translation is returned in English.
    """
    if language() == "ja":
        text = _japanese().get(text, text)
    return text.format(**values) if values else text


def either(english: str, japanese: str) -> str:
    """Returns the one of two texts that is in the user's language."""
    return japanese if language() == "ja" else english


def japanese_description(command: str) -> str | None:
    """Returns what a command such as "goryu match" prints above its options in Japanese, if there is such."""
    from goryu.base.japanese import DESCRIPTIONS

    return DESCRIPTIONS.get(command)


@cache
def _japanese() -> dict[str, str]:
    from goryu.base.japanese import MESSAGES

    return MESSAGES


def _is_windows_japanese() -> bool:
    """Is Windows' user interface Japanese?"""
    import ctypes

    windows: Any = getattr(ctypes, "windll", None)  # Only on Windows.
    return windows is not None and windows.kernel32.GetUserDefaultUILanguage() & 0x3FF == WINDOWS_JAPANESE
