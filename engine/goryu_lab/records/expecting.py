"""Reads files of earlier runs, which may be damaged: whatever goes wrong becomes one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goryu.base.errors import InputError, named


@contextmanager
def expecting(path: Path, what: str) -> Iterator[None]:
    """Turns errors in the context, except OSError, into an InputError: the file is not `what`."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # Unpickling another file raises whatever it likes.
        raise InputError(f"{path}: expected {what} ({named(error)})") from error
