"""Positions as bits: what a device receives, and the graph that turns them into planes there.

Nearly all planes of a position are zeros and ones, but a network reads them as floats: 38,556 bytes for the
62 + 57 planes of the dlshogi format. As bits they are 636 bytes. The graph is changed when a model is loaded:
a table of 256 bytes x 8 bits unpacks the positions, and instead of all logits only those of the legal moves
are returned, by the labels that come with the positions.

A format says which of its planes are equal on all squares, and which of these hold other numbers
(`TensorSpec`). A row of bits has all planes with different squares, in the order of the planes through both
inputs; then the planes of counts four times: is a count at least 1/4, 2/4, 3/4, 1? All this is filled up to a
whole byte; then one bit for each plane with equal squares follows. The first element of a byte is its lowest
bit. Planes of other numbers travel as one float each, in a second row. This module is the reference; native
code writes the same (`native/core/plane_row.h`).

    bytes of a position     planes      as bits and floats
    dlshogi                 38,556      636, with 119 planes in the second input 643
    python-dlshogi, -2      33,696      294
    nshogi                  27,864      307, with 93 planes 343
    aobazero                117,288     2,724: it sends its past, too
    miniosl                 57,024      2,090

Source: dlshogi packs its planes likewise, and unpacks them by a CUDA kernel of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import LEVELS, Array, ModelFormat, TensorSpec
from goryu.evaluators.formats.miniosl import MinioslFormat
from goryu.evaluators.formats.onnx_edit import ELEMENT_TYPES, Axis, GraphEdit, edited, node, opset_of

SQUARES = 81
PACKED, NUMBERS, LABELS = "goryu_packed", "goryu_numbers", "goryu_labels"
"""The inputs of a packed model: uint8 [N, bytes], float32 [N, numbers] if there are any, int32 [N, M].

A label of row i is i * (length of the policy) + the label of a move: the graph has all logits of a batch in
one line.
"""
LOGITS, VALUE, DRAW = "goryu_logits", "goryu_value", "goryu_draw"
"""Its outputs: float32 [N, M], [N], and [N] for a format with two value outputs."""

FIRST_OPSET_WITH_SLICE_INPUTS = 10


@dataclass(frozen=True, slots=True)
class PackedLayout:
    """Where the planes of a position are in its rows.

    squares, counts, uniform, numbers: the planes with a bit for each square, with a bit for each square and
        level, with one bit, and with a float; planes are numbered through both inputs.
    """

    squares: tuple[int, ...]
    counts: tuple[int, ...]
    uniform: tuple[int, ...]
    numbers: tuple[int, ...]

    @property
    def level_bits(self) -> int:
        """The bits of a level of all planes of counts."""
        return SQUARES * len(self.counts)

    @property
    def square_bytes(self) -> int:
        """The bytes of the planes with bits for all squares."""
        return -(-(len(self.squares) * SQUARES + LEVELS * self.level_bits) // 8)

    @property
    def bytes(self) -> int:
        """The length of a row of bits."""
        return self.square_bytes - (-len(self.uniform) // 8)

    @property
    def places(self) -> list[int]:
        """By plane: its first bit in the row of bits, or -1 - n for the n-th float."""
        places = {plane: SQUARES * i for i, plane in enumerate(self.squares + self.counts)}
        places |= {plane: 8 * self.square_bytes + i for i, plane in enumerate(self.uniform)}
        places |= {plane: -1 - i for i, plane in enumerate(self.numbers)}
        return [places[plane] for plane in range(len(places))]


def packed_layout(model_format: ModelFormat) -> PackedLayout:
    """Returns where a format's planes are in the rows of a position."""
    squares: list[int] = []
    counts: list[int] = []
    uniform: list[int] = []
    numbers: list[int] = []
    for spec, first in zip(model_format.inputs, _first_planes(model_format), strict=True):
        for plane in range(spec.shape[0]):
            kind = numbers if plane in spec.numbers else uniform if plane in spec.uniform else squares
            kind = counts if plane in spec.square_numbers else kind
            kind.append(first + plane)
    return PackedLayout(tuple(squares), tuple(counts), tuple(uniform), tuple(numbers))


