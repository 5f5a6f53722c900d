"""Recognises the format of a model file: by its tensors, its metadata, or the user's word.

The shapes of the inputs and outputs tell most formats apart. The networks of the two books have the same
shapes; then the property `goryu.format` in the file's metadata, which `goryu convert` writes, or the option
`DNN_Format` names the format. The operator that computes the value shows its scale (`value_scale.py`).

A new format needs a row in `FORMATS`, its own module, and a native twin in native/core/formats.cpp.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goryu.base.language import tr
from goryu.evaluators.formats.aobazero import AOBAZERO_LABELS, AOBAZERO_PLANES, AobaZeroFormat
from goryu.evaluators.formats.base import ModelFormat
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DlshogiFormat
from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES, NYUGYOKU_PLANES
from goryu.evaluators.formats.miniosl import MINIOSL_PLANES, MINIOSL_TENSORS, MinioslFormat
from goryu.evaluators.formats.nshogi import NSHOGI_PLANES, NshogiFormat
from goryu.evaluators.formats.onnx_graph import Shape, read_metadata
from goryu.evaluators.formats.python_dlshogi import PythonDlshogiFormat
from goryu.evaluators.formats.python_dlshogi2 import BOOK_PLANES, PythonDlshogi2Format
from goryu.evaluators.formats.value_scale import value_scale
from goryu.evaluators.network.model_files import ModelError

AUTO = "auto"
"""The name that leaves the choice of the format to the file."""

METADATA_KEY = "goryu.format"

_PLANES_LAST = "The planes are the last axis; `goryu convert FILE --out OTHER.onnx` makes them the first."


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or output that a format asks for. name: "" if it may have any. lengths: choices for one axis.

    The axis is that of the planes, [N, length, 9, 9], or that of the policy or value, [N, length].
    """

    name: str
    lengths: tuple[int, ...]
    is_planes: bool = True

    def fits(self, name: str, shape: Shape) -> bool:
        """Is this it? An exporter may leave out the shape of an output, or leave its axes free."""
        if self.name and name != self.name:
            return False
        if self.is_planes:
            return len(shape) == 4 and shape[1] in self.lengths and shape[2:] == (9, 9)
        if self.lengths == (1,):
            return len(shape) < 2 or shape[-1] in (None, 1)
        return shape[-1] in self.lengths if shape[-1:] not in ((), (None,)) else self.name != ""

    def __str__(self) -> str:
        lengths = " or ".join(map(str, self.lengths))
        return f"{self.name or '(any name)'} [N, {lengths}{', 9, 9' if self.is_planes else ''}]"


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """A format as a file shows it.

    make: returns the format, given the file and the names of its tensors, inputs first, and the planes of the
        last input.
    is_guessed: may the tensors alone decide for it?
    """

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    make: Callable[[Path, Sequence[str], int], ModelFormat]
    is_guessed: bool = True

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(map(str, self.inputs))} -> {', '.join(map(str, self.outputs))}"


def _dlshogi(path: Path, names: Sequence[str], planes: int) -> ModelFormat:
    return DlshogiFormat(value_scale(path, names[-1]), sees_nyugyoku=planes != HAND_PLANES)


def _nshogi(path: Path, names: Sequence[str], planes: int) -> ModelFormat:
    _, _, value, draw = names
    return NshogiFormat(planes, value_scale=value_scale(path, value), draw_scale=value_scale(path, draw))


def _named(format_class: Callable[..., ModelFormat]) -> Callable[[Path, Sequence[str], int], ModelFormat]:
    """Returns the maker of a format whose tensors may have any names."""
    return lambda path, names, _: format_class(*names, value_scale(path, names[-1]))


_POLICY, _VALUE = Tensor("", (DLSHOGI_LABELS,), is_planes=False), Tensor("", (1,), is_planes=False)

