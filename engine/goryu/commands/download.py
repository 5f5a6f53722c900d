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
from goryu.evaluators.network.model_files import downloads_folder

NAME = "miniosl"

DESCRIPTION = """\
Downloads a larger network than those that are shipped with Goryu, and prepares it for the engine.

  miniosl   nine blocks of 256 channels, from the package miniosl (Tomoyuki Kaneko; the package has
            the licence BSD-2-Clause of Team GPS). Much stronger than goryu-5x64, also on a CPU, at
            a seventh of its playouts in the same time. 23 MB are downloaded from PyPI, 11 MB are kept.

Afterwards set the option DNN_Model to miniosl.onnx.
"""


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu download", make_parser(), _download, arguments, starts_engines=False)


def _download(options: argparse.Namespace) -> None:
    from goryu.conversion import miniosl

    target: Path = options.out or downloads_folder() / f"{NAME}.onnx"
    settings = target.with_name(f"{target.name}.ini")
    for file in (target, settings):
        check_writable(file, makes_folders=True)
        if file.exists() and not options.force:
            raise InputError(tr("{file} exists; --force overwrites it", file=file))
    if options.source:
        content, name = options.source.read_bytes(), str(options.source)
    else:
        content, name = _fetch(), miniosl.WHEEL
    network = miniosl.calibrated(miniosl.network_in(content, name))
    target.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(target, network)
    atomic_write(settings, miniosl.OPTIONS)
    setting = target if options.out else target.name
    sys.stdout.write(tr("{file}: the network of miniosl", file=target) + "\n")
    sys.stdout.write(tr("to play with it, set the option DNN_Model to {name}", name=setting) + "\n")


def _fetch() -> bytes:
    from goryu.conversion import miniosl

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

    from goryu.conversion.miniosl import WHEEL_BYTES

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
    add("network", choices=[NAME], metavar=NAME, help="the network")
    out = "the ONNX file to write; default: a file that DNN_Model finds by its name"
    add("--out", type=Path, metavar="FILE.onnx", help=out)
    source = "the package (.whl) or its eval.onnx, already downloaded"
    add("--from", dest="source", type=Path, metavar="FILE", help=source)
    force = "overwrites FILE.onnx and its .ini"
    add("--force", action="store_true", help=force)
    return parser
