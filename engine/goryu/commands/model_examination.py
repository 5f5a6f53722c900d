"""What `goryu doctor MODEL` says of a network: its tensors, its format, whether it answers sensibly."""

from collections.abc import Iterator
from typing import Any

from goryu.base.language import tr
from goryu.commands.sanity import Finding, ask, share_good
from goryu.evaluators.formats.detect import FORMATS
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import BackendError, open_session
from goryu.table.random_positions import random_positions

MIRRORED_POSITIONS = 32


def examine(network: NetworkEvaluator) -> Iterator[str]:
    """Yields the lines; those that begin with ! are problems."""
    yield f"{network.path} (sha256 {network.sha256[:16]})"
    yield from tensors(network)
    yield tr("format: {name}", name=network.format.name)
    boards = random_positions(MIRRORED_POSITIONS, seed=3)
    findings = ask(network, boards)
    used = network.format.name.split()[0]
    shares = [(used, share_good(findings))]
    for known in FORMATS:
        if known.name != used and (share := share_under(network, known.name)) is not None:
            shares.append((known.name, share))
    shares.sort(key=lambda each: -each[1])
    best = shares[0][0]
    if len(shares) > 1:
        shown = ", ".join(f"{name} {share:.0%}" for name, share in shares)
        mark = "  " if best == used else "! "
        yield mark + tr("the tensors fit several formats; good answers under each: {shares}", shares=shown)
    yield from map(told, findings)
    if share_good(findings) <= 0.5:
        yield "! " + tr(
            "most answers are nonsense: the weights are random, or the planes are those of another format"
        )
    yield tr("options to set in the GUI:")
    yield f"  DNN_Model = {network.path.resolve()}"
    if best != used:
        yield f"  DNN_Format = {best}"


def tensors(network: NetworkEvaluator) -> Iterator[str]:
    """Yields the inputs and outputs of the file, by onnxruntime; nothing without it."""
    try:
        handle: Any = open_session(network.path, "cpu").handle
    except BackendError:
        return  # Goryu's own kernel needs none.
    for side, nodes in ((tr("input"), handle.get_inputs()), (tr("output"), handle.get_outputs())):
        for node in nodes:
            shape = ", ".join(str(n) if isinstance(n, int) else "N" for n in node.shape)
            yield f"  {side} {node.name} [{shape}] {node.type}"


def share_under(network: NetworkEvaluator, name: str) -> float | None:
    """Returns the share of good answers under another format; None if the tensors do not fit it."""
    try:
        other = NetworkEvaluator(network.path, backend="onnxruntime", model_format=name)
    except (ModelError, BackendError):
        return None
    return share_good(ask(other, random_positions(MIRRORED_POSITIONS, seed=3)))


def told(finding: Finding) -> str:
    """Returns the line of an answer."""
    mark = "  " if finding.is_good else "! "
    expected = "" if finding.is_good else " " + tr("(expected: {text})", text=tr(finding.expected))
    return f"{mark}{tr(finding.question)}: {finding.found}{expected}"
