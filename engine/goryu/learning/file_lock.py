"""One writer for a file that several programs might append to."""

import sys
from typing import IO, Any

if sys.platform != "win32":
    import fcntl

__all__ = ["is_locked_by_us"]


def is_locked_by_us(file: IO[Any]) -> bool:
    """Tries to be the only program that writes to a file; returns whether it is (on Windows, always)."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
