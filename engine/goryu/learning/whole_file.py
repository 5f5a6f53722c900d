"""A file that is whole or not there, whenever the process is killed."""

import io
from pathlib import Path
from typing import Any

__all__ = ["save_whole", "write_whole"]


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes to a file beside, then renames: a kill in between leaves the old file whole."""
    beside = path.with_suffix(".tmp")
    if isinstance(content, bytes):
        beside.write_bytes(content)
    else:
        beside.write_text(content, encoding="utf-8")
    beside.replace(path)


def save_whole(path: Path, state: Any) -> None:
    """Saves with torch as `write_whole` writes.

    Through memory: torch's own writing calls a full disk a RuntimeError, without its name.
    """
    import torch  # Heavy; who writes text does without.

    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_whole(path, buffer.getvalue())
