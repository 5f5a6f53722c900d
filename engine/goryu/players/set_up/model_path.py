"""Finds the model file that the config names, and the model's options file; loads neither.

Where none is named, the strongest network plays that is there and that this machine runs well.
"""

import os
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
    if os.environ.get(VARIABLE, "") == "shipped":
        return shipped_model(), REFUSED
    from goryu.implementation import IMPLEMENTATION  # Here, since a program's --help needs none.

    downloaded = downloaded_model()
    reason = why_shipped(
        is_native=IMPLEMENTATION == "native",
        has_kernel=IMPLEMENTATION == "native" and _has_kernel(),
        is_downloaded=downloaded.is_file(),
    )
    if not reason:
        return downloaded, STRONGEST
    return larger_model() if reason == NOT_DOWNLOADED else shipped_model(), reason


def told_choice(config: EvaluatorConfig) -> str:
    """Returns the name of the model's file and, where none is named, why it is this one, for people."""
    if config.model:
        return model_path(config).name
    path, reason = default_model()
    return tr("{name} ({reason})", name=path.name, reason=tr(reason))


def why_shipped(*, is_native: bool, has_kernel: bool, is_downloaded: bool) -> str:
    """Returns why a shipped network plays and not the downloaded one, or "" if the downloaded one does.

    The larger one plays if the download alone is missing, else the small one.

    A machine runs the downloaded network well if the native search calls it and the processor has the
    instructions of our kernel, as every processor beside a GPU has. It computes nine times as long for a
    position; speed and cores do not matter, since with only 20 evaluations a move, a slow machine's, it held
    its own against the shipped network with 500. The Python search makes some 100 evaluations a second with
    it and 450 with the shipped one, so that hints and reviews, whose playouts are fixed, would take minutes.

    is_native: is the search in use native? has_kernel: can our kernel run here?
    """
    if not is_native:
        return PYTHON_SEARCH
    if not has_kernel:
        return NO_KERNEL
    return "" if is_downloaded else NOT_DOWNLOADED


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
