"""Files that several programs may use and a kill must not damage: checks, atomic writes, locks."""

import errno
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from importlib import import_module
from io import FileIO
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from goryu.base.errors import InputError
from goryu.base.language import tr

if sys.platform != "win32":
    import fcntl

BUSY_S = 1.0
"""How long a file may be in use that is to be replaced."""

LOCKED_BYTE = 0x7FFFFFFE
"""The offset of the byte that is locked on Windows, where offsets may be limited to 31 bits."""


def decode(content: bytes) -> str:
    """Returns a text of the user: UTF-8, or the CP932 of Japanese Windows, or Latin-1.

    The byte order mark that .NET and some editors write before UTF-8 is removed.
    """
    for encoding in ("utf-8-sig", "cp932"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def home_folder() -> Path:
    """Returns the user's home folder; raises FileNotFoundError if there is none, as in some containers."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise FileNotFoundError("the user has no home folder; set HOME") from error


def cache_folder() -> Path:
    """Returns the folder for what Goryu can make again: in XDG_CACHE_HOME, or LOCALAPPDATA on Windows.

    It may not exist. Raises FileNotFoundError if the user has no home folder.
    """
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    return (Path(named) if os.path.isabs(named) else home_folder() / ".cache") / "goryu"


def config_folder() -> Path:
    """Returns the folder for what the user has set: in XDG_CONFIG_HOME, or APPDATA on Windows.

    It may not exist. Raises FileNotFoundError if the user has no home folder.
    """
    named = os.environ.get("APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME", "")
    return (Path(named) if os.path.isabs(named) else home_folder() / ".config") / "goryu"


def data_folder() -> Path:
    """Returns the folder for what the user cannot get back: in XDG_DATA_HOME, or LOCALAPPDATA on Windows.

    It may not exist. Raises FileNotFoundError if the user has no home folder.
    """
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME", "")
    return (Path(named) if os.path.isabs(named) else home_folder() / ".local" / "share") / "goryu"


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Raises InputError if a file that a program writes is also one that it reads, or is named twice.

    outputs, inputs: None for an option that was not given.
    """
    read, written = [path for path in inputs if path], list[Path]()
    for output in filter(None, outputs):
        if any(_is_same(output, path) for path in read):
            raise InputError(tr("{path} is also read: name another output", path=output))
        if any(_is_same(output, path) for path in written):
            raise InputError(tr("{path} is named for two outputs", path=output))
        written.append(output)


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)  # Unlike `resolve` it bears loops of links.


def check_writable(path: Path, *, makes_folders: bool = False) -> None:
    """Raises InputError if no file can be written at a path: it is a folder or a device, or in no folder.

    makes_folders: does the program make the folders that are missing?
    """
    if path.is_dir():
        raise InputError(tr("{path} is a folder: expected a file", path=path))
    if path.exists() and not path.is_file():
        raise InputError(tr("{path} is not a regular file", path=path))
    nearest = next(parent for parent in path.absolute().parents if parent.exists())
    if not nearest.is_dir():
        raise InputError(tr("{path}: {parent} is not a folder", path=path, parent=nearest))
    if nearest != path.absolute().parent and not makes_folders:
        raise InputError(tr("{path}: no such folder", path=path.parent))


def readable_name(name: str) -> str:
    r"""Returns the name of a file as text that can be written: bytes that are not UTF-8 become U+FFFD.

    Archives from Japanese Windows are often unpacked elsewhere with names in CP932.

    >>> ascii(readable_name(chr(0xDC8B) + ".kif"))
    "'\\ufffd.kif'"
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", name)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yields a temporary path in the same folder; renames it to `path` at the end, or deletes it on an error.

    A kill therefore leaves the old file or the new one. Raises OSError, which names `path`, if a write fails;
    `path` is then unchanged. A device such as /dev/null is refused: an administrator's program would replace
    it by a file.
    """
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "not a regular file", str(path))
    _remove_leftovers(path)
    # Another program may write the same file now. The suffix stays, by which some writers choose the format.
    temporary = path.with_name(f"unfinished-{token_hex(4)}-{path.name}")
    try:
        yield temporary
        _replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and _is_of_write(error, temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _replace(temporary: Path, path: Path) -> None:
    """Renames a file. Windows replaces none that is open, if only for a moment by a virus scanner."""
    end_s = time.monotonic() + BUSY_S
    while True:
        try:
            temporary.replace(path)
            return
        except PermissionError:
            if os.name != "nt" or time.monotonic() >= end_s:
                raise
            time.sleep(0.02)


def append_through(file: IO[bytes] | FileIO, data: bytes, path: Path | str) -> None:
    """Writes to a file without a buffer, and waits for the disk; an OSError names the path."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _remove_leftovers(path: Path) -> None:
    """Removes what killed programs left of a file more than a day ago."""
    yesterday_s = time.time() - 24 * 60 * 60
    for leftover in path.parent.glob(f"unfinished-????????-{escape(path.name)}"):
        with suppress(OSError):  # Another program removes it, too.
            if leftover.stat().st_mtime < yesterday_s:
                leftover.unlink()


def _is_of_write(error: OSError, temporary: Path) -> bool:
    """Is it an error of writing the file? A full disk is reported without a name."""
    named = error.filename is not None and str(error.filename) == str(temporary)
    return named or (error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


def atomic_write(path: Path, content: str | bytes) -> None:
    """Writes a file so that a kill leaves the old one or the new one; text is written as UTF-8.

    Raises OSError; `path` is then unchanged.
    """
    with atomic_path(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def try_lock(file: IO[Any]) -> bool:
    """Locks an open file until it is closed; returns False if another program holds the lock."""
    if sys.platform == "win32":
        return _try_lock_byte(file.fileno())
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_byte(descriptor: int) -> bool:
    """Locks one byte of a file on Windows, far behind its end: no program can read or write a locked byte."""
    msvcrt: Any = import_module("msvcrt")
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)
    return True


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Creates a folder and locks it for one run; raises BlockingIOError if another program holds it.

    If the run leaves nothing in a folder that it created, the folder is removed.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / "lock"
    try:
        with lock.open("a") as file:
            if not try_lock(file):
                raise BlockingIOError(f"{folder}: another program is using this folder")
            try:
                yield
            finally:
                if is_new and os.name != "nt":
                    _remove_unused(folder, lock)
    finally:
        if is_new and os.name == "nt":  # It deletes no open file.
            _remove_unused(folder, lock)


def _remove_unused(folder: Path, lock: Path) -> None:
    if list(folder.iterdir()) == [lock]:
        with suppress(OSError):
            lock.unlink()
            folder.rmdir()
