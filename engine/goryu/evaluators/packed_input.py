"""Positions as bits: what a device receives, and the graph that turns them into planes there.

The planes of a position are zeros and ones, but a network reads them as floats: 38,556 bytes for the 62 + 57
planes of the dlshogi format. As bits they are 636 bytes, a plane of the second input being one bit, since its
81 squares are equal. The graph is changed when a model is loaded: a table of 256 bytes x 8 bits unpacks the
positions, and instead of all 2187 logits only those of the legal moves are returned, by the labels that come
with the positions. What a fast GPU transfers for a position falls from 47 KB to less than 3 KB.

A row of bits: those of `input1`, in the order of its elements, filled up to a whole byte; then one for each
plane of `input2`. The first element of a byte is its lowest bit. This module is the reference; native code
writes the same bytes (`native/core/dlshogi.cpp`).

Weakness: only formats whose planes are zeros and ones can travel like this.
Source: dlshogi packs its planes likewise, and unpacks them by a CUDA kernel of its own.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, ModelFormat
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.onnx_edit import ELEMENT_TYPES, Axis, GraphEdit, edited, node, opset_of

SQUARES = 81
PACKED, LABELS, LOGITS, VALUE = "goryu_packed", "goryu_labels", "goryu_logits", "goryu_value"
"""The inputs and outputs of a packed model: uint8 [N, bytes], int32 [N, M], float32 [N, M] and [N].

A label of row i is i * 2187 + the label of a move: the graph has all logits of a batch in one line.
"""

FIRST_OPSET_WITH_SLICE_INPUTS = 10


def packed_bytes(model_format: ModelFormat) -> int:
    """Returns the bytes of a position."""
    return sum(_input_bytes(model_format))


def pack(model_format: ModelFormat, planes: Sequence[Array]) -> npt.NDArray[np.uint8]:
    """Returns planes, one array [N, ...] of zeros and ones for each input, as bits [N, bytes]."""
    board, hands = planes
    parts = (board.reshape(len(board), -1), hands[:, :, 0, 0])
    return np.concatenate([np.packbits(part != 0, axis=1, bitorder="little") for part in parts], axis=1)


def can_pack(model_format: ModelFormat) -> bool:
    """Can positions of this format travel as bits?"""
    return isinstance(model_format, DlshogiFormat)


def packed_model(
    model: bytes, model_format: ModelFormat, batch: Axis, planes_type: type[np.generic]
) -> bytes:
    """Returns a model that takes bits and labels instead of planes, and answers for these labels.

    batch: length or name of the batch axis. planes_type: of the model's inputs.

    Raises:
        UneditableError: the graph cannot be changed in memory.
    """
    edit = GraphEdit(removed=frozenset(spec.name for spec in model_format.inputs))
    edit.inputs[PACKED] = ELEMENT_TYPES[np.uint8], (batch, packed_bytes(model_format))
    edit.inputs[LABELS] = ELEMENT_TYPES[np.int32], (batch, "goryu_moves")
    edit.outputs[LOGITS] = ELEMENT_TYPES[np.float32], (batch, "goryu_moves")
    edit.outputs[VALUE] = ELEMENT_TYPES[np.float32], (batch,)
    _unpack(edit, model_format, planes_type, opset_of(model))
    _choose(edit, *model_format.outputs)
    return edited(model, edit)


def _input_bytes(model_format: ModelFormat) -> tuple[int, int]:
    board, hands = model_format.inputs
    return -(-board.shape[0] * SQUARES // 8), -(-hands.shape[0] // 8)


def _unpack(edit: GraphEdit, model_format: ModelFormat, planes_type: type[np.generic], opset: int) -> None:
    """Adds the nodes from bits to planes."""
    table = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little")
    bits = edit.constant("goryu_bits", table.astype(planes_type))
    edit.before.append(node("Cast", [PACKED], "goryu_numbers", to=ELEMENT_TYPES[np.int32]))
    edit.before.append(node("Gather", [bits, "goryu_numbers"], "goryu_table_rows", axis=0))  # [N, bytes, 8]
    _reshape(edit, "goryu_table_rows", (-1, 8 * packed_bytes(model_format)), "goryu_line")
    board, hands = model_format.inputs
    first_hand = 8 * _input_bytes(model_format)[0]
    _slice(edit, "goryu_line", 0, board.shape[0] * SQUARES, "goryu_board", opset)
    _reshape(edit, "goryu_board", (-1, *board.shape), board.name)
    _slice(edit, "goryu_line", first_hand, first_hand + hands.shape[0], "goryu_hands", opset)
    _reshape(edit, "goryu_hands", (-1, hands.shape[0], 1, 1), "goryu_hand_bits")
    shape = edit.constant("goryu_hand_shape", np.array([1, *hands.shape], np.int64))
    edit.before.append(node("Expand", ["goryu_hand_bits", shape], hands.name))


def _choose(edit: GraphEdit, policy: str, value: str) -> None:
    """Adds the nodes from all logits to those of the labels, in float32."""
    shape = edit.constant("goryu_all", np.array([-1], np.int64))
    edit.after += [
        node("Reshape", [policy, shape], "goryu_policies"),
        node("Gather", ["goryu_policies", LABELS], "goryu_chosen", axis=0),
        node("Cast", ["goryu_chosen"], LOGITS, to=ELEMENT_TYPES[np.float32]),
        node("Cast", [value], "goryu_values", to=ELEMENT_TYPES[np.float32]),
        node("Reshape", ["goryu_values", shape], VALUE),
    ]


def _reshape(edit: GraphEdit, source: str, shape: Sequence[int], target: str) -> None:
    wanted = edit.constant(f"{target}_shape", np.array(shape, np.int64))
    edit.before.append(node("Reshape", [source, wanted], target))


def _slice(edit: GraphEdit, source: str, first: int, end: int, target: str, opset: int) -> None:
    """Adds a slice of the second axis; older operators have its bounds as attributes."""
    if opset < FIRST_OPSET_WITH_SLICE_INPUTS:
        edit.before.append(node("Slice", [source], target, starts=[first], ends=[end], axes=[1]))
        return
    bounds = {"first": first, "end": end, "axis": 1}
    names = [edit.constant(f"{target}_{name}", np.array([n], np.int64)) for name, n in bounds.items()]
    edit.before.append(node("Slice", [source, *names], target))
