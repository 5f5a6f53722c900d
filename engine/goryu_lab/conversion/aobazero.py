"""AobaZero's weights: a text of numbers, usually compressed as .xz or .gz.

The first line is the version: 2 for ReLU, 3 for swish. Each other line has the numbers of one tensor. A
convolution has four lines, its weights, its biases, and the mean and the variance of its normalisation, both
multiplied by 999.982. The lines are: the first convolution, two for each residual block, the policy's 1x1
convolution with its normalisation and another without, the value's 1x1 convolution, and two dense layers.

The policy has 139 planes of 81 squares, or 27 in later networks; the value is a tanh.

Source: AobaZero (Team AobaZero), `Network.cpp`, `nnet-cpu.cpp` and `learn/*.prototxt`, a descendant of Leela
Zero. This description follows the sources; we had no published file to compare with.
"""

import gzip
import lzma
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from goryu_lab.conversion.network import (
    Activation,
    Architecture,
    Convolution,
    Dense,
    Normalization,
    Operations,
    T,
)
from goryu_lab.conversion.tensors import ConversionError, Floats, check_size

AOBAZERO = "aobazero"
PLANES, SQUARES = 362, 81
MOVE_PLANES = (139, 27)

ACTIVATIONS: dict[bytes, Activation] = {b"2": "relu", b"3": "swish"}
"""By the version in the first line."""

BATCH_NORM_FACTOR = np.float32(1 / 999.982)
EPSILON = 1e-5

STEM_LINES, BLOCK_LINES, HEAD_LINES = 4, 8, 14
MOST_LINES = 4096
MOST_LINE_BYTES = 256 << 20
"""A tensor of 256 x 256 x 3 x 3 numbers takes 4 MB."""

XZ, GZIP = b"\xfd7zXZ", b"\x1f\x8b"
"""The first bytes of compressed files."""


def recognizes(start: bytes) -> bool:
    """May a file that begins with these bytes be AobaZero's weights? Other files are compressed too."""
    return start.startswith((XZ, GZIP, *(version + end for version in ACTIVATIONS for end in (b"\n", b"\r"))))


def read_aobazero(path: Path) -> Architecture:
    """Returns the network of a weight file.

    Raises:
        ConversionError: the file is damaged or of another kind.
        OSError: the file cannot be read.
    """
    try:
        with _open(path) as file:
            activation, rows = _read_rows(path, file)
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
        raise ConversionError(f"{path}: a damaged compressed file ({error})") from error
    return _architecture(str(path), activation, rows)


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith(XZ):
        return lzma.open(path)
    if start.startswith(GZIP):
        return gzip.open(path)
    return path.open("rb")


def _read_rows(path: Path, file: IO[bytes] | gzip.GzipFile) -> tuple[Activation, list[Floats]]:
    """Returns the activation and the numbers of each line."""
    version = file.readline(100).strip()
    if version not in ACTIVATIONS:
        raise ConversionError(
            f"{path}: the first line is {version[:20]!r}; expected the version of AobaZero's weights, 2 or 3"
        )
    rows: list[Floats] = []
    count = 0
    for line in _lines(path, file):
        try:
            row = np.array(line.split(), np.float32)
        except ValueError as error:
            raise ConversionError(f"{path}: line {len(rows) + 2} has no list of numbers ({error})") from error
        count += row.nbytes
        check_size(str(path), count)
        if not np.isfinite(row).all():
            raise ConversionError(f"{path}: line {len(rows) + 2} has numbers that are not finite")
        rows.append(row)
    return ACTIVATIONS[version], rows


