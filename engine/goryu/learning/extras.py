"""What a program says where packages of an extra are not installed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["needs_extra"]


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
