"""Standard output as programs in a pipe need it: it takes every letter, and its reader may go away."""

import errno
import os
import sys
from io import TextIOWrapper


def accept_every_letter() -> None:
    r"""Lets the output write letters that its encoding lacks, as escapes such as \xb1.

    In a file, Windows uses a code page that lacks the letters of other languages.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def is_closed(error: BaseException) -> bool:
    """Does the error say that nobody reads the output any more? Windows says it as EINVAL."""
    if isinstance(error, BrokenPipeError):
        return True
    return sys.platform == "win32" and getattr(error, "errno", 0) == errno.EINVAL and error.filename is None


def discard() -> None:
    """Discards all further output: flushing the rest at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
