"""Reads the tensors of a PyTorch checkpoint without PyTorch, and without executing anything in it.

A checkpoint is a zip file with one pickle, which describes a tree of dictionaries and tensors, and one
uncompressed member for the numbers of each tensor. A pickle can call any function that it can name. Here it
can name only the harmless ones in `_ALLOWED`, which are our own, and everything else is refused; this is the
rule of `torch.load(weights_only=True)`.

Source: "Restricting Globals" in the documentation of Python's pickle; "Serialization semantics" in that of
PyTorch. Checkpoints of PyTorch before 1.6 (2020) have another form and are refused.
"""

import io
import math
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from goryu.base.zip_damage import ZIP_DAMAGE
from goryu_lab.conversion.tensors import ConversionError, check_size

Array = npt.NDArray[np.generic]

MOST_PICKLE_BYTES = 64 << 20
"""Far more than a description of tensors needs."""

_STORAGES = {
    "DoubleStorage": np.float64,
    "FloatStorage": np.float32,
    "HalfStorage": np.float16,
    "LongStorage": np.int64,
    "IntStorage": np.int32,
    "ShortStorage": np.int16,
    "CharStorage": np.int8,
    "ByteStorage": np.uint8,
    "BoolStorage": np.bool_,
}
"""NumPy's types of PyTorch's storages. bfloat16 is missing: NumPy has no such type."""


def read_checkpoint(path: Path) -> Any:
    """Returns the content of a checkpoint: dictionaries, lists, numbers, and arrays in place of tensors.

    Raises:
        ConversionError: the file is damaged, too large, too old, or would execute code.
        OSError: the file cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive)
    except ZIP_DAMAGE as error:
        raise ConversionError(
            f"{path}: expected a checkpoint of PyTorch 1.6 or newer; the file is damaged, or older "
            f"(then load it in PyTorch and save it again) ({error})"
        ) from error


def _read(path: Path, archive: zipfile.ZipFile) -> Any:
    names = [name for name in archive.namelist() if name.endswith("data.pkl")]
    if len(names) != 1:
        raise ConversionError(f"{path}: expected one data.pkl in a PyTorch checkpoint, found {len(names)}")
    if any(name.endswith("constants.pkl") for name in archive.namelist()):
        raise ConversionError(f"{path}: a TorchScript program; expected a checkpoint of weights")
    members = {member.filename: member for member in archive.infolist()}
    folder = names[0].removesuffix("data.pkl")
    check_size(str(path), sum(member.file_size for member in members.values()))
    if members[names[0]].file_size > MOST_PICKLE_BYTES:
        raise ConversionError(f"{path}: its data.pkl has {members[names[0]].file_size} bytes; a damaged file")
    try:
        order = archive.read(f"{folder}byteorder") if f"{folder}byteorder" in members else b"little"
        storages = _Storages(path, archive, folder, ">" if order == b"big" else "<")
        return _Unpickler(path, archive.read(names[0]), storages).load()
    except ConversionError:
        raise
    except Exception as error:  # zipfile's errors, and those of the functions that a damaged pickle calls.
        raise ConversionError(f"{path}: a damaged checkpoint ({type(error).__name__}: {error})") from error


class _Storages:
    """The members with the numbers of the tensors; each is read once."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, folder: str, order: Literal["<", ">"]) -> None:
        self._path = path
        self._archive = archive
        self._folder = folder
        self._order = order
        self._read: dict[str, Array] = {}

    def get(self, kind: str, key: object, count: object) -> Array:
        """Returns the `count` numbers of the storage `key`."""
        if kind not in _STORAGES:
            raise ConversionError(f"{self._path}: tensors of the type {kind} cannot be read; save float32")
        name = f"{self._folder}data/{key}"
        if name not in self._read:
            dtype = np.dtype(_STORAGES[kind]).newbyteorder(self._order)
            content = self._archive.read(name)
            if not isinstance(count, int) or len(content) != count * dtype.itemsize:
                raise ConversionError(
                    f"{self._path}: {name} has {len(content)} bytes; expected {count} numbers of {dtype}"
                )
            self._read[name] = np.frombuffer(content, dtype)
        return self._read[name]


