"""The tensors of a foreign file: named arrays that are taken one by one, each with its expected shape.

Chainer and PyTorch name the same weights differently. All files are read with PyTorch's names
(`l1.weight`, `norm1.running_mean`), so that an architecture is described once.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from goryu.base.errors import GoryuError

Floats = npt.NDArray[np.float32]

MOST_BYTES = 2 << 30
"""The most bytes that the tensors of a file may have: five times the largest shogi network known today."""

_CHAINER = {
    "W": "weight",
    "b": "bias",
    "gamma": "weight",
    "beta": "bias",
    "avg_mean": "running_mean",
    "avg_var": "running_var",
    "N": "num_batches_tracked",
}
"""PyTorch's names of Chainer's parameters."""

COUNTERS = ("num_batches_tracked", "n_averaged")
"""Numbers that training keeps in addition to the weights."""


class ConversionError(GoryuError, ValueError):
    """A file that cannot be converted; the message says what was found and what was expected."""


class Tensors:
    """The tensors of a file, all float32. `take` gives each of them out once."""

    def __init__(self, source: str, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Raises ConversionError if a tensor is not made of finite floats."""
        self.source = source
        self._arrays: dict[str, Floats] = {}
        for name, array in arrays.items():
            if name.rpartition(".")[2] in COUNTERS:
                continue
            if array.dtype.kind != "f":
                raise ConversionError(f"{source}: {name} has the type {array.dtype}; expected floats")
            if not np.isfinite(array).all():
                raise ConversionError(f"{source}: {name} has numbers that are not finite")
            self._arrays[name] = array.astype(np.float32)
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def shape(self, name: str) -> tuple[int, ...]:
        """Returns the shape of a tensor; raises ConversionError if there is none of that name."""
        if name not in self._arrays:
            raise ConversionError(f"{self.source}: expected a tensor {name}; found {self.listing()}")
        return self._arrays[name].shape

    def outputs(self, name: str) -> int:
        """Returns how many outputs a layer has, from its weights; raises ConversionError if they are none."""
        shape = self.shape(name)
        if len(shape) < 2:
            raise ConversionError(f"{self.source}: {name} has the shape {list(shape)}; expected weights")
        return shape[0]

    def take(self, name: str, *shape: int) -> Floats:
        """Returns a tensor; raises ConversionError if there is none of that name and shape."""
        found = self.shape(name)
        if found != shape:
            raise ConversionError(
                f"{self.source}: {name} has the shape {list(found)}; expected {list(shape)}"
            )
        self._taken.add(name)
        return self._arrays[name]

    def take_if_there(self, name: str, *shape: int) -> Floats | None:
        """Returns a tensor, or None if there is none of that name."""
        return self.take(name, *shape) if name in self else None

    def ignore(self, part: str) -> None:
        """Marks the tensors whose names contain `part` as taken: they do not matter for the outputs."""
        self._taken |= {name for name in self._arrays if part in name}

    def check_all_taken(self) -> None:
        """Raises ConversionError if there are tensors left: the network has unknown layers."""
        if left := [name for name in self._arrays if name not in self._taken]:
            raise ConversionError(
                f"{self.source}: the network has layers that Goryu does not know: {_listed(left)}"
            )

    def listing(self, most: int = 12) -> str:
        """Returns names and shapes of the first tensors, for messages."""
        shapes = (f"{name} {list(array.shape)}" for name, array in self._arrays.items())
        return _listed(shapes, most) or "none"


def from_chainer(name: str) -> str:
    """Returns PyTorch's name of a parameter in a Chainer snapshot.

    >>> from_chainer("b1/bn2/avg_mean")
    'b1.bn2.running_mean'
    """
    *path, last = name.strip("/").split("/")
    return ".".join([*path, _CHAINER.get(last, last)])


def check_size(source: str, count: int) -> None:
    """Raises ConversionError if the tensors of a file have more than `MOST_BYTES` bytes."""
    if count > MOST_BYTES:
        raise ConversionError(
            f"{source}: its tensors would take {count / 2**20:.0f} MiB; expected at most {MOST_BYTES >> 20}"
        )


def _listed(names: Iterable[str], most: int = 12) -> str:
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
