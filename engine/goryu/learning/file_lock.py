"""One program at a time: for a file that several might append to, for the folder of a run."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

if sys.platform != "win32":
    import fcntl

__all__ = ["held_folder", "try_lock"]


def try_lock(file: IO[Any]) -> bool:
    """Takes the lock of a file if nobody has it; returns whether we hold it (Windows has none: always)."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Makes a folder and holds it for one run; raises BlockingIOError if another program holds it.

    A folder that it made goes again if the run leaves nothing there.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / "lock"
    with lock.open("a") as file:
        if not try_lock(file):
            raise BlockingIOError(f"{folder}: another program is at work there")
        try:
            yield
        finally:
            if is_new and list(folder.iterdir()) == [lock]:
                with suppress(OSError):  # Windows does not let go of an open file.
                    lock.unlink()
                    folder.rmdir()
