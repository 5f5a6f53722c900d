"""Finds files that the user has named."""

from os.path import expanduser
from pathlib import Path


def named_file(name: str, folder: str = "", *more: Path) -> Path:
    """Returns the first path that is a file: in `folder`, as named, in the folders `more`; else as named."""
    # Path.expanduser raises for a name that only looks like a home folder: ~old.onnx
    named = Path(expanduser(name))
    places = [Path(expanduser(folder)) / named] if folder else []
    places += [named, *(other / named for other in more)]
    return next((place for place in places if place.is_file()), named)


def file_stamp(path: Path) -> tuple[int, int] | None:
    """Returns size and time of a file, which change with its content, or None if they cannot be read."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns


def is_special(path: Path) -> bool:
    """Is there something at the path that is not a regular file? Opening a FIFO could block for ever."""
    return path.exists() and not path.is_file()
