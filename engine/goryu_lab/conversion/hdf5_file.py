"""Reads an HDF5 file, as Chainer's `save_hdf5` writes it. Needs the package h5py (extra `convert`).

HDF5 can refer to other files: by external links, by external storage and by virtual datasets. Chainer uses
none of them, and a file that does is refused.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goryu_lab.conversion.tensors import ConversionError, check_size

MOST_OBJECTS = 10_000


def read_hdf5(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    """Returns the arrays by name, such as `l1/W`.

    Raises:
        ConversionError: h5py is missing, the file is damaged, too large, or refers to other files.
        OSError: the file cannot be read.
    """
    try:
        import h5py
    except ImportError as error:
        raise ConversionError(f"{path}: HDF5 files need the package h5py: pip install h5py") from error
    with path.open("rb"):  # h5py's error for a missing file does not look like one.
        pass
    try:
        with h5py.File(path, "r") as file:
            datasets = _datasets(path, file, "")
            check_size(str(path), sum(dataset.nbytes for dataset in datasets.values()))
            return {name: np.asarray(dataset[()]) for name, dataset in datasets.items()}
    except (OSError, RuntimeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise ConversionError(f"{path}: not an HDF5 file, or a damaged one ({error})") from error


def _datasets(path: Path, root: Any, prefix: str) -> dict[str, Any]:
    """Returns the datasets that hold numbers. A group that was seen before is a cycle of links."""
    import h5py

    found: dict[str, Any] = {}
    groups = [(prefix, root)]
    seen = {root.id.__hash__()}
    while groups:
        prefix, group = groups.pop()
        for name in group:
            if len(found) + len(seen) > MOST_OBJECTS:
                raise ConversionError(f"{path}: more than {MOST_OBJECTS} objects in the file")
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise ConversionError(f"{path}: {prefix}{name} is a link; expected the tensor itself")
            child = group[name]
            if isinstance(child, h5py.Group):
                if child.id.__hash__() in seen:
                    raise ConversionError(f"{path}: {prefix}{name} is a group inside itself")
                seen.add(child.id.__hash__())
                groups.append((f"{prefix}{name}/", child))
                continue
            if not isinstance(child, h5py.Dataset) or child.shape is None:
                continue
            if child.external or child.is_virtual:
                raise ConversionError(f"{path}: {prefix}{name} is in another file; expected it in this one")
            if child.dtype.kind not in "fiu":
                raise ConversionError(f"{path}: {prefix}{name} has the type {child.dtype}; expected numbers")
            found[f"{prefix}{name}"] = child
    return found