def _lines(path: Path, file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    for number in range(MOST_LINES + 1):
        line = file.readline(MOST_LINE_BYTES)
        if not line.strip():
            return
        if number == MOST_LINES or len(line) == MOST_LINE_BYTES:
            raise ConversionError(f"{path}: too many or too long lines for AobaZero's weights")
        yield line


class _Rows:
    """The lines of a file, taken in order, each with its expected length."""

    def __init__(self, source: str, rows: Sequence[Floats]) -> None:
        self._source = source
        self._rows = rows
        self._next = 0

    def peek(self, offset: int) -> int:
        """Returns the length of a line after the next one."""
        return len(self._rows[self._next + offset])

    def take(self, *shape: int) -> Floats:
        """Returns the next line in this shape."""
        row = self._rows[self._next]
        if row.size != np.prod(shape, dtype=np.int64):
            raise ConversionError(
                f"{self._source}: line {self._next + 2} has {row.size} numbers; expected {list(shape)}"
            )
        self._next += 1
        return row.reshape(shape)

    def convolution(self, inputs: int, kernel: int) -> Convolution:
        outputs = self.peek(1)
        return Convolution(self.take(outputs, inputs, kernel, kernel), self.take(outputs))

    def normalization(self, channels: int) -> Normalization:
        mean, variance = (self.take(channels) * BATCH_NORM_FACTOR for _ in range(2))
        if (variance < 0.0).any():
            raise ConversionError(f"{self._source}: line {self._next + 1} has a negative variance")
        ones, zeros = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        return Normalization(ones, zeros, mean, variance, EPSILON)

    def normalized(self, inputs: int, kernel: int) -> tuple[Convolution, Normalization]:
        convolution = self.convolution(inputs, kernel)
        return convolution, self.normalization(len(convolution.weight))

    def dense(self, inputs: int) -> Dense:
        outputs = self.peek(1)
        return Dense(self.take(outputs, inputs), self.take(outputs))


def _architecture(source: str, activation: Activation, lines: Sequence[Floats]) -> Architecture:
    blocks, rest = divmod(len(lines) - STEM_LINES - HEAD_LINES, BLOCK_LINES)
    if blocks < 0 or rest:
        raise ConversionError(
            f"{source}: {len(lines)} lines of numbers; expected {STEM_LINES + HEAD_LINES} and "
            f"{BLOCK_LINES} more for each block"
        )
    rows = _Rows(source, lines)
    first, first_norm = rows.normalized(PLANES, 3)
    channels = len(first.weight)
    tower = [rows.normalized(channels, 3) for _ in range(2 * blocks)]
    policy, policy_norm = rows.normalized(channels, 1)
    moves = rows.convolution(len(policy.weight), 1)
    if len(moves.weight) not in MOVE_PLANES:
        raise ConversionError(f"{source}: a policy of {len(moves.weight)} planes; expected 139 or 27")
    value, value_norm = rows.normalized(channels, 1)
    hidden = rows.dense(SQUARES * len(value.weight))
    out = rows.dense(len(hidden.bias))
    if len(out.bias) != 1:
        raise ConversionError(f"{source}: a value of {len(out.bias)} numbers; expected 1")

    def forward(ops: Operations[T], inputs: Sequence[T], /) -> tuple[T, T]:
        x = ops.activate(ops.convolve([(inputs[0], first)], first_norm), activation)
        for i in range(0, len(tower), 2):
            one, two = tower[i], tower[i + 1]
            y = ops.activate(ops.convolve([(x, one[0])], one[1]), activation)
            x = ops.activate(ops.add(ops.convolve([(y, two[0])], two[1]), x), activation)
        y = ops.activate(ops.convolve([(x, policy)], policy_norm), activation)
        logits = ops.flatten(ops.convolve([(y, moves)]))
        y = ops.activate(ops.convolve([(x, value)], value_norm), activation)
        y = ops.dense(ops.activate(ops.dense(y, hidden), activation), out)
        return logits, ops.activate(y, "tanh")

    size = f"{blocks}x{channels} {activation}"
    labels = SQUARES * len(moves.weight)
    return Architecture(AOBAZERO, size, {"input": PLANES}, labels, forward)
