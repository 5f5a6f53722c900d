"""`goryu convert`: turns a network of another program into an ONNX file, and verifies it."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.base.arguments import ArgumentParser, whole_number
from goryu.base.errors import InputError
from goryu.base.files import check_outputs, check_writable
from goryu.base.language import tr
from goryu.commands.common import program

if TYPE_CHECKING:
    from goryu_lab.conversion.convert import Conversion
    from goryu_lab.conversion.smaller import Agreement, Precision

MOST_POSITIONS = 1_000_000
"""The most positions to compare two networks on."""

DESCRIPTION = """\
Writes the network of another program as an ONNX file, and compares its answers with those of the
original weights. Nothing in the file is executed. Recognised by their content:

  python-dlshogi (book of 2018)    Chainer snapshots: policy, value, policy and value
  python-dlshogi2 (book of 2021)   PyTorch checkpoints (.pth)
  dlshogi                          PyTorch checkpoints (.pth), and the files of --model (.npz)
  AobaZero                         weights as text, also .xz and .gz
  ONNX files, inputs [N,9,9,planes]   become [N,planes,9,9], which Goryu reads (a variant of nshogi)

examples:
  goryu convert model_policy_value_resnet --out book1.onnx
  goryu convert model_policy model_value --out book1.onnx     two networks become one file
  goryu convert checkpoint-010.pth --out book2.onnx
  goryu convert model.onnx --fp16 --out model-fp16.onnx       16-bit floats, for GPUs
"""


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu convert", make_parser(), _convert, arguments, extra="convert", starts_engines=False)


def _convert(options: argparse.Namespace) -> None:
    from goryu_lab.conversion.convert import convert, shrink
    from goryu_lab.conversion.reading import is_onnx

    _check(options)
    precision: Precision | None = "fp16" if options.fp16 else "int8" if options.int8 else None
    if len(options.files) == 1 and is_onnx(options.files[0]):
        if precision is None:
            _reorder(options.files[0], options.out)
            return
        agreement: Agreement | None = shrink(options.files[0], options.out, precision, options.positions)
    else:
        found = convert(
            options.files,
            options.out,
            activation=options.activation,
            part=options.part,
            precision=precision,
            positions=options.positions,
        )
        _print_conversion(options.out, found)
        agreement = found.agreement
    if precision and agreement:
        _say(agreement_line(precision, agreement))


def _reorder(source: Path, target: Path) -> None:
    from goryu_lab.conversion.convert import reorder
    from goryu_lab.conversion.planes_first import is_planes_last

    if not is_planes_last(source):
        raise InputError(tr("{file} is an ONNX file already; choose --fp16 or --int8", file=source))
    difference = reorder(source, target)
    text = "{file}: the planes are the first axis now; largest difference of the answers: {difference:.1e}"
    _say(tr(text, file=target, difference=difference))


def _print_conversion(target: Path, found: "Conversion") -> None:
    _say(tr("{file}: {format}, {size}", file=target, format=found.network.format, size=found.network.size))
    for note in found.notes:
        _say(tr(note))
    verification = found.verification
    text = tr(
        "verified on {positions} positions: largest difference {policy:.1e} (policy), {value:.1e} (value)",
        positions=verification.positions,
        policy=verification.policy,
        value=verification.value,
    )
    _say(text)
    if not verification.is_played:
        _say(tr("Goryu cannot play with this format yet; the file was verified on random planes."))


def agreement_line(name: str, agreement: "Agreement") -> str:
    """Returns how close a smaller network is to the float network."""
    return tr(
        "{name}: same first move in {top:.1%} of {positions} positions; mean differences: "
        "{policy:.2g} of the moves' probabilities, {value:.2g} of the value",
        name=name,
        top=agreement.policy_top1,
        positions=agreement.positions,
        policy=agreement.policy_error,
        value=agreement.value_error,
    )


def _check(options: argparse.Namespace) -> None:
    """Raises InputError for files that are missing or would be overwritten."""
    for file in options.files:
        if file.is_dir():
            raise InputError(tr("{path} is a folder: expected a file", path=file))
        if not file.is_file():
            raise InputError(tr("{file}: no such file", file=file))
    check_writable(options.out)
    check_outputs([options.out], options.files)
    if options.out.exists() and not options.force:
        raise InputError(tr("{file} exists; --force overwrites it", file=options.out))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def make_parser() -> ArgumentParser:
    """Returns the parser of the command line."""
    parser = ArgumentParser(
        "goryu convert",
        description=DESCRIPTION,
    )
    add = parser.add_argument
    files = "the network; or a policy network and a value network of the first book"
    add("files", nargs="+", type=Path, metavar="FILE", help=files)
    out = "the ONNX file to write"
    add("--out", type=Path, required=True, metavar="FILE.onnx", help=out)
    add("--force", action="store_true", help="overwrites FILE.onnx")
    activation = "the activation; default: the one that the statistics in the file fit"
    add("--activation", choices=("relu", "swish"), help=activation)
    precision = parser.add_mutually_exclusive_group()
    fp16 = "writes 16-bit floats, for GPUs"
    precision.add_argument("--fp16", action="store_true", help=fp16)
    int8 = "writes 8-bit integers, for CPUs"
    precision.add_argument("--int8", action="store_true", help=int8)
    positions = "positions to calibrate --int8 on, and to compare on; default: %(default)s"
    add("--positions", type=whole_number(1, MOST_POSITIONS), default=512, metavar="N", help=positions)
    part = "the part of a PyTorch checkpoint with the weights, such as swa_model; default: model"
    add("--part", default="", metavar="NAME", help=part)
    return parser