class _Unpickler(pickle.Unpickler):
    """An unpickler that can name the functions of `_ALLOWED` only."""

    def __init__(self, path: Path, content: bytes, storages: _Storages) -> None:
        super().__init__(io.BytesIO(content))
        self._path = path
        self._storages = storages

    def find_class(self, module: str, name: str, /) -> Any:
        if module in ("torch", "torch.storage") and name.endswith("Storage"):
            return name  # A text: nothing can call it.
        if (module, name) in _ALLOWED:
            return _ALLOWED[module, name]
        raise ConversionError(
            f"{self._path}: the checkpoint asks for {module}.{name}, which could execute code; not read. "
            f"If you trust the file, load it in PyTorch and save only the weights: "
            f"torch.save(model.state_dict(), ...)"
        )

    def persistent_load(self, pid: Any, /) -> Array:
        if not isinstance(pid, tuple) or len(pid) != 5 or pid[0] != "storage":
            raise ConversionError(f"{self._path}: an unknown reference in the checkpoint; a damaged file")
        _, kind, key, _, count = pid
        return self._storages.get(str(kind), key, count)


def _tensor(storage: Array, offset: int, shape: Sequence[int], strides: Sequence[int], *_: object) -> Array:
    """Returns a view of a storage; `shape` and `strides` are in elements."""
    if not isinstance(storage, np.ndarray):
        raise ValueError("a tensor without numbers")
    numbers = (offset, *shape, *strides)
    size = math.prod(list(shape))
    if not all(isinstance(number, int) and number >= 0 for number in numbers) or len(shape) != len(strides):
        raise ValueError(f"a tensor of the shape {shape} and the strides {strides}")
    last = offset + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    # A stride of 0 would repeat numbers without limit.
    if size > storage.size or (size and last >= storage.size):
        raise ValueError(f"a tensor of the shape {list(shape)} in {storage.size} numbers")
    steps = [stride * storage.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(storage[offset:], tuple(shape), steps, writeable=False)


def _parameter(data: Array, *_: object) -> Array:
    return data


def _size(numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(numbers)


def _counter(*counts: Mapping[Any, int]) -> dict[Any, int]:
    return dict(*counts)


_ALLOWED: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): _counter,  # In the state of some schedules of the learning rate.
    ("torch", "Size"): _size,
    ("torch._utils", "_rebuild_tensor"): _tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
}


def weights_of(path: Path, checkpoint: Any, part: str = "") -> dict[str, Array]:
    """Returns the weights in a checkpoint by name: those in `part`, or in the usual places if it is "".

    dlshogi keeps the averaged weights of SWA in `swa_model`, but it updates their batch statistics only when
    the training ends. So `model` is preferred, as in dlshogi's own programs.

    Raises:
        ConversionError: there are no weights.
    """
    places = [part] if part else [*_PLACES, ""]
    for place in places:
        found = checkpoint.get(place) if place and isinstance(checkpoint, dict) else checkpoint
        arrays = _arrays(found) if isinstance(found, dict) else {}
        if arrays:
            return arrays
    raise ConversionError(
        f"{path}: expected weights, a dictionary of tensors in {' or '.join(filter(None, places))}; "
        f"found {_kind_of(checkpoint)}"
    )


_PLACES = ("model", "model_state_dict", "state_dict", "swa_model")


def _arrays(found: Mapping[Any, Any]) -> dict[str, Array]:
    return {
        str(name).removeprefix("module."): array
        for name, array in found.items()
        if isinstance(array, np.ndarray)
    }


def _kind_of(checkpoint: Any) -> str:
    if isinstance(checkpoint, dict):
        return f"a dictionary of {', '.join(map(str, list(checkpoint)[:8])) or 'nothing'}"
    return type(checkpoint).__name__
