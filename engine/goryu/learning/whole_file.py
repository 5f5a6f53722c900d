"""A text file that is whole or not there, whenever the process is killed."""

from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Writes to a file beside, then renames: a kill in between leaves the old file whole."""
    beside = path.with_suffix(".tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
