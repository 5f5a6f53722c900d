"""Recognises a foreign file by its content and returns the network in it."""

import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from goryu.base.zip_damage import ZIP_DAMAGE
from goryu.evaluators.formats.base import ModelFormat, planes_of
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.dlshogi_planes import HAND_PLANES
from goryu.evaluators.formats.python_dlshogi2 import PythonDlshogi2Format
from goryu.evaluators.formats.value_scale import from_probability
from goryu.table.random_positions import random_positions
from goryu_lab.conversion import aobazero, dlshogi, first_book, second_book
from goryu_lab.conversion.activation import choose_activation
from goryu_lab.conversion.hdf5_file import read_hdf5
from goryu_lab.conversion.network import Activation, Architecture
from goryu_lab.conversion.numpy_archive import read_npz
from goryu_lab.conversion.tensors import ConversionError, Floats, Tensors, from_chainer
from goryu_lab.conversion.torch_checkpoint import read_checkpoint, weights_of

ONNX = b"\x08"
ZIP, HDF5, PICKLE = b"PK", b"\x89HDF\r\n\x1a\n", b"\x80"

STATISTICS_POSITIONS = 48
"""On which the activation is found."""

CHAINER_TRAINER = "updater.model:main."
"""Where a snapshot of Chainer's Trainer has the model."""


def is_onnx(path: Path) -> bool:
    """Does the file begin as ONNX files do, with the version of their format? Raises OSError."""
    with path.open("rb") as file:
        return file.read(1) == ONNX


def read_network(
    path: Path, activation: Activation | None = None, part: str = ""
) -> tuple[Architecture, list[str]]:
    """Returns the network in a file, and sentences about how it was read.

    activation: None to find it. part: the part of a PyTorch checkpoint that has the weights.

    Raises:
        ConversionError: the file is not of a known kind, damaged, or would execute code.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        start = file.read(16)
    if aobazero.recognizes(start):
        return aobazero.read_aobazero(path), []
    tensors = _read_tensors(path, start, part)
    if first_book.recognizes(tensors):
        return first_book.read_first_book(tensors), []
    for module, read in ((second_book, second_book.read_second_book), (dlshogi, dlshogi.read_dlshogi)):
        if module.recognizes(tensors):
            if activation:
                return read(tensors, activation), []
            network, sentence = choose_activation(str(path), partial(read, tensors), _real_planes)
            return network, [sentence]
    raise ConversionError(
        f"{path}: expected the weights of python-dlshogi (l1 ...), python-dlshogi2 (conv1, blocks, "
        f"policy_conv ...) or dlshogi (l1_1_1 ...); found {tensors.listing()}"
    )


def _read_tensors(path: Path, start: bytes, part: str) -> Tensors:
    if start.startswith(ZIP) and _is_torch(path):
        return Tensors(str(path), weights_of(path, read_checkpoint(path), part))
    if start.startswith(ZIP):
        arrays = read_npz(path)
    elif start.startswith(HDF5):
        arrays = read_hdf5(path)
    elif start.startswith(ONNX):
        raise ConversionError(f"{path}: an ONNX file; expected the weights of another program")
    elif start.startswith(PICKLE):
        raise ConversionError(
            f"{path}: a pickle, as PyTorch before 1.6 wrote it; it can execute code and is not read. "
            f"If you trust it, load it in PyTorch and save it again"
        )
    else:
        raise ConversionError(
            f"{path}: expected a Chainer snapshot (.npz, .h5), a PyTorch checkpoint (.pth) or AobaZero's "
            f"weights (.txt, .xz, .gz); it begins with {start!r}"
        )
    renamed = {from_chainer(name): array for name, array in arrays.items()}
    main = {
        name.removeprefix(CHAINER_TRAINER): array
        for name, array in renamed.items()
        if name.startswith(CHAINER_TRAINER)
    }
    return Tensors(str(path), main or renamed)


def _is_torch(path: Path) -> bool:
    """Does the zip file hold a pickle with a description of tensors?"""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.rpartition("/")[2] == "data.pkl" for name in archive.namelist())
    except ZIP_DAMAGE as error:
        raise ConversionError(f"{path}: a damaged zip file, PyTorch's or NumPy's ({error})") from error


def _real_planes(architecture: Architecture) -> Sequence[Floats]:
    """Returns the planes of real positions for a network of dlshogi or of the second book."""
    model_format: ModelFormat
    if architecture.format == dlshogi.DLSHOGI:
        planes = architecture.inputs["input2"]
        model_format = DlshogiFormat(from_probability, sees_nyugyoku=planes != HAND_PLANES)
    else:
        model_format = PythonDlshogi2Format("input", "policy", "value", from_probability)
    inputs = planes_of(model_format, random_positions(STATISTICS_POSITIONS))
    return [np.asarray(rows, np.float32) for rows in inputs]
