"""`goryu check-model`: shows a model's format, whether it answers sensibly, what to set."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.base.arguments import ArgumentParser, whole_number
from goryu.base.errors import GoryuError, explained
from goryu.base.language import tr
from goryu.base.printable import printable
from goryu.players.set_up.model_path import named_model
from goryu_lab.commands.convert import MOST_POSITIONS, agreement_line

if TYPE_CHECKING:
    from goryu_lab.conversion.checking import Check

DESCRIPTION = """\
Examines an ONNX model: its format, whether it answers simple questions sensibly, and which options
to set. Lines that begin with ! are problems. The exit status is 1 if the model is unusable.
"""


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; returns the exit status."""
    options = make_parser().parse_args(arguments)
    from goryu_lab.conversion.checking import check_model

    try:
        check = check_model(
            options.model,
            backend=options.backend,
            model_format=options.format,
            against=options.against,
            positions=options.positions,
        )
    except (GoryuError, OSError) as error:
        sys.stderr.write(f"goryu check-model: {explained(error)}\n")
        return 1
    for line in report(check):
        sys.stdout.write(f"{printable(line)}\n")
    return 0


def report(check: "Check") -> Iterator[str]:
    """Yields the lines for people."""
    yield f"{check.path} (sha256 {check.sha256[:16]})"
    for tensor in check.tensors:
        shape = ", ".join("N" if n is None else str(n) for n in tensor.shape)
        side = tr("input") if tensor.is_input else tr("output")
        yield f"  {side} {tensor.name} [{shape}] {tensor.kind}"
    yield tr("format: {name}", name=check.format)
    yield from _formats(check)
    for finding in check.sanity:
        mark = "  " if finding.is_good else "! "
        expected = "" if finding.is_good else " " + tr("(expected: {text})", text=tr(finding.expected))
        yield f"{mark}{tr(finding.question)}: {finding.found}{expected}"
    if not check.is_sane:
        yield "! " + tr(
            "most answers are nonsense: the weights are random, or the planes are those of another format"
        )
    for drift in check.drifts:
        yield agreement_line(drift.name, drift.agreement)
    yield tr("options to set in the GUI:")
    for name, value in check.settings:
        yield f"  {name} = {value}"


def _formats(check: "Check") -> Iterator[str]:
    """Yields what the other formats that the tensors fit would give."""
    if len(check.formats) < 2:
        return
    shares = ", ".join(f"{name} {share:.0%}" for name, share in check.formats)
    mark = "  " if check.format.startswith(f"{check.formats[0][0]} ") else "! "
    yield mark + tr("the tensors fit several formats; good answers under each: {shares}", shares=shares)


def make_parser() -> ArgumentParser:
    """Returns the parser of the command line."""
    parser = ArgumentParser(
        "goryu check-model",
        description=DESCRIPTION,
    )
    add = parser.add_argument
    add("model", type=named_model, metavar="FILE.onnx", help="the model")
    add("--backend", default="auto", help="as the USI option Backend")
    add("--format", default="auto", help="as the USI option DNN_Format")
    against = "another form of the network to compare with"
    add("--against", type=Path, action="append", default=[], metavar="FILE.onnx", help=against)
    positions = "positions to compare on; default: %(default)s"
    add("--positions", type=whole_number(1, MOST_POSITIONS), default=256, metavar="N", help=positions)
    return parser
