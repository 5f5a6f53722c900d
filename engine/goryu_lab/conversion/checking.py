"""Examines a model file: format, sanity, and the loss in other forms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goryu.evaluators.formats.detect import AUTO, FORMATS
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import (
    Session,
    backend_chain,
    open_on_first,
    open_session,
)
from goryu.table.random_positions import random_positions
from goryu_lab.conversion.sanity import Finding, ask, share_good
from goryu_lab.conversion.smaller import Agreement, compare, open_plain, played_positions

MIRRORED_POSITIONS = 32


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """An input or output of the file; the shape has None where it is free."""

    name: str
    kind: str
    shape: Sequence[int | None]
    is_input: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """How close another form of the network is. name: of its file."""

    name: str
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class Check:
    """What was found about a model file.

    formats: those that the file's tensors fit, with the share of good answers under each, best first; the
    engine uses `format`. settings: USI options to set.
    """

    path: Path
    sha256: str
    tensors: Sequence[TensorInfo]
    format: str
    formats: Sequence[tuple[str, float]]
    sanity: Sequence[Finding]
    drifts: Sequence[Drift]
    settings: Sequence[tuple[str, str]]

    @property
    def is_sane(self) -> bool:
        """Were most questions answered well?"""
        return share_good(self.sanity) > 0.5


def check_model(
    path: Path,
    *,
    backend: str = AUTO,
    model_format: str = AUTO,
    against: Sequence[Path] = (),
    positions: int = 256,
) -> Check:
    """Examines a model.

    backend: the one to ask; "auto" takes the one that the engine would use.
    against: other forms of the network to compare with, on `positions` positions.

    Raises:
        ModelError: the file is unusable; the message has the tensors that were found and expected.
        BackendError: no backend, or not the requested one, runs it.
    """
    session = open_session(path, "cpu")
    tensors = [*_tensors(session, is_input=True), *_tensors(session, is_input=False)]
    network = open_on_first(
        backend_chain(backend, allows_fallback=False),
        lambda name: NetworkEvaluator(path, backend=name, model_format=model_format),
        lambda problem: None,
    )
    sanity, formats = _sanity(path, network)
    drifts = list(_drifts(path, against, positions))
    return Check(
        path,
        network.sha256,
        tensors,
        network.format.name,
        formats,
        sanity,
        drifts,
        _settings(path, network, formats, model_format),
    )


def _tensors(session: Session, *, is_input: bool) -> Iterator[TensorInfo]:
    handle: Any = session.handle
    for node in handle.get_inputs() if is_input else handle.get_outputs():
        shape = [n if isinstance(n, int) else None for n in node.shape]
        yield TensorInfo(node.name, node.type, shape, is_input)


def _sanity(path: Path, network: NetworkEvaluator) -> tuple[list[Finding], list[tuple[str, float]]]:
    """Asks the questions under the format in use, and under the others that the tensors fit."""
    boards = random_positions(MIRRORED_POSITIONS, seed=3)
    findings = ask(network, boards)
    used = _short(network.format.name)
    found = [(used, share_good(findings))]
    for known in FORMATS:
        if known.name == used:
            continue
        try:
            other = NetworkEvaluator(path, backend="onnxruntime", model_format=known.name)
        except ModelError:
            continue  # The tensors are others.
        found.append((known.name, share_good(ask(other, boards))))
    return findings, sorted(found, key=lambda each: -each[1])


def _short(name: str) -> str:
    """Returns a format's name without its planes, as DNN_Format takes it."""
    return name.split()[0]


def _drifts(path: Path, against: Sequence[Path], positions: int) -> Iterator[Drift]:
    if not against:
        return
    network = open_plain(path)
    boards = played_positions(network, positions, seed=2)
    for other in against:
        yield Drift(str(other), compare(network, open_plain(other), boards))


def _settings(
    path: Path,
    network: NetworkEvaluator,
    formats: Sequence[tuple[str, float]],
    model_format: str,
) -> list[tuple[str, str]]:
    """Returns the USI options to set; those whose defaults are right are left out."""
    settings = [("DNN_Model", str(path.resolve()))]
    best = formats[0][0]
    if model_format != AUTO or best != _short(network.format.name):
        settings.append(("DNN_Format", best))
    return settings
