"""Finds the model file that the config names, and the model's options file; loads neither."""

import tomllib
from pathlib import Path

from goryu.evaluators.network.model_files import ModelError, downloads_folder, models_folder
from goryu.players.config import EvaluatorConfig
from goryu.players.set_up.paths import named_file, read_settings


def named_model(name: str) -> Path:
    """Returns the file that a program's argument means: as named, shipped or downloaded; else as named."""
    return named_file(name, "", models_folder(), downloads_folder())


def model_path(config: EvaluatorConfig) -> Path:
    """Returns the model's file: the named one, found as in `named_file`, or the shipped one.

    Raises:
        ModelError: no model was named, and none is shipped or `manifest.toml` is damaged.
    """
    folder = models_folder()
    if not config.model:
        return _shipped_model(folder)
    # The working directory alone is not enough: a GUI starts the engine anywhere.
    return named_file(config.model, config.model_folder, folder, downloads_folder())


def _shipped_model(folder: Path) -> Path:
    """Returns the default network of `manifest.toml`, or the first one without a manifest."""
    manifest = folder / "manifest.toml"
    if manifest.is_file():
        try:
            name = tomllib.loads(manifest.read_text(encoding="utf-8")).get("default")
        except ValueError as error:  # Neither UTF-8 nor TOML.
            raise ModelError(f"{manifest}: {error}") from error
        if isinstance(name, str):
            return folder / name
    shipped = sorted(folder.glob("goryu-*.onnx"))
    if not shipped:
        raise ModelError(f"DNN_Model is empty, and there is no model in {folder}")
    return shipped[0]


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
