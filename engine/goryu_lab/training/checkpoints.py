"""Writes the state of a training, and reads it."""

import io
from pathlib import Path
from typing import Any

import torch

from goryu.base.files import atomic_write
from goryu_lab.conversion.torch_checkpoint import read_checkpoint


def atomic_save(path: Path, state: Any) -> None:
    """Saves an object with `torch.save` so that a kill leaves the old file or the new one; raises OSError.

    It serializes in memory first: torch reports a full disk as a RuntimeError that does not name the cause.
    """
    buffer = io.BytesIO()
    torch.save(state, buffer)
    atomic_write(path, buffer.getvalue())


def load(path: Path) -> Any:
    """Returns what `atomic_save` has written, on the CPU.

    PyTorch refuses files that would execute code, but not those that would take all memory or all time. So
    our own reader looks first; it raises ConversionError. PyTorch may raise whatever its unpickling raises.
    """
    read_checkpoint(path)
    return torch.load(path, weights_only=True, map_location="cpu")
