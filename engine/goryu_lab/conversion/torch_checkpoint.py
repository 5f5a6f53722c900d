"""Reads the tensors of a PyTorch checkpoint without PyTorch, and without executing anything in it.

A checkpoint is a zip file with one pickle, which describes a tree of dictionaries and tensors, and one
uncompressed member for the numbers of each tensor. A pickle can call any function that it can name. Here it
can name only the harmless ones in `_ALLOWED`, which are our own, and everything else is refused; this is the
rule of `torch.load(weights_only=True)`.

A pickle of 300 bytes can also take all memory, or all time: a tuple that holds another one twice, 33 times
over, has 2^33 ends, and its hash visits each. So `_Unpickler` runs the pickle itself: the opcodes that
checkpoints have, and tuples that have no hash.

Source: "Restricting Globals" in the documentation of Python's pickle; "Serialization semantics" in that of
PyTorch. Checkpoints of PyTorch before 1.6 (2020) have another form and are refused.
"""

import math
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pickletools import genops
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from goryu.base.zip_damage import ZIP_DAMAGE
from goryu_lab.conversion.tensors import ConversionError, check_size

Array = npt.NDArray[np.generic]

MOST_PICKLE_BYTES = 1 << 20
"""Far more than a description of tensors needs: one has some 150 bytes."""

MOST_SHARED = 2
"""Tensors may take all numbers of the file so many times."""

MOST_NUMBER = 1 << 48
"""Of a shape, a stride or an offset."""

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
    if packed := [name for name, member in members.items() if member.compress_type != zipfile.ZIP_STORED]:
        raise ConversionError(f"{path}: {packed[0]} is packed, which PyTorch does not do; a damaged file")
    if members[names[0]].file_size > MOST_PICKLE_BYTES:
        raise ConversionError(f"{path}: its data.pkl has {members[names[0]].file_size} bytes; a damaged file")
    try:
        order = archive.read(f"{folder}byteorder") if f"{folder}byteorder" in members else b"little"
        storages = _Storages(path, archive, folder, ">" if order == b"big" else "<")
        return _Unpickler(path, archive.read(names[0]), storages).result
    except ConversionError:
        raise
    except Exception as error:  # zipfile's errors, and those of the functions that a damaged pickle calls.
        raise ConversionError(f"{path}: a damaged checkpoint ({type(error).__name__}: {error})") from error


class _Storages:
    """The members with the numbers of the tensors; each is read once. size: of all, in bytes."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, folder: str, order: Literal["<", ">"]) -> None:
        self.size = sum(member.file_size for member in archive.infolist())
        self._path = path
        self._archive = archive
        self._folder = folder
        self._order = order
        self._read: dict[str, Array] = {}

    def get(self, kind: str, key: str, count: object) -> Array:
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


class _Tuple(tuple[Any, ...]):
    """A tuple of a pickle. It is no key of a dictionary."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]


