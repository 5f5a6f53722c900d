"""Where a file that the user named lies."""

from os.path import expanduser
from pathlib import Path

__all__ = ["file_stamp", "named_file"]


def named_file(name: str, folder: str = "", *more: Path) -> Path:
    """Returns the first that is a file: in the folder, as named, in the folders `more`; else as named."""
    # Not Path's own, which raises for a name that only looks like a home: ~old.onnx
    named = Path(expanduser(name))
    places = [Path(expanduser(folder)) / named] if folder else []
    places += [named, *(other / named for other in more)]
    return next((place for place in places if place.is_file()), named)


def file_stamp(path: Path) -> tuple[int, int] | None:
    """Returns size and time of a file, which change with its content, or None if it cannot be looked at."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns
