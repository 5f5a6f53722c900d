"""Converts a foreign network to an ONNX file that the engine plays, and verifies the file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from goryu.conversion.first_book import joined
from goryu.conversion.network import Activation, Architecture
from goryu.conversion.onnx_writer import OnnxWriter
from goryu.conversion.reading import read_network
from goryu.conversion.tensors import ConversionError
from goryu.conversion.verification import Verification, verify
from goryu.files import atomic_path


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was written: the network, sentences about how it was read, and how close the file is to it."""

    network: Architecture
    notes: Sequence[str]
    verification: Verification


def convert(
    sources: Sequence[Path], target: Path, *, activation: Activation | None = None, part: str = ""
) -> Conversion:
    """Writes an ONNX file with the network in `sources`.

    sources: one file, or the policy network and the value network of the first book.
    activation, part: as in `read_network`.

    Raises:
        ConversionError: a file cannot be converted, or the result answers differently.
        ModelError, BackendError: onnxruntime cannot run the result.
        OSError: a file cannot be read or written. In all cases `target` is unchanged.
    """
    if not 1 <= len(sources) <= 2:
        raise ConversionError(f"{len(sources)} files; expected one, or a policy and a value network")
    read = [read_network(source, activation, part) for source in sources]
    architecture, notes = read[0]
    if len(read) == 2:
        architecture = joined(architecture, read[1][0])
        notes = [*notes, *read[1][1]]
    with atomic_path(target) as unfinished:
        OnnxWriter().write(architecture, unfinished)
        verification = verify(unfinished, architecture)
    return Conversion(architecture, [*notes, *architecture.notes], verification)