class _Unpickler:
    """A machine with a stack that runs a pickle, one opcode after the other; `result` is what it makes.

    Source: the docstrings of the opcodes in Python's pickletools.py.
    """

    def __init__(self, path: Path, content: bytes, storages: _Storages) -> None:
        self._path = path
        self._storages = storages
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}
        self._size = 0
        for opcode, value, _ in genops(content):
            self._run(opcode.name, value)
        (self.result,) = self._stack

    def _run(self, opcode: str, value: Any) -> None:
        stack = self._stack
        match opcode:
            case "PROTO" | "FRAME" | "STOP":
                pass
            case "MARK":
                self._marks.append(len(stack))
            case "NONE" | "NEWTRUE" | "NEWFALSE":
                stack.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[opcode])
            case "BININT" | "BININT1" | "BININT2" | "INT" | "LONG1" | "BINFLOAT":
                stack.append(value)
            case "STRING" | "BINUNICODE" | "SHORT_BINUNICODE" | "BINBYTES" | "SHORT_BINBYTES":
                stack.append(value)
            case "EMPTY_DICT" | "EMPTY_LIST" | "EMPTY_SET":
                stack.append({"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_SET": set}[opcode]())
            case "EMPTY_TUPLE" | "TUPLE1" | "TUPLE2" | "TUPLE3":
                stack.append(_Tuple(self._last(["EMPTY_TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"].index(opcode))))
            case "TUPLE":
                stack.append(_Tuple(self._marked()))
            case "APPEND" | "APPENDS":
                values = self._last(1) if opcode == "APPEND" else self._marked()
                stack[-1].extend(values)
            case "SETITEM" | "SETITEMS":
                values = self._last(2) if opcode == "SETITEM" else self._marked()
                stack[-1].update(zip(values[::2], values[1::2], strict=True))
            case "ADDITEMS":
                values = self._marked()
                stack[-1].update(values)
            case "BINPUT" | "LONG_BINPUT":
                self._memo[value] = stack[-1]
            case "MEMOIZE":
                self._memo[len(self._memo)] = stack[-1]
            case "BINGET" | "LONG_BINGET":
                stack.append(self._memo[value])
            case "GLOBAL":
                stack.append(self._named(*value.split(" ", 1)))
            case "INST":
                self._named(*value.split(" ", 1))
                raise ValueError("an object of an old kind")
            case "STACK_GLOBAL":
                stack.append(self._named(*self._last(2)))
            case "REDUCE":
                function, arguments = self._last(2)
                stack.append(self._bounded(function(*arguments)))
            case "BUILD":  # Attributes of an object, such as the versions in a dictionary of weights.
                stack.pop()
            case "BINPERSID":
                stack.append(self._stored(stack.pop()))
            case _:
                raise ValueError(f"the opcode {opcode}")

    def _bounded(self, made: Any) -> Any:
        """Returns what a function has made, unless the copies or the tensors are too many by now."""
        self._size += made.nbytes if isinstance(made, np.ndarray) else len(made)
        if self._size > MOST_SHARED * self._storages.size + MOST_PICKLE_BYTES:
            raise ValueError(f"it takes its numbers more than {MOST_SHARED} times")
        return made

    def _last(self, count: int) -> list[Any]:
        """Takes the last values from the stack; raises ValueError if the last mark has fewer above it."""
        start = len(self._stack) - count
        if start < (self._marks[-1] if self._marks else 0):
            raise ValueError("too few values")
        values = self._stack[start:]
        del self._stack[start:]
        return values

    def _marked(self) -> list[Any]:
        """Takes the values since the last mark."""
        return self._last(len(self._stack) - self._marks.pop())

    def _named(self, module: Any, name: Any) -> Any:
        """Returns what a pickle may name; raises ConversionError for everything else."""
        if module in ("torch", "torch.storage") and name.endswith("Storage"):
            return name  # A text: nothing can call it.
        if isinstance(module, str) and isinstance(name, str) and (module, name) in _ALLOWED:
            return _ALLOWED[module, name]
        raise ConversionError(
            f"{self._path}: the checkpoint asks for {module}.{name}, which could execute code; not read. "
            f"If you trust the file, load it in PyTorch and save only the weights: "
            f"torch.save(model.state_dict(), ...)"
        )

    def _stored(self, reference: Any) -> Array:
        if not isinstance(reference, tuple) or len(reference) != 5 or reference[0] != "storage":
            raise ConversionError(f"{self._path}: an unknown reference in the checkpoint; a damaged file")
        _, kind, key, _, count = reference
        if not isinstance(kind, str) or not isinstance(key, str):
            raise ConversionError(f"{self._path}: a tensor without the name of its numbers; a damaged file")
        return self._storages.get(kind, key, count)


def _tensor(storage: Array, offset: int, shape: Sequence[int], strides: Sequence[int], *_: object) -> Array:
    """Returns a view of a storage; `shape` and `strides` are in elements."""
    if not isinstance(storage, np.ndarray):
        raise ValueError("a tensor without numbers")
    if not all(map(_is_length, (offset, *shape, *strides))) or len(shape) != len(strides):
        shown = [[n if _is_length(n) else "?" for n in numbers] for numbers in (shape, strides)]
        raise ValueError(f"a tensor of the shape {shown[0]} and the strides {shown[1]}")
    size = math.prod(shape)
    last = offset + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    # A stride of 0 would repeat numbers without limit.
    if size > storage.size or (size and last >= storage.size):
        raise ValueError(f"a tensor of the shape {list(shape)} in {storage.size} numbers")
    steps = [stride * storage.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(storage[offset:], tuple(shape), steps, writeable=False)


def _is_length(number: object) -> bool:
    """Is it a whole number that a shape can have? Others may be too large to be shown."""
    return isinstance(number, int) and 0 <= number < MOST_NUMBER


def _parameter(data: Array, *_: object) -> Array:
    return data


def _size(numbers: Sequence[int]) -> _Tuple:
    return _Tuple(numbers)


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
        name.removeprefix("module."): array
        for name, array in found.items()
        if isinstance(array, np.ndarray) and isinstance(name, str)
    }


def _kind_of(checkpoint: Any) -> str:
    if isinstance(checkpoint, dict):
        names = [name for name in checkpoint if isinstance(name, str)]
        return f"a dictionary of {', '.join(names[:8]) or 'nothing'}"
    return type(checkpoint).__name__
