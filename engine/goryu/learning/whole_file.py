"""A file that is whole or not there, whenever the process is killed."""

from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes to a file beside, then renames: a kill in between leaves the old file whole.

    What torch saves comes through memory: its own writing calls a full disk a RuntimeError, without its name.
    """
    beside = path.with_suffix(".tmp")
    if isinstance(content, bytes):
        beside.write_bytes(content)
    else:
        beside.write_text(content, encoding="utf-8")
    beside.replace(path)
