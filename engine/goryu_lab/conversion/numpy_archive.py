"""Reads an archive of NumPy arrays (`.npz`), as Chainer's and dlshogi's serializers write it.

NumPy can store Python objects as pickles, which execute code when they are read; such members are refused. A
zip file may promise more than it holds: the sizes are checked before anything is unpacked, and the shape in
a member's header before memory is reserved for it.
"""

import io
import math
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goryu.base.zip_damage import ZIP_DAMAGE
from goryu_lab.conversion.tensors import ConversionError, check_size

MOST_MEMBERS = 10_000
MOST_DIMENSIONS = 8


def read_npz(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    """Returns the arrays by name.

    Raises:
        ConversionError: the file is damaged, too large, or holds something other than arrays of numbers.
        OSError: the file cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise ConversionError(f"{path}: {len(members)} members; expected at most {MOST_MEMBERS}")
            check_size(str(path), sum(member.file_size for member in members))
            return {
                member.filename.removesuffix(".npy"): _read_array(path, member, archive.read(member))
                for member in members
            }
    except ZIP_DAMAGE as error:
        raise ConversionError(f"{path}: a damaged NumPy archive ({error})") from error


def _read_array(path: Path, member: zipfile.ZipInfo, content: bytes) -> npt.NDArray[np.generic]:
    name = member.filename
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, is_fortran, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise ValueError(f"version {version} of the format")
    except (ValueError, SyntaxError, TypeError) as error:
        raise ConversionError(f"{path}: the member {name} is not a NumPy array ({error})") from error
    if dtype.hasobject:
        raise ConversionError(
            f"{path}: the member {name} holds Python objects, which can execute code; it is not read"
        )
    if dtype.kind not in "biuf":
        raise ConversionError(f"{path}: the member {name} has the type {dtype}; expected numbers")
    start = file.tell()
    count = math.prod(shape)
    is_shape = len(shape) <= MOST_DIMENSIONS and all(type(n) is int and n >= 0 for n in shape)
    if not is_shape or count * dtype.itemsize != len(content) - start:
        raise ConversionError(
            f"{path}: the member {name} has the shape {list(shape)} of {dtype} and "
            f"{len(content) - start} bytes; the file is damaged"
        )
    array = np.frombuffer(content, dtype, count, start)
    return array.reshape(shape, order="F" if is_fortran else "C")
