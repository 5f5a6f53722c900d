"""The network of the package miniosl, downloaded from PyPI and calibrated for the engine.

miniosl (Tomoyuki Kaneko, https://github.com/tkaneko/miniosl, BSD-2-Clause) is a Python interface to
OpenShogiLib, the library under GPSShogi. Its wheels contain a policy-value network of nine blocks with 256
channels. Its policy is too sharp and its values are too cautious, so the logits of the moves are divided by
`TEMPERATURE`, and those of the value multiplied by `STEEPNESS`. Only the outputs that Goryu uses remain.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from http.client import HTTPException
from io import BytesIO
from shutil import copyfileobj
from typing import BinaryIO
from urllib.request import urlopen
from zipfile import ZipFile, is_zipfile

import numpy as np

from goryu.base.errors import GoryuError, InputError
from goryu.base.language import tr
from goryu.base.zip_damage import ZIP_DAMAGE
from goryu.evaluators.formats.onnx_edit import GraphEdit, edited
from goryu.evaluators.formats.onnx_fields import FLOAT32
from goryu.evaluators.formats.onnx_graph import graph_of

WHEEL = (
    "https://files.pythonhosted.org/packages/3d/73/6a669458a9fb61922ed736a336e94a4a0a5d29ed515e75f3a1ec32cae745/"
    "miniosl-0.1.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
)
"""The address of a package for Linux. Only its network is used, which is the same for every system."""

WHEEL_BYTES = 22_706_995
NETWORK = "miniosl/pretrained/eval.onnx"
"""The network's name within the package."""

NETWORK_SHA256 = "c16bb9818346e39c1dc1219710fbbc41fd50261a4b3050196691448505b45a88"
VERSIONS = "0.1.3 to 0.1.6"
"""Those of the package that contain this network."""

TEMPERATURE, STEEPNESS = 1.5, 1.5
"""The calibration: that of the labels from which goryu-5x64 has learnt."""

POLICY_WEIGHTS = ("onnx::Conv_770", "onnx::Conv_771")
VALUE_WEIGHTS = ("value_head.head.5.weight", "value_head.head.5.bias")
"""Weights and biases of the last layers. The value has four rows; the first is that of the position."""

OPTIONS = """\
# Constants of the search for the network of miniosl.
# `usi` offers them as the defaults. An option that the GUI sends counts more.
C_init=65
C_init_root=75
"""

PAUSE_S = 15
"""A download ends with an error if nothing arrives for so long."""


class DownloadError(GoryuError, OSError):
    """A file could not be downloaded."""


def download(shown: Callable[[BinaryIO], AbstractContextManager[BinaryIO]] = nullcontext) -> bytes:
    """Returns the package from the internet.

    shown: wraps the stream, to show how much has arrived.

    Raises DownloadError.
    """
    content = BytesIO()
    try:
        with urlopen(WHEEL, timeout=PAUSE_S) as stream, shown(stream) as wrapped:
            copyfileobj(wrapped, content)
    except (OSError, HTTPException) as error:
        raise DownloadError(str(error)) from error
    return content.getvalue()


def network_in(content: bytes, name: str) -> bytes:
    """Returns the network in the content of a wheel of miniosl, or of the file of the network itself.

    Raises InputError, which names the file by `name`, if it is not the network that Goryu knows.
    """
    try:
        if is_zipfile(BytesIO(content)):
            with ZipFile(BytesIO(content)) as wheel:
                content = wheel.read(NETWORK)
    except (KeyError, *ZIP_DAMAGE) as error:
        raise InputError(tr("{file}: no package of miniosl, or a damaged one", file=name)) from error
    if sha256(content).hexdigest() != NETWORK_SHA256:
        raise InputError(
            tr("{file}: expected the network of miniosl {versions}", file=name, versions=VERSIONS)
        )
    return content


def calibrated(network: bytes) -> bytes:
    """Returns a network of `network_in` with other logits, and without the outputs that Goryu ignores."""
    constants = graph_of(network).constants
    edit = GraphEdit()
    for names, factor, rows in ((POLICY_WEIGHTS, 1.0 / TEMPERATURE, None), (VALUE_WEIGHTS, STEEPNESS, 1)):
        for name in names:
            edit.constant(name, constants[name][:rows].astype(np.float32) * np.float32(factor))
    edit.outputs = {"move": (FLOAT32, ("batch_size", 2187)), "value": (FLOAT32, ("batch_size", 1))}
    return edited(network, edit)
