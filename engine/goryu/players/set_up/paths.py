"""Finds files that the user has named."""

from os.path import expanduser
from pathlib import Path

from goryu.base.files import decode


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


def read_settings(path: Path) -> tuple[str, str]:
    """Returns the text of a file that sets options, "" if it is missing; and why it cannot be read, or ""."""
    if is_special(path):
        return "", f"{path} is not a regular file"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return "", ""
    except OSError as error:
        return "", str(error)
    if b"\0" in content:  # UTF-16, which Windows calls Unicode, or a binary file.
        return "", f"{path} is neither UTF-8 nor Shift_JIS"
    return decode(content), ""
