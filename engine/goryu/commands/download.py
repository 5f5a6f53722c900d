"""`goryu download`: fetches a larger network from the internet, ready for the engine."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from goryu.base.arguments import ArgumentParser
from goryu.base.errors import InputError, explained
from goryu.base.files import atomic_write, check_writable
from goryu.base.language import tr
from goryu.commands.common import program
from goryu.evaluators.network.model_files import downloaded_model
from goryu.players.config import EvaluatorConfig
from goryu.players.set_up.model_path import told_choice

NAME = "miniosl"

DESCRIPTION = """\
Downloads a larger network than those that are shipped with Goryu, and prepares it for the engine.

  miniosl   nine blocks of 256 channels, from the package miniosl (Tomoyuki Kaneko; the package has
            the licence BSD-2-Clause of Team GPS). Much stronger than goryu-5x64, also on a CPU, at
            a seventh of its playouts in the same time. 23 MB are downloaded from PyPI, 11 MB are kept.

Afterwards it plays wherever the option DNN_Model is empty, if the native code is built.
"""


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu download", make_parser(), _download, arguments, starts_engines=False)


def _download(options: argparse.Namespace) -> None:
    from goryu.evaluators.network import download as miniosl

    target: Path = options.out or downloaded_model()
    settings = target.with_name(f"{target.name}.ini")
    for file in (target, settings):
        check_writable(file, makes_folders=True)
        if file.exists() and not (options.force or _is_unfinished(file, target)):
            raise InputError(tr("{file} exists; --force overwrites it", file=file))
    if options.source:
        content, name = options.source.read_bytes(), str(options.source)
    else:
        content, name = _fetch(), miniosl.WHEEL
    network = miniosl.calibrated(miniosl.network_in(content, name))
    target.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(settings, miniosl.OPTIONS)
    atomic_write(target, network)  # Last: where it is, the engine plays with it.
    sys.stdout.write(tr("{file}: the network of miniosl", file=target) + "\n")
    if options.out:
        sys.stdout.write(tr("to play with it, set the option DNN_Model to {name}", name=target) + "\n")
    else:
        sys.stdout.write(tr("network: {name}", name=told_choice(EvaluatorConfig())) + "\n")


def _is_unfinished(settings: Path, target: Path) -> bool:
    """Are these settings all that a killed download has left?"""
    from goryu.evaluators.network import download as miniosl

    return settings != target and not target.exists() and settings.read_bytes() == miniosl.OPTIONS.encode()


def _fetch() -> bytes:
    from goryu.evaluators.network import download as miniosl

    try:
        return miniosl.download(_shown)
    except miniosl.DownloadError as error:
        text = "{url}: {reason}. Download it with a browser, and name the file with --from"
        raise InputError(tr(text, url=miniosl.WHEEL, reason=explained(error))) from error


@contextmanager
def _shown(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Shows on a terminal how much has arrived."""
    from rich.console import Console
    from rich.progress import wrap_file

    from goryu.evaluators.network.download import WHEEL_BYTES

    console = Console(stderr=True)
    is_hidden = not console.is_terminal
    with wrap_file(stream, WHEEL_BYTES, description=NAME, console=console, disable=is_hidden) as wrapped:
        yield wrapped


def make_parser() -> ArgumentParser:
    """Returns the parser of the command line."""
    parser = ArgumentParser(
        "goryu download",
        description=DESCRIPTION,
    )
    add = parser.add_argument
    add(
        "network",
        nargs="?",
        choices=[NAME],
        default=NAME,
        metavar=NAME,
        help="the network; default: miniosl",
    )
    out = "the ONNX file to write; default: where the engine finds it"
    add("--out", type=Path, metavar="FILE.onnx", help=out)
    source = "the package (.whl) or its eval.onnx, already downloaded"
    add("--from", dest="source", type=Path, metavar="FILE", help=source)
    force = "overwrites FILE.onnx and its .ini"
    add("--force", action="store_true", help=force)
    return parser
