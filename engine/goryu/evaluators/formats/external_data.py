"""Reads an ONNX file together with the constants that it keeps in other files.

Since version 2.9 PyTorch's exporter writes the weights to a second file, `model.onnx.data`. With them in one
piece again, a sha256 tells networks apart whose graphs are the same, and the graph can be edited in memory.

Source: onnx/onnx.proto, `TensorProto.external_data`; ONNX, "External Data".
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from goryu.evaluators.formats.onnx_fields import (
    ENTRY_KEY,
    ENTRY_VALUE,
    GRAPH_CONSTANT,
    GRAPH_NODE,
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

MOST_NODES = 10_000
"""Of a model; a chain of 100,000 kept `usi` from answering for 25 s. goryu-10x96 has 88."""

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
        graphs = _messages(memoryview(content), MODEL_GRAPH)
        if sum(len(_messages(graph, GRAPH_NODE)) for graph in graphs) > MOST_NODES:
            raise ValueError(f"more than {MOST_NODES} nodes")
        if not any(_place(tensor) for graph in graphs for tensor in _messages(graph, GRAPH_CONSTANT)):
            return content
        constants = _Constants(path.resolve().parent)
        return _with(memoryview(content), MODEL_GRAPH, constants.put_into)
    except (IndexError, ValueError) as error:
        raise damaged(path, error) from error


def _place(tensor: memoryview) -> Mapping[str, str]:
    """Returns where a tensor's content is (location, offset, length); nothing if the tensor has it."""
    entries = _messages(tensor, TENSOR_EXTERNAL)
    return {text_field(entry, ENTRY_KEY): text_field(entry, ENTRY_VALUE) for entry in entries}


def _messages(message: memoryview, field: int) -> list[memoryview]:
    return [part for number, _, part in fields(message) if number == field and isinstance(part, memoryview)]


def _with(message: memoryview, field: int, change: Callable[[memoryview], bytes]) -> bytes:
    """Returns a message with changed messages of a field."""
    return b"".join(
        field_of(number, change(value))
        if number == field and isinstance(value, memoryview)
        else copied(number, kind, value)
        for number, kind, value in fields(message)
    )


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
        return _with(graph, GRAPH_CONSTANT, self._complete)

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
