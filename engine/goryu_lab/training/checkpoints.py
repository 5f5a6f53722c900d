"""Writes the state of a training."""

import io
from pathlib import Path
from typing import Any

import torch

from goryu.base.files import atomic_write


def atomic_save(path: Path, state: Any) -> None:
    """Saves an object with `torch.save` so that a kill leaves the old file or the new one; raises OSError.

    It serializes in memory first: torch reports a full disk as a RuntimeError that does not name the cause.
    """
    buffer = io.BytesIO()
    torch.save(state, buffer)
    atomic_write(path, buffer.getvalue())
