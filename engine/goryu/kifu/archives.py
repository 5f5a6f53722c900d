"""Finds the game records in folders, archives and lists, one after the other.

An archive is a zip, tar, 7z or a file packed by gzip, bzip2 or xz; it may hold archives. The name of a record
within one is "ARCHIVE!MEMBER". Symbolic links to folders are not followed.
"""

import bz2
import gzip
import lzma
import os
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any

from goryu.base.errors import InputError
from goryu.base.installation import how_to_install
from goryu.base.language import tr
from goryu.base.printable import printable
from goryu.kifu.reading import MAX_BYTES, SUFFIXES, parse_records
from goryu.kifu.record import GameRecord, RecordError

MAX_NESTING = 4
"""Archives within archives are opened to this depth."""

MAX_ARCHIVES = 1000
"""So many archives within one file are opened."""

MAX_ARCHIVE_BYTES = 256 << 20
"""An archive within an archive may have this size when unpacked."""

MAX_SEVEN_ZIP_BYTES = 1 << 31
"""The members of a 7z archive may have this size when unpacked, all together."""

COPIED_BYTES = 1 << 20

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
ARCHIVE_SUFFIXES = (".zip", ".7z", *TAR_SUFFIXES)


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file that may hold games: its content, or why it could not be read.

    name: the path, or "ARCHIVE!MEMBER", with escapes for control characters.
    """

    name: str
    data: bytes = b""
    problem: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", printable(self.name))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A game of an archive, or what was found in its place.

    name: "PATH", "ARCHIVE!MEMBER", with "#2" for the second game of a file with several.
    game: None if the record is damaged. reason: why the game is left out; empty if it is kept.
    """

    name: str
    game: GameRecord | None
    reason: str = ""

    @property
    def is_kept(self) -> bool:
        """Is it a game that the filter and the search for duplicates kept?"""
        return self.game is not None and not self.reason


def read_candidates(files: Iterable[RecordFile]) -> Iterator[Candidate]:
    """Yields every game of the files; damaged ones with the reason, which names file and line."""
    for file in files:
        if file.problem:
            yield Candidate(file.name, None, f"{file.name}: {file.problem}")
            continue
        found = list(parse_records(file.data, file.name))
        for number, game in enumerate(found, 1):
            name = f"{file.name}#{number}" if len(found) > 1 else file.name
            if isinstance(game, RecordError):
                yield Candidate(name, None, str(game))
            else:
                yield Candidate(name, game)


def find_records(paths: Iterable[Path]) -> Iterator[RecordFile]:
    """Yields the records of files, folders and archives, each folder and archive in the order of its names.

    A file that the caller names is read whatever its suffix. Within folders and archives only files with the
    suffixes of records count. What cannot be read is yielded with its problem, and the rest goes on.

    Raises InputError if a path does not exist.
    """
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: {tr('no such file or folder')}")
        if path.is_dir():
            yield from _folder(path)
        else:
            yield from _file(path)


def count_files(paths: Iterable[Path]) -> int:
    """Returns how many files the paths hold; an archive counts as one."""
    return sum(sum(1 for _ in _files(path)) if path.is_dir() else 1 for path in paths)


def _files(folder: Path) -> Iterator[Path]:
    for base, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(base, name) for name in sorted(names))


def _folder(folder: Path) -> Iterator[RecordFile]:
    for path in _files(folder):
        if is_record(path.name) or is_archive(path.name):
            yield from _file(path)


def is_record(name: str) -> bool:
    """Has a file the suffix of a record, perhaps packed?"""
    return name.lower().removesuffix(".gz").removesuffix(".bz2").removesuffix(".xz").endswith(SUFFIXES)


def is_archive(name: str) -> bool:
    """Has a file the suffix of an archive?"""
    return name.lower().endswith(ARCHIVE_SUFFIXES)


def _file(path: Path) -> Iterator[RecordFile]:
    if not path.is_file():  # Opening a FIFO waits until another program writes into it.
        yield RecordFile(str(path), problem="not a regular file")
        return
    try:
        with path.open("rb") as file:
            yield from _opened(str(path), file, 0, count())
    except OSError as error:
        yield RecordFile(str(path), problem=error.strerror or str(error))