def pack(
    model_format: ModelFormat, planes: Sequence[Array]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
    """Returns planes, one array [N, ...] for each input, as bits [N, bytes] and floats [N, numbers]."""
    layout = packed_layout(model_format)
    count = len(planes[0])
    every = np.concatenate([rows.reshape(count, -1, SQUARES) for rows in planes], axis=1)
    counts = every[:, np.newaxis, layout.counts]
    levels = np.arange(1, LEVELS + 1).reshape(1, -1, 1, 1) / LEVELS
    squares = [every[:, layout.squares] != 0, counts >= levels]
    parts = (
        np.concatenate([part.reshape(count, -1) for part in squares], axis=1),
        every[:, layout.uniform, 0] != 0,
    )
    bits = [np.packbits(part, axis=1, bitorder="little") for part in parts]
    return np.concatenate(bits, axis=1), every[:, layout.numbers, 0].astype(np.float32)


def packed_model(
    model: bytes, model_format: ModelFormat, batch: Axis, planes_type: type[np.generic]
) -> bytes:
    """Returns a model that takes bits, floats and labels instead of planes, and answers for these labels.

    batch: length or name of the batch axis. planes_type: of the model's inputs.

    Raises:
        UneditableError: the graph cannot be changed in memory.
    """
    layout = packed_layout(model_format)
    edit = GraphEdit(removed=frozenset(spec.name for spec in model_format.inputs))
    edit.inputs[PACKED] = ELEMENT_TYPES[np.uint8], (batch, layout.bytes)
    if layout.numbers:
        edit.inputs[NUMBERS] = ELEMENT_TYPES[np.float32], (batch, len(layout.numbers))
    edit.inputs[LABELS] = ELEMENT_TYPES[np.int32], (batch, "goryu_moves")
    edit.outputs[LOGITS] = ELEMENT_TYPES[np.float32], (batch, "goryu_moves")
    policy, *values = model_format.outputs
    _Unpacking(edit, layout, planes_type, opset_of(model)).add(model_format)
    _choose(edit, policy)
    for value, target in zip(values, value_outputs(model_format), strict=True):
        edit.outputs[target] = ELEMENT_TYPES[np.float32], (batch,)
        _read_value(edit, value, target, has_columns=isinstance(model_format, MinioslFormat))
    return edited(model, edit)


def value_outputs(model_format: ModelFormat) -> tuple[str, ...]:
    """Returns the names of a packed model's outputs but the logits."""
    return (VALUE, DRAW)[: len(model_format.outputs) - 1]


def _first_planes(model_format: ModelFormat) -> list[int]:
    """Returns the number of the first plane of each input."""
    lengths = [spec.shape[0] for spec in model_format.inputs]
    return [0, *accumulate(lengths[:-1])]


@dataclass(frozen=True, slots=True)
class _Unpacking:
    """The nodes from rows to planes, which `add` adds to a graph."""

    edit: GraphEdit
    layout: PackedLayout
    planes_type: type[np.generic]
    opset: int

    def add(self, model_format: ModelFormat) -> None:
        """Adds the nodes of all inputs."""
        table = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little")
        bits = self.edit.constant("goryu_bits", table.astype(self.planes_type))
        self._node("Cast", [PACKED], "goryu_bytes", to=ELEMENT_TYPES[np.int32])
        self._node("Gather", [bits, "goryu_bytes"], "goryu_table_rows", axis=0)  # [N, bytes, 8]
        self._reshape("goryu_table_rows", (-1, 8 * self.layout.bytes), "goryu_line")
        if self.layout.numbers:
            self._node("Cast", [NUMBERS], "goryu_floats", to=ELEMENT_TYPES[self.planes_type])
        if self.layout.counts:
            self._add_counts(SQUARES * len(self.layout.squares))
        for spec, first in zip(model_format.inputs, _first_planes(model_format), strict=True):
            self._add_input(spec, range(first, first + spec.shape[0]))

    def _add_input(self, spec: TensorSpec, planes: range) -> None:
        """Adds the nodes of one input. planes: their numbers through both inputs."""
        parts: list[str] = []
        order: list[int] = []
        layout = self.layout
        first_uniform = 8 * layout.square_bytes
        for source, kinds, start, length in (
            ("goryu_line", layout.squares, 0, SQUARES),
            ("goryu_counts", layout.counts, 0, SQUARES),
            ("goryu_line", layout.uniform, first_uniform, 1),
            ("goryu_floats", layout.numbers, 0, 1),
        ):
            own = [i for i, plane in enumerate(kinds) if plane in planes]
            if not own:
                continue
            part = f"{spec.name}_goryu{len(parts)}"
            self._slice(source, start + length * own[0], start + length * (own[-1] + 1), f"{part}_line")
            if length == SQUARES:
                self._reshape(f"{part}_line", (-1, len(own), 9, 9), part)
            else:
                self._reshape(f"{part}_line", (-1, len(own), 1, 1), f"{part}_ones")
                shape = self.edit.constant(f"{part}_all", np.array([1, len(own), 9, 9], np.int64))
                self._node("Expand", [f"{part}_ones", shape], part)
            parts.append(part)
            order += [kinds[i] - planes[0] for i in own]
        self._join(spec.name, parts, order)

    def _add_counts(self, first: int) -> None:
        """Adds the nodes that sum the levels of the planes of counts, which begin at a bit."""
        bits = self.layout.level_bits
        for level in range(LEVELS):
            self._slice("goryu_line", first + level * bits, first + (level + 1) * bits, f"goryu_level{level}")
        for level in range(1, LEVELS):
            before = f"goryu_sum{level - 1}" if level > 1 else "goryu_level0"
            self._node("Add", [before, f"goryu_level{level}"], f"goryu_sum{level}")
        share = self.edit.constant("goryu_share", np.array([1 / LEVELS], self.planes_type))
        self._node("Mul", [f"goryu_sum{LEVELS - 1}", share], "goryu_counts")

    def _join(self, name: str, parts: Sequence[str], order: Sequence[int]) -> None:
        """Adds the nodes that put the planes of all parts into one input. order: which planes they are."""
        (joined, *rest) = parts
        if rest:
            joined = f"{name}_goryu_joined"
            self._node("Concat", parts, joined, axis=1)
        if list(order) == sorted(order):
            self._node("Identity", [joined], name)
            return
        places = self.edit.constant(f"{name}_goryu_places", np.argsort(order).astype(np.int64))
        self._node("Gather", [joined, places], name, axis=1)

    def _node(self, operator: str, inputs: Sequence[str], target: str, **attributes: int) -> None:
        self.edit.before.append(node(operator, inputs, target, **attributes))

    def _reshape(self, source: str, shape: Sequence[int], target: str) -> None:
        wanted = self.edit.constant(f"{target}_shape", np.array(shape, np.int64))
        self._node("Reshape", [source, wanted], target)

    def _slice(self, source: str, first: int, end: int, target: str) -> None:
        """Adds a slice of the second axis; older operators have its bounds as attributes."""
        if self.opset < FIRST_OPSET_WITH_SLICE_INPUTS:
            self.edit.before.append(node("Slice", [source], target, starts=[first], ends=[end], axes=[1]))
            return
        bounds = {"first": first, "end": end, "axis": 1}
        names = [
            self.edit.constant(f"{target}_{name}", np.array([n], np.int64)) for name, n in bounds.items()
        ]
        self._node("Slice", [source, *names], target)


def _choose(edit: GraphEdit, policy: str) -> None:
    """Adds the nodes from all logits to those of the labels, in float32."""
    edit.after += [
        node("Reshape", [policy, _one_line(edit)], "goryu_policies"),
        node("Gather", ["goryu_policies", LABELS], "goryu_chosen", axis=0),
        node("Cast", ["goryu_chosen"], LOGITS, to=ELEMENT_TYPES[np.float32]),
    ]


def _read_value(edit: GraphEdit, value: str, target: str, *, has_columns: bool) -> None:
    """Adds the nodes from an output of values to one line of them, in float32.

    has_columns: may there be several values for a position, of which the first counts?
    """
    if has_columns:
        first = edit.constant(f"{target}_first", np.array([0], np.int64))
        edit.after.append(node("Gather", [value, first], f"{target}_firsts", axis=1))
        value = f"{target}_firsts"
    edit.after += [
        node("Cast", [value], f"{target}_column", to=ELEMENT_TYPES[np.float32]),
        node("Reshape", [f"{target}_column", _one_line(edit)], target),
    ]


def _one_line(edit: GraphEdit) -> str:
    return edit.constant(f"goryu_line{len(edit.constants)}", np.array([-1], np.int64))
