"""Converts a network to an ONNX file that the engine plays, and verifies the file."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from goryu.base.files import atomic_path
from goryu_lab.conversion.first_book import joined
from goryu_lab.conversion.network import Activation, Architecture
from goryu_lab.conversion.onnx_writer import OnnxWriter
from goryu_lab.conversion.planes_first import is_planes_last, put_planes_first
from goryu_lab.conversion.reading import read_network
from goryu_lab.conversion.smaller import Agreement, Precision, write_smaller
from goryu_lab.conversion.tensors import ConversionError
from goryu_lab.conversion.verification import Verification, verify


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was written.

    notes: sentences about how it was read. verification: how close the file, in 32-bit floats, is to the
    original. agreement: how close the smaller network is to that; None if it was not made smaller.
    """

    network: Architecture
    notes: Sequence[str]
    verification: Verification
    agreement: Agreement | None


def convert(
    sources: Sequence[Path],
    target: Path,
    *,
    activation: Activation | None = None,
    part: str = "",
    precision: Precision | None = None,
    positions: int = 512,
) -> Conversion:
    """Writes an ONNX file with the network in `sources`.

    sources: one file, or the policy network and the value network of the first book.
    activation, part: as in `read_network`. precision: None for 32-bit floats. positions: as in
    `write_smaller`.

    Raises:
        ConversionError: a file cannot be converted, or the result answers differently.
        ModelError, BackendError, InputError: onnxruntime cannot run the result, or it cannot be made smaller.
        OSError: a file cannot be read or written. In all cases `target` is unchanged.
    """
    if not 1 <= len(sources) <= 2:
        raise ConversionError(f"{len(sources)} files; expected one, or a policy and a value network")
    with tempfile.TemporaryDirectory() as folder, atomic_path(target) as unfinished:
        full = Path(folder) / "full.onnx" if precision else unfinished
        network, notes = _read(sources, activation, part)
        OnnxWriter().write(network, full)
        verification = verify(full, network)
        agreement = write_smaller(full, unfinished, precision, positions) if precision else None
    return Conversion(network, notes, verification, agreement)


def shrink(source: Path, target: Path, precision: Precision, positions: int = 512) -> Agreement:
    """Writes an ONNX file in 16-bit floats or 8-bit integers; returns how close it is to the source.

    The planes become the first axis. Raises as `convert` does; `target` is then unchanged.
    """
    with tempfile.TemporaryDirectory() as folder, atomic_path(target) as unfinished:
        if is_planes_last(source):
            full = Path(folder) / source.name
            put_planes_first(source, full)
            source = full
        return write_smaller(source, unfinished, precision, positions)


def reorder(source: Path, target: Path) -> float:
    """Writes an ONNX file with the planes as the first axis; returns the greatest difference of the answers.

    Raises as `convert` does; `target` is then unchanged.
    """
    with atomic_path(target) as unfinished:
        return put_planes_first(source, unfinished)


def _read(
    sources: Sequence[Path], activation: Activation | None, part: str
) -> tuple[Architecture, Sequence[str]]:
    read = [read_network(source, activation, part) for source in sources]
    network, notes = read[0]
    if len(read) == 2:
        network = joined(network, read[1][0])
        notes = [*notes, *read[1][1]]
    return network, [*notes, *network.notes]