def _opened(name: str, file: IO[bytes], depth: int, archives: Iterator[int]) -> Iterator[RecordFile]:
    """Yields the records of an open file. depth: of archives around it. archives: counts those opened."""
    lower = name.lower()
    if is_archive(lower):
        if depth > MAX_NESTING:
            yield RecordFile(name, problem=f"expected archives in archives at most {MAX_NESTING} deep")
            return
        if next(archives) >= MAX_ARCHIVES:
            yield RecordFile(name, problem=f"expected at most {MAX_ARCHIVES} archives in an archive")
            return
        yield from _archive(name, file, depth, archives)
    elif lower.endswith(tuple(OPENERS)):
        yield _unpacked(name, file)
    else:
        yield _read(name, file)


def _read(name: str, file: IO[bytes]) -> RecordFile:
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        return RecordFile(name, problem=f"expected at most {MAX_BYTES >> 20} MiB")
    return RecordFile(name, data)


def _unpacked(name: str, file: IO[bytes]) -> RecordFile:
    suffix = Path(name).suffix.lower()
    try:
        with OPENERS[suffix](file) as content:
            return _read(name, content)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        return RecordFile(name, problem=f"a damaged archive: {error}")


def _archive(name: str, file: IO[bytes], depth: int, archives: Iterator[int]) -> Iterator[RecordFile]:
    lower = name.lower()
    members = _zip if lower.endswith(".zip") else _seven_zip if lower.endswith(".7z") else _tar
    try:
        for member, content in members(file):
            full = f"{name}!{member}"
            if isinstance(content, str):
                yield RecordFile(full, problem=content)
            else:
                yield from _opened(full, content, depth + 1, archives)
    except (OSError, EOFError, ValueError, RuntimeError, NotImplementedError) as error:
        yield RecordFile(name, problem=f"a damaged archive: {error}")
    except (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error) as error:
        yield RecordFile(name, problem=f"a damaged archive: {error}")


Members = Iterator[tuple[str, IO[bytes] | str]]
"""Names of members with their content, or with the reason why it cannot be read."""


def _wanted(member: str) -> bool:
    return is_record(member) or is_archive(member)


def _zip(file: IO[bytes]) -> Members:
    try:
        archive = zipfile.ZipFile(file, metadata_encoding="cp932")  # Names by Windows in Japan.
    except UnicodeDecodeError:
        archive = zipfile.ZipFile(file)
    with archive:
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            if info.is_dir() or not _wanted(info.filename):
                continue
            try:
                with archive.open(info) as member:
                    content = _bounded(member, info.filename)
            except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, EOFError, OSError) as error:
                yield info.filename, f"a damaged member: {error}"
                continue
            yield info.filename, content


def _bounded(member: IO[bytes], name: str) -> IO[bytes] | str:
    """Returns a copy of a member, in memory if it is small, or the reason why it is not read."""
    limit = MAX_ARCHIVE_BYTES if is_archive(name) else MAX_BYTES
    copy: IO[bytes] = tempfile.SpooledTemporaryFile(MAX_BYTES + 1)  # noqa: SIM115 (the caller reads it)
    while part := member.read(COPIED_BYTES):
        copy.write(part)
        if copy.tell() > limit:
            copy.close()
            return f"expected at most {limit >> 20} MiB"
    copy.seek(0)
    return copy


def _tar(file: IO[bytes]) -> Members:
    with tarfile.open(fileobj=file) as archive:
        for info in archive:
            if not info.isfile() or not _wanted(info.name):
                continue
            member = archive.extractfile(info)
            if member is not None:
                yield info.name, _bounded(member, info.name)


def _seven_zip(file: IO[bytes]) -> Members:
    """Unpacks a 7z archive into a temporary folder: its members cannot be read one by one at a fair speed."""
    try:
        import py7zr
    except ModuleNotFoundError:
        raise InputError(f"7z needs the package py7zr: {how_to_install('tools')}") from None
    with tempfile.TemporaryDirectory() as folder:
        try:
            with py7zr.SevenZipFile(file) as archive:
                names = sorted(info.filename for info in archive.list() if _is_plain(info))
                size = sum(info.uncompressed for info in archive.list())
                if size > MAX_SEVEN_ZIP_BYTES:
                    raise InputError(
                        f"expected at most {MAX_SEVEN_ZIP_BYTES >> 20} MiB unpacked, found {size >> 20}"
                    )
                archive.extract(folder, names)
        except (
            py7zr.exceptions.ArchiveError,
            py7zr.exceptions.UnsupportedCompressionMethodError,
            py7zr.exceptions.PasswordRequired,
        ) as error:
            raise InputError(str(error)) from error
        for name in names:
            path = Path(folder, name)
            if path.is_file():
                with path.open("rb") as member:
                    yield name, _bounded(member, name)


def _is_plain(info: object) -> bool:
    return not getattr(info, "is_directory", False) and _wanted(getattr(info, "filename", ""))
