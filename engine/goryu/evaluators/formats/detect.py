"""Recognises the format of a model file by its inputs.

A new format needs a case here and its own module.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goryu.evaluators.formats.base import ModelFormat
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DlshogiFormat
from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES, NYUGYOKU_PLANES
from goryu.evaluators.formats.nshogi import NSHOGI_PLANES, NshogiFormat
from goryu.evaluators.formats.python_dlshogi2 import BOOK_PLANES, PythonDlshogi2Format
from goryu.evaluators.formats.value_scale import value_scale
from goryu.evaluators.model_files import ModelError

Shape = tuple[int | None, ...]
"""The shape of an input or output; None for an axis that is free or has a name."""


def tensor_shapes(path: Path, tensors: Sequence[Any]) -> dict[str, Shape]:
    """Returns the shapes of onnxruntime's NodeArgs by name.

    Raises:
        ModelError: a name is not UTF-8.
    """
    try:
        return {node.name: tuple(n if isinstance(n, int) else None for n in node.shape) for node in tensors}
    except UnicodeDecodeError as error:
        raise ModelError(f"model {path}: a name in it is not UTF-8; the file is damaged ({error})") from error


def detect_format(path: Path, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> ModelFormat:
    """Returns the format of a model file that onnxruntime has opened.

    Raises:
        ModelError: no format that Goryu knows has these inputs and outputs; the message lists them.
    """
    board = inputs.get("input1", ())
    hands = inputs.get("input2", ())
    for hand_planes in (HAND_PLANES, HAND_PLANES + NYUGYOKU_PLANES):
        if len(inputs) == 2 and board[1:] == (BOARD_PLANES, 9, 9) and hands[1:] == (hand_planes, 9, 9):
            _check_dlshogi_outputs(path, outputs)
            scale = value_scale(path, "output_value")
            return DlshogiFormat(scale, sees_nyugyoku=hand_planes != HAND_PLANES)
    if len(inputs) == 1:
        ((planes, shape),) = inputs.items()
        if shape[1:] == (BOOK_PLANES, 9, 9):
            policy, value = _policy_and_value(path, outputs)
            return PythonDlshogi2Format(planes, policy, value, value_scale(path, value))
        if planes == "input" and shape[1:] == (NSHOGI_PLANES, 9, 9) and "draw" in outputs:
            return NshogiFormat()
    raise ModelError(
        f"model {path}: expected the dlshogi format, inputs input1 [N, 62, 9, 9] and "
        f"input2 [N, 57 or 119, 9, 9], that of python-dlshogi2, one input [N, 104, 9, 9], or that of nshogi, "
        f"input [N, 86, 9, 9] and an output draw; found {_listing(inputs)}"
    )


def _policy_and_value(path: Path, outputs: Mapping[str, Shape]) -> tuple[str, str]:
    """Returns the names of the policy and the value, recognised by their lengths: they may have any names."""
    policies = [name for name, shape in outputs.items() if shape[-1:] == (DLSHOGI_LABELS,)]
    values = [name for name in outputs if name not in policies]
    if len(policies) != 1 or len(values) != 1:
        raise ModelError(
            f"model {path}: expected a policy [N, {DLSHOGI_LABELS}] and a value [N, 1] out; "
            f"found {_listing(outputs)}"
        )
    return policies[0], values[0]


def _check_dlshogi_outputs(path: Path, outputs: Mapping[str, Shape]) -> None:
    policy, value = outputs.get("output_policy"), outputs.get("output_value")
    # An exporter may leave out the shape of an output; if there is one, it must fit.
    if policy is None or value is None or policy[-1:] not in ((DLSHOGI_LABELS,), (None,), ()):
        raise ModelError(
            f"model {path}: expected outputs output_policy [N, {DLSHOGI_LABELS}] and output_value [N, 1]; "
            f"found {_listing(outputs)}"
        )


def _listing(tensors: Mapping[str, Shape]) -> str:
    shapes = (
        f"{name} [{', '.join('N' if n is None else str(n) for n in shape)}]"
        for name, shape in tensors.items()
    )
    return ", ".join(shapes) or "none"
