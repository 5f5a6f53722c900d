"""Writes PyTorch checkpoints for tests: by PyTorch if it is installed, or else in the same layout."""

import io
import pickle
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

try:
    import torch
except ImportError:
    torch = None

STORAGES = {"float32": "FloatStorage", "float16": "HalfStorage", "int64": "LongStorage"}


def save_checkpoint(path: Path, content: Any) -> Path:
    """Writes dictionaries of NumPy arrays as dictionaries of tensors."""
    if torch is None:
        path.write_bytes(_archive(content))
    else:
        torch.save(_map(content, lambda array: torch.from_numpy(np.array(array))), path)
    return path


def _map(content: Any, convert: Any) -> Any:
    if isinstance(content, dict):
        return type(content)((key, _map(value, convert)) for key, value in content.items())
    return convert(content) if isinstance(content, np.ndarray) else content


class _Tensor:
    def __init__(self, array: Any) -> None:
        self.array = array


class _Storage:
    def __init__(self, array: Any) -> None:
        self.array = array


def rebuild(*_: object) -> None:
    raise AssertionError


class _Pickler(pickle.Pickler):
    def __init__(self, file: Any) -> None:
        super().__init__(file, protocol=2)
        self.storages: list[Any] = []

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, _Storage):
            return None
        self.storages.append(obj.array)
        kind = getattr(sys.modules["torch"], STORAGES[str(obj.array.dtype)])
        return "storage", kind, str(len(self.storages) - 1), "cpu", obj.array.size

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, _Tensor):
            return NotImplemented
        array = obj.array
        strides = tuple(stride // array.itemsize for stride in array.strides)
        rebuild_tensor = sys.modules["torch._utils"]._rebuild_tensor_v2
        return rebuild_tensor, (_Storage(array), 0, array.shape, strides, False, {})


def _archive(content: Any) -> bytes:
    """Returns the bytes that torch.save would write, as far as readers depend on them."""
    names = {name: type(name, (), {"__module__": "torch"}) for name in STORAGES.values()}
    parent, utils = ModuleType("torch"), ModuleType("torch._utils")
    parent.__dict__.update(names)
    utils.__dict__["_rebuild_tensor_v2"] = rebuild
    rebuild.__module__, rebuild.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    file = io.BytesIO()
    pickler = _Pickler(file)
    before = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules.update({"torch": parent, "torch._utils": utils})
    try:
        pickler.dump(_map(content, lambda array: _Tensor(np.ascontiguousarray(array).reshape(array.shape))))
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as target:
        target.writestr("archive/data.pkl", file.getvalue())
        target.writestr("archive/byteorder", "little")
        for i, array in enumerate(pickler.storages):
            target.writestr(f"archive/data/{i}", array.tobytes())
        target.writestr("archive/version", "3\n")
    return archive.getvalue()
