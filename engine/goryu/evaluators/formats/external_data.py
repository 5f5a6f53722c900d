"""Reads an ONNX file together with the constants that it keeps in other files.

Since version 2.9 PyTorch's exporter writes the weights to a second file, `model.onnx.data`. With them in one
piece again, a sha256 tells networks apart whose graphs are the same, and the graph can be edited in memory.

Source: onnx/onnx.proto, `TensorProto.external_data`; ONNX, "External Data".
"""

from collections.abc import Mapping
from pathlib import Path

from goryu.evaluators.formats.onnx_fields import (
    ENTRY_KEY,
    ENTRY_VALUE,
    GRAPH_CONSTANT,
    MODEL_GRAPH,
    TENSOR_EXTERNAL,
    TENSOR_LOCATION,
    TENSOR_NAME,
    TENSOR_RAW,
)
from goryu.evaluators.formats.protobuf import copied, field_of, fields, text_field
from goryu.evaluators.network.model_files import damaged

MOST_BYTES = 2 << 30
"""Of a file of constants; an ONNX file itself cannot have more."""

MOST_SHARED = 2
"""Constants may take all bytes of their files so many times."""


def read_model(path: Path) -> bytes:
    """Returns the bytes of a model with all its constants: those of the file, if it keeps them itself.

    Raises:
        ModelError: the file is damaged, or refers to a file that is missing, too short or outside its folder.
        OSError: the file cannot be read.
    """
    content = path.read_bytes()
    try:
        model = list(fields(memoryview(content)))
        graphs = [value for number, _, value in model if number == MODEL_GRAPH]
        if not any(_has_external_data(graph) for graph in graphs if isinstance(graph, memoryview)):
            return content
        constants = _Constants(path.resolve().parent)
        return b"".join(
            field_of(number, constants.put_into(value))
            if number == MODEL_GRAPH and isinstance(value, memoryview)
            else copied(number, kind, value)
            for number, kind, value in model
        )
    except (IndexError, ValueError) as error:
        raise damaged(path, error) from error


def _has_external_data(graph: memoryview) -> bool:
    return any(
        number == GRAPH_CONSTANT and isinstance(value, memoryview) and bool(_place(value))
        for number, _, value in fields(graph)
    )


def _place(tensor: memoryview) -> Mapping[str, str]:
    """Returns where a tensor's content is (location, offset, length); nothing if the tensor has it."""
    place: dict[str, str] = {}
    for number, _, value in fields(tensor):
        if number == TENSOR_EXTERNAL and isinstance(value, memoryview):
            place[text_field(value, ENTRY_KEY)] = text_field(value, ENTRY_VALUE)
    return place


class _Constants:
    """The files next to a model, each read once.

    Constants may share bytes, but not so often that a small file becomes a large model.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, bytes] = {}
        self._taken = 0

    def put_into(self, graph: memoryview) -> bytes:
        """Returns a graph that keeps all its constants itself."""
        return b"".join(
            field_of(number, self._complete(value))
            if number == GRAPH_CONSTANT and isinstance(value, memoryview)
            else copied(number, kind, value)
            for number, kind, value in fields(graph)
        )

    def _complete(self, tensor: memoryview) -> bytes:
        if not (place := _place(tensor)):
            return bytes(tensor)
        kept = (copied(*each) for each in fields(tensor) if each[0] not in (TENSOR_EXTERNAL, TENSOR_LOCATION))
        content = self._read(text_field(tensor, TENSOR_NAME), place)
        return b"".join(kept) + field_of(TENSOR_RAW, content)

    def _read(self, name: str, place: Mapping[str, str]) -> bytes:
        """Returns the content of a tensor; raises ValueError if the place has none."""
        location = place.get("location", "")
        if location not in self._files:
            file = (self._folder / location).resolve()
            if not file.is_relative_to(self._folder):
                raise ValueError(f"tensor {name!r} is in {location!r}, outside the folder of the model")
            if not file.is_file():
                raise ValueError(f"tensor {name!r} is in {location!r}, which is missing")
            if file.stat().st_size > MOST_BYTES:
                raise ValueError(f"{location!r} has more than {MOST_BYTES >> 20} MiB")
            self._files[location] = file.read_bytes()
        file_content = self._files[location]
        offset = int(place.get("offset", 0))
        length = int(place.get("length", len(file_content) - offset))
        if offset < 0 or length < 0 or offset + length > len(file_content):
            raise ValueError(f"tensor {name!r} is beyond the end of {location!r}")
        self._taken += length
        if self._taken > MOST_SHARED * sum(map(len, self._files.values())):
            raise ValueError(f"its constants take {location!r} more than {MOST_SHARED} times")
        return file_content[offset : offset + length]
