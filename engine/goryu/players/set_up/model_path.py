"""Finds the model file that the config names, and the model's options file; loads neither.

Where none is named, the strongest network plays that is there and that this machine runs well.
"""

import os
import sys
from pathlib import Path

from goryu.base.language import tr
from goryu.evaluators.network.model_files import (
    downloaded_model,
    downloads_folder,
    larger_model,
    models_folder,
    shipped_model,
)
from goryu.players.config import EvaluatorConfig
from goryu.players.set_up.paths import named_file, read_settings

VARIABLE = "GORYU_NETWORK"
"""The environment variable: "shipped" for the small network where none is named, as in tests."""

STRONGEST = "the strongest network here"
REFUSED = "GORYU_NETWORK=shipped asks for it"
PYTHON_SEARCH = "without native code the stronger ones are too slow"
NO_KERNEL = "the processor has no vector instructions for the stronger ones"
NOT_DOWNLOADED = "goryu download fetches a much stronger one"


def named_model(name: str) -> Path:
    """Returns the file that a program's argument means: as named, shipped or downloaded; else as named."""
    return named_file(name, "", models_folder(), downloads_folder())


def model_path(config: EvaluatorConfig) -> Path:
    """Returns the model's file: the named one, found as in `named_file`, or that of `default_model`."""
    if not config.model:
        return default_model()[0]
    # The working directory alone is not enough: a GUI starts the engine anywhere.
    return named_file(config.model, config.model_folder, models_folder(), downloads_folder())


def default_model() -> tuple[Path, str]:
    """Returns the file of the network that plays where none is named, and why it is this one."""
    path, reason = default_shipped_model()
    downloaded = downloaded_model()
    if reason == NOT_DOWNLOADED and downloaded.is_file():
        return downloaded, STRONGEST
    return path, reason


def default_shipped_model() -> tuple[Path, str]:
    """Returns the file of the shipped network that plays where there is no other, and why it is this one.

    The larger one plays where the downloaded one would, else the small one: where the native search calls it
    and the processor has the instructions of our kernel, as every processor beside a GPU has. The downloaded
    one computes nine times as long for a position as the small one; speed and cores do not matter, since with
    only 20 evaluations a move, a slow machine's, it held its own against the small one with 500. The Python
    search makes some 100 evaluations a second with it and 450 with the small one, so that hints and reviews,
    whose playouts are fixed, would take minutes.
    """
    if os.environ.get(VARIABLE, "") == "shipped":
        return shipped_model(), REFUSED
    if sys.platform == "emscripten":  # In a browser there is no other.
        return larger_model(), STRONGEST
    from goryu.implementation import IMPLEMENTATION  # Here, since a program's --help needs none.

    if IMPLEMENTATION != "native":
        return shipped_model(), PYTHON_SEARCH
    return (larger_model(), NOT_DOWNLOADED) if _has_kernel() else (shipped_model(), NO_KERNEL)


def told_choice(config: EvaluatorConfig) -> str:
    """Returns the name of the model's file and, where none is named, why it is this one, for people."""
    if config.model:
        return model_path(config).name
    path, reason = default_model()
    return tr("{name} ({reason})", name=path.name, reason=tr(reason))


def _has_kernel() -> bool:
    from goryu._native import usable_instructions

    return bool(usable_instructions())


def read_model_options(config: EvaluatorConfig) -> tuple[str, str]:
    """Returns the text of the model's options file (`model.onnx.ini`) and why it cannot be read, or ""."""
    if config.kind != "network":
        return "", ""
    try:
        path = model_path(config)
        text, problem = read_settings(path.with_name(path.name + ".ini"))
    except (OSError, ValueError):  # There can be no such model, which is reported when it is loaded.
        return "", ""
    return text, f"cannot be read: {problem}" if problem else ""
