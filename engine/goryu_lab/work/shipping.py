"""Files on other computers: a checksum decides which file is meant, not a path.

The bytes travel with the work; the receiver keeps them in a folder named by their SHA-256, and checks them
again whenever it uses them. No folder has to be shared between the computers.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from goryu.base.files import atomic_write
from goryu_lab.work.seam import RefusedError


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file on the way: its path at the sender, its SHA-256 in hexadecimal digits, its bytes."""

    path: Path
    digest: str
    content: bytes

    @classmethod
    def of(cls, path: Path) -> "Parcel":
        """Reads a file; raises OSError."""
        content = path.read_bytes()
        return cls(path, sha256(content).hexdigest(), content)


def unpack(parcel: Parcel, store: Path | None = None) -> Path:
    """Returns the path of the file here, under the same name; writes it unless it is there and unharmed.

    store: the folder of all such files; None: one in the system's folder for temporary files.

    Raises RefusedError if the bytes are not those that were sent.
    """
    if sha256(parcel.content).hexdigest() != parcel.digest:
        raise RefusedError(f"{parcel.path.name} has arrived damaged: expected SHA-256 {parcel.digest[:16]}")
    store = store or Path(tempfile.gettempdir()) / f"goryu-files-{_user()}"
    path = store / parcel.digest / parcel.path.name
    if not path.is_file() or sha256(path.read_bytes()).hexdigest() != parcel.digest:
        # Several workers of a computer may come here at once: each writes a file of its own.
        own = path.parent / str(os.getpid())
        own.mkdir(parents=True, exist_ok=True)
        try:
            atomic_write(own / path.name, parcel.content)
            (own / path.name).replace(path)
        finally:
            shutil.rmtree(own, ignore_errors=True)
    return path


def installed_files(words: Iterable[str]) -> dict[str, str]:
    """Returns the SHA-256 of every file that a word names: programs, networks, books.

    A word without a slash is looked up as a program. Python's own program is left out: its builds differ.
    """
    found = {}
    for word in words:
        path = shutil.which(word) or word
        if os.path.isfile(path) and not os.path.basename(path).startswith("python"):
            found[word] = sha256(Path(path).read_bytes()).hexdigest()
    return found


def check_installed(expected: Mapping[str, str]) -> None:
    """Raises RefusedError unless the files here have these checksums; from `installed_files` elsewhere."""
    here = installed_files(expected)
    for word, digest in expected.items():
        if word not in here:
            raise RefusedError(f"{word} is missing: install what the driver's computer has under this name")
        if here[word] != digest:
            raise RefusedError(
                f"{word} is another file: expected SHA-256 {digest[:16]}, found {here[word][:16]}"
            )


def _user() -> str:
    """Returns a word for this user, so that users of one computer do not share files."""
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
