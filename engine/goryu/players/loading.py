"""From settings to an evaluator, with an honest word about what was loaded and why not what was asked for."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.errors import GoryuError
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.material import MaterialEvaluator
from goryu.evaluators.model_files import ModelError, models_folder
from goryu.evaluators.providers import BackendError, may_use_gpu
from goryu.evaluators.uniform import UniformEvaluator
from goryu.implementation import IMPLEMENTATION
from goryu.players.config import EngineConfig, EvaluatorSettings
from goryu.players.paths import file_stamp, named_file
from goryu.search.evaluator import Evaluator

if TYPE_CHECKING:
    from goryu.evaluators.network import NetworkEvaluator

__all__ = [
    "LoadedEvaluator",
    "LoadingError",
    "load_evaluator",
    "load_network",
    "model_path",
    "model_settings",
]


NETWORK_ERRORS = (ModelError, BackendError, OSError, ImportError)
"""What a network may fail to load with."""

BATCH_WITHOUT_NETWORK = 4
"""Positions for each call of an evaluator that gains nothing from more."""


class LoadingError(GoryuError, RuntimeError):
    """What was asked for cannot be loaded, and the settings forbid to put up with less."""


@dataclass(frozen=True, slots=True)
class LoadedEvaluator:
    """An evaluator, and what must stay the same for it to be the right one.

    description: what it is, in one line of ASCII. batch_size: of the searches that use it.
    stamp: identifies the content of the model file, if there is one.
    """

    evaluator: Evaluator
    description: str
    batch_size: int
    settings: EvaluatorSettings
    stamp: tuple[int, int] | None

    def is_current(self, settings: EvaluatorSettings) -> bool:
        """Would loading again, with these settings, give the same evaluator?"""
        return settings == self.settings and _stamp(settings) == self.stamp


def load_evaluator(settings: EvaluatorSettings, say: Callable[[str], None]) -> LoadedEvaluator:
    """Returns the evaluator that the settings ask for, or a weaker one in its place.

    say: takes the reason, if it is a weaker one.

    Raises:
        LoadingError: the settings do not allow a weaker one.
    """
    stamp = _stamp(settings)
    evaluator: Evaluator
    if settings.kind == "network":
        try:
            network = load_network(settings, say)
            evaluator, description = network, network.description
        except NETWORK_ERRORS as error:
            if not settings.allows_fallback:
                raise LoadingError(f"{error} (AllowFallback is false)") from error
            evaluator, description = _instead(settings, error, say)
    elif settings.kind == "material":
        evaluator, description = MaterialEvaluator(), "evaluator=material"
    elif settings.kind == "hashed":
        evaluator, description = HashedEvaluator(), "evaluator=hashed (reproducible noise)"
    else:
        evaluator, description = UniformEvaluator(), "evaluator=uniform"
    batch_size = getattr(evaluator, "batch_size", settings.batch_size or BATCH_WITHOUT_NETWORK)
    return LoadedEvaluator(evaluator, description, batch_size, settings, stamp)


def _instead(
    settings: EvaluatorSettings, error: Exception, say: Callable[[str], None]
) -> tuple[Evaluator, str]:
    """Returns what plays for a network that cannot be loaded: the shipped one, or at worst material."""
    if settings.model:
        try:
            network = load_network(replace(settings, model=""), say)
        except NETWORK_ERRORS:
            pass  # The first error says more: this one is of the machine, or of an incomplete checkout.
        else:
            say(f"Error! {error}; playing with the shipped {network.path.name} instead")
            return network, network.description
    say(f"Error! {error}; playing with the material evaluator instead")
    return MaterialEvaluator(), "evaluator=material (the network could not be loaded)"


def model_path(settings: EvaluatorSettings) -> Path:
    """Returns where the model is: the shipped one if none is named; else the first file of that name in
    `model_folder`, as named, or in models/; else the name as given.

    The working directory alone is not enough: a GUI starts the engine anywhere.

    Raises:
        ModelError: no model was named, and none is shipped.
    """
    folder = models_folder()
    if not settings.model:
        return _shipped_model(folder)
    return named_file(settings.model, settings.model_folder, folder)


def _shipped_model(folder: Path, key: str = "default") -> Path:
    """Returns the network that `manifest.toml` names under `key`, or the first one without a manifest.

    key: "default" (for a CPU) or "default_gpu".
    """
    manifest = folder / "manifest.toml"
    if manifest.is_file():
        name = tomllib.loads(manifest.read_text(encoding="utf-8")).get(key)
        if isinstance(name, str):
            return folder / name
    shipped = sorted(folder.glob("goryu-*.onnx"))
    if not shipped:
        raise ModelError(f"DNN_Model is empty, and there is no model in {folder}")
    return shipped[0]


def model_settings(config: EngineConfig) -> str:
    """Returns the text of the settings file beside the model (`model.onnx.ini`), "" if there is none."""
    settings = config.evaluator_settings()
    if settings.kind != "network":
        return ""
    try:
        path = model_path(settings)
        return path.with_name(path.name + ".ini").read_text(encoding="utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""


def _stamp(settings: EvaluatorSettings) -> tuple[int, int] | None:
    """Returns what changes with the model file's content (`file_stamp`), or None without one."""
    if settings.kind != "network":
        return None
    try:
        return file_stamp(model_path(settings))
    except (OSError, ValueError):
        return None


def load_network(settings: EvaluatorSettings, say: Callable[[str], None]) -> "NetworkEvaluator":
    """Opens the network that was asked for, or the shipped one that suits the backend; says its notes.

    Raises:
        ModelError: the file is missing, broken, or not of a known format.
        BackendError: the backend cannot be used, and `settings.allows_fallback` is false.
    """
    network = (
        _open_network(model_path(settings), settings) if settings.model else _open_shipped(settings, say)
    )
    for note in network.notes:
        say(note)
    return network


def _open_shipped(settings: EvaluatorSettings, say: Callable[[str], None]) -> "NetworkEvaluator":
    """Opens the shipped network that suits the backend: the one in 8-bit integers is for CPUs.

    A GPU is not shown that one to find out: TensorRT would compile it for minutes, or refuse it.
    """
    folder = models_folder()
    if may_use_gpu(settings.backend):
        network = _open_network(_shipped_model(folder, "default_gpu"), settings)
        if network.backend != "CPU":
            return network
        for note in network.notes:
            say(note)
        settings = replace(settings, backend="cpu")
    return _open_network(_shipped_model(folder), settings)


def _open_network(path: Path, settings: EvaluatorSettings) -> "NetworkEvaluator":
    # NumPy and onnxruntime are not imported before a network is asked for.
    from goryu.evaluators.network import NetworkEvaluator

    return NetworkEvaluator(
        path,
        batch_size=settings.batch_size or None,
        backend=settings.backend,
        # The native search calls the network from as many threads of its own, which keeps the cores busier.
        threads=settings.threads if IMPLEMENTATION == "python" else 1,
        device=settings.device,
        allows_fallback=settings.allows_fallback,
        temperature=settings.temperature,
    )