FORMATS = (
    KnownFormat(
        "dlshogi",
        (Tensor("input1", (BOARD_PLANES,)), Tensor("input2", (HAND_PLANES, HAND_PLANES + NYUGYOKU_PLANES))),
        (
            Tensor("output_policy", (DLSHOGI_LABELS,), is_planes=False),
            Tensor("output_value", (1,), is_planes=False),
        ),
        _dlshogi,
    ),
    KnownFormat(
        "python-dlshogi2", (Tensor("", (BOOK_PLANES,)),), (_POLICY, _VALUE), _named(PythonDlshogi2Format)
    ),
    KnownFormat(
        "python-dlshogi",
        (Tensor("", (BOOK_PLANES,)),),
        (_POLICY, _VALUE),
        _named(PythonDlshogiFormat),
        is_guessed=False,
    ),
    KnownFormat(
        "nshogi",
        (Tensor("input", NSHOGI_PLANES),),
        (
            Tensor("policy", (DLSHOGI_LABELS,), is_planes=False),
            Tensor("value", (1,), is_planes=False),
            Tensor("draw", (1,), is_planes=False),
        ),
        _nshogi,
    ),
    KnownFormat(
        "aobazero",
        (Tensor("", (AOBAZERO_PLANES,)),),
        (Tensor("", (AOBAZERO_LABELS,), is_planes=False), _VALUE),
        _named(AobaZeroFormat),
    ),
    KnownFormat(
        "miniosl",
        (Tensor("", (MINIOSL_PLANES,)),),
        (
            Tensor(MINIOSL_TENSORS[1], (DLSHOGI_LABELS,), is_planes=False),
            Tensor(MINIOSL_TENSORS[2], (1, 4), is_planes=False),
        ),
        _named(MinioslFormat),
    ),
)

FORMAT_NAMES = (AUTO, *(known.name for known in FORMATS))


def tensor_shapes(path: Path, tensors: Sequence[Any]) -> dict[str, Shape]:
    """Returns the shapes of onnxruntime's NodeArgs by name.

    Raises:
        ModelError: a name is not UTF-8.
    """
    try:
        return {node.name: tuple(n if isinstance(n, int) else None for n in node.shape) for node in tensors}
    except UnicodeDecodeError as error:
        raise ModelError(f"model {path}: a name in it is not UTF-8; the file is damaged ({error})") from error


def detect_format(
    path: Path, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape], wanted: str = AUTO
) -> ModelFormat:
    """Returns the format of a model file with these inputs and outputs.

    wanted: one of `FORMAT_NAMES`; it overrules the file's metadata.

    Raises:
        ModelError: the file lacks the tensors of the wanted format, or of any; the message lists both.
    """
    name = wanted_format(path, wanted)
    for known in FORMATS:
        if name == known.name or (name == AUTO and known.is_guessed):
            found = _tensors(known, inputs, outputs)
            if found:
                return known.make(path, found, inputs[found[len(known.inputs) - 1]][1] or 0)
    expected = [known for known in FORMATS if name in (AUTO, known.name)]
    words = tr("a format that Goryu knows") if name == AUTO else tr("the format {name}", name=name)
    shapes = f"{_listing(inputs)} -> {_listing(outputs)}"
    raise ModelError(
        f"model {path}: {tr('expected {words}; found {found}', words=words, found=shapes)}.\n"
        f"Expected tensors:\n"
        + "\n".join(f"  {known}" for known in expected)
        + ("\n" + _PLANES_LAST if any(map(has_planes_last, inputs.values())) else "")
    )


def has_planes_last(shape: Shape) -> bool:
    """Are these the axes [N, 9, 9, planes]?"""
    return len(shape) == 4 and shape[1:3] == (9, 9) and shape[3] not in (None, 9)


def wanted_format(path: Path, wanted: str = AUTO) -> str:
    """Returns the name of the format that the user or else the file's metadata asks for, or `AUTO`.

    Raises:
        ModelError: the metadata names a format that Goryu does not know.
    """
    name = read_metadata(path).get(METADATA_KEY, AUTO) if wanted == AUTO else wanted
    if name not in FORMAT_NAMES:
        words = tr("{key} to be one of {names}", key=METADATA_KEY, names=", ".join(FORMAT_NAMES[1:]))
        raise ModelError(f"model {path}: {tr('expected {words}; found {found}', words=words, found=name)}")
    return name


def _tensors(
    known: KnownFormat, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]
) -> list[str] | None:
    """Returns the names of the tensors that the format asks for, or None if the file's are others.

    A file may have more outputs, unless they fit as well.
    """
    found: list[str] = []
    for expected, tensors in ((known.inputs, inputs), (known.outputs, outputs)):
        for tensor in expected:
            fitting = [name for name, shape in tensors.items() if tensor.fits(name, shape)]
            if len(fitting) != 1:
                return None
            found += fitting
    return found if len(inputs) == len(known.inputs) else None


def _listing(tensors: Mapping[str, Shape]) -> str:
    shapes = (
        f"{name} [{', '.join('N' if n is None else str(n) for n in shape)}]"
        for name, shape in tensors.items()
    )
    return ", ".join(shapes) or "nothing"
