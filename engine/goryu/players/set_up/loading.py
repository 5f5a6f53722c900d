"""Loads the evaluator that the config names, and reports every fallback with its reason.

There is one chain of fallbacks: the requested model on the requested backend, then on the weaker ones; the
shipped models in the same way, where none was named first the larger one; at last the material evaluator,
which needs no file and no library. In place of a named model plays the small one: the levels were measured
with it, and a level that lost its model must not become stronger.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from goryu.base.errors import GoryuError, first_line
from goryu.base.language import tr
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.material import MaterialEvaluator
from goryu.evaluators.network.model_files import ModelError, shipped_model
from goryu.evaluators.network.providers import (
    CPU_BACKENDS,
    GPU_BACKENDS,
    RUN_ERRORS,
    BackendError,
    backend_chain,
    open_on_first,
)
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.state import State
from goryu.implementation import IMPLEMENTATION
from goryu.players.config import EvaluatorConfig
from goryu.players.set_up.devices import config_of_each
from goryu.players.set_up.model_path import default_shipped_model, model_path
from goryu.players.set_up.paths import file_stamp
from goryu.players.set_up.threads import search_threads
from goryu.search.evaluator import Evaluation, Evaluator

if TYPE_CHECKING:
    from goryu.evaluators.network.network import NetworkEvaluator
    from goryu.evaluators.network.network_group import NetworkGroup


NETWORK_ERRORS = (ModelError, BackendError, OSError, ImportError)
"""The errors with which a network may fail to load."""

BATCH_WITHOUT_NETWORK = 4
"""Positions per call of an evaluator that gains nothing from batches."""


class LoadingError(GoryuError, RuntimeError):
    """The requested network cannot be loaded, and the options do not allow another evaluator.

    reason: why, without the options.
    """

    def __init__(self, reason: str, options: str = "") -> None:
        super().__init__(reason + options)
        self.reason = reason


class LostError(GoryuError, RuntimeError):
    """A network has failed, as after the loss of a GPU. Loading it again may help."""


@dataclass(frozen=True, slots=True)
class LoadedEvaluator:
    """An evaluator and its origin.

    description: one line of ASCII for the user. batch_size: of the searches that use it.
    lost: set when it has failed, as after the loss of a GPU, or is not wanted any more; replaced copies share
        it.
    stamp: changes with the content of the model files; None in place of one without a file.
    problem: why it is not the network that the config names but a weaker evaluator; "" if it is.
    """

    evaluator: Evaluator
    description: str
    batch_size: int
    config: EvaluatorConfig
    stamp: tuple[tuple[int, ...] | None, ...]
    problem: str = ""
    lost: Event = field(default_factory=Event, compare=False)

    def is_current(self, config: EvaluatorConfig) -> bool:
        """Would loading again give the same evaluator, or none, because the file is gone?"""
        if config != self.config or self.lost.is_set():
            return False
        return all(now in (None, then) for now, then in zip(_stamp(config), self.stamp, strict=True))

    def with_batches_of(self, size: int) -> "LoadedEvaluator":
        """Returns the same for searches with another batch size."""
        description = re.sub(r"\bbatch=\d+", f"batch={size}", self.description)
        return replace(self, batch_size=size, description=description)

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order; raises LostError if the network has failed."""
        try:
            return self.evaluator.evaluate(states)
        except RUN_ERRORS as error:
            raise self.lose(error) from error

    def lose(self, error: Exception) -> LostError:
        """Sets `lost`; returns what tells the user of this error."""
        self.lost.set()
        problem = first_line(error)
        return LostError(
            tr("the network has failed, and the next search loads it again: {problem}", problem=problem)
        )

    @property
    def wanted_batch(self) -> int:
        """The batch size that the config names, if it is in use; else 0."""
        return self.batch_size if self.batch_size == self.config.batch_size else 0

    @property
    def path(self) -> Path | None:
        """The model's file, None for an evaluator without one."""
        path: Path | None = getattr(self.evaluator, "path", None)
        return path

    @property
    def name(self) -> str:
        """That of the model's file, or of the kind of evaluator without one."""
        return self.config.kind if self.path is None else self.path.name

    @property
    def uses_gpu(self) -> bool:
        """Does it run on a GPU?"""
        return getattr(self.evaluator, "backend", "").lower() in GPU_BACKENDS

    def new_failures(self) -> list[str]:
        """Returns messages about devices that have failed since the last call."""
        return self.evaluator.new_failures() if hasattr(self.evaluator, "new_failures") else []

    def set_draw_value(self, value: float) -> None:
        """Sets the value of a draw to black, in [-1, +1], for a network that has an input for it."""
        if self.config.kind == "network" and hasattr(self.evaluator, "set_draw_value"):
            self.evaluator.set_draw_value(value)


def load_evaluator(config: EvaluatorConfig, report: Callable[[str], None]) -> LoadedEvaluator:
    """Returns the evaluator that the config names, or the next one in the chain that works.

    report: takes one line for every fallback, with its reason.

    Raises:
        LoadingError: the requested network cannot be loaded, and the config does not allow another evaluator.
    """
    stamp, problem = _stamp(config), ""
    evaluator: Evaluator
    if config.kind == "network":
        evaluator, description, problem = _first_that_loads(config, report)
    elif config.kind == "material":
        evaluator, description = MaterialEvaluator(), "evaluator=material"
    elif config.kind == "hashed":
        evaluator, description = HashedEvaluator(), "evaluator=hashed (reproducible noise)"
    else:
        evaluator, description = UniformEvaluator(), "evaluator=uniform"
    batch_size = getattr(evaluator, "batch_size", config.batch_size or BATCH_WITHOUT_NETWORK)
    return LoadedEvaluator(evaluator, description, batch_size, config, stamp, problem)


class SharedEvaluators:
    """The evaluators of a process in which several search at once: each is loaded once, at its first use."""

    def __init__(self, report: Callable[[str], None]) -> None:
        """report: as for `load_evaluator`."""
        self._report = report
        self._lock = Lock()
        self._locks: dict[EvaluatorConfig, Lock] = {}  # Loading one evaluator must not hold up another.
        self._loaded: dict[EvaluatorConfig, LoadedEvaluator] = {}

    def get(self, config: EvaluatorConfig) -> LoadedEvaluator:
        """Returns what `load_evaluator` returns; from any thread. Loads again if the files have changed.

        Raises LoadingError; the next call tries again.
        """
        with self._lock:
            lock = self._locks.setdefault(config, Lock())
        with lock:
            found = self._loaded.get(config)
            if found is None or not found.is_current(config):
                found = self._loaded[config] = load_evaluator(config, self._report)
            return found

    def forget(self, config: EvaluatorConfig) -> None:
        """Sets `lost` of what was loaded for a config: who uses it is to ask for another one."""
        with self._lock:
            if found := self._loaded.pop(config, None):
                found.lost.set()


def loaded_network(network: "NetworkEvaluator", config: EvaluatorConfig) -> LoadedEvaluator:
    """Returns what `load_evaluator` returns for a config with one device whose network is loaded already."""
    return LoadedEvaluator(network, network.description, network.batch_size, config, _stamp(config))


def _first_that_loads(config: EvaluatorConfig, report: Callable[[str], None]) -> tuple[Evaluator, str, str]:
    """Returns the requested network, a shipped one, or the material evaluator.

    Also returns its description, and why it is not the requested one, or "".
    """
    models = [config.model]
    if config.allows_fallback:
        models += [] if config.model else [str(default_shipped_model()[0])]
        models += [str(shipped_model())]
    problems: list[str] = []
    for model in dict.fromkeys(models):
        try:
            network = load_network(replace(config, model=model), report)
        except NETWORK_ERRORS as error:
            problems.append(str(error))
            continue
        if problems:
            text = (
                "Error! {error}; playing with the shipped {name} instead, "
                "without the options of the file next to it"
            )
            report(tr(text, error=problems[0], name=network.path.name))
        return network, network.description, "".join(problems[:1])
    reason = "; ".join(dict.fromkeys(problems))
    if not config.allows_fallback:
        raise LoadingError(reason, " (AllowFallback is false)")
    report(tr("Error! {error}; playing with the material evaluator instead", error=reason))
    return MaterialEvaluator(), "evaluator=material (the network could not be loaded)", reason


def load_network(config: EvaluatorConfig, report: Callable[[str], None]) -> "NetworkEvaluator | NetworkGroup":
    """Opens the model on the first backend that works, on every device; reports what does not work.

    Raises:
        ModelError: the file is missing, broken, or not of a known format.
        BackendError: no backend works.
    """
    first, *others = config_of_each(config)
    network = load_on_one_device(first, report)
    opened = [(network, search_threads(first.threads))]
    for other in others:
        try:
            opened.append(
                (_open_network(other, _backend_beside(network, other)), search_threads(other.threads))
            )
        except NETWORK_ERRORS as error:
            if not config.allows_fallback:
                raise
            report(tr("Error! device {device} is left out: {error}", device=other.device, error=error))
    if len(opened) == 1:
        return network
    from goryu.evaluators.network.network_group import NetworkGroup

    return NetworkGroup([each for each, _ in opened], [threads for _, threads in opened])


def load_on_one_device(config: EvaluatorConfig, report: Callable[[str], None]) -> "NetworkEvaluator":
    """Does what `load_network` does for a config with one device."""
    is_on_cpu = int(config.device) < 0 and config.backend not in CPU_BACKENDS
    wanted = "cpu" if is_on_cpu else config.backend
    backends = backend_chain(wanted, config.allows_fallback)
    network = open_on_first(backends, lambda backend: _open_network(config, backend), report)
    if network.note:
        report(network.note)
    if config.batch_size and _batch_size(config, network.backend) is None:
        text = "DNN_Batch_Size {wanted} is for the GPU; {used} on the CPU"
        report(tr(text, wanted=config.batch_size, used=network.batch_size))
    return network


def _batch_size(config: EvaluatorConfig, backend: str) -> int | None:
    """Returns the batch size for a backend; None for its own, as on the CPU that stands in for a GPU.

    There, a batch of 1,024 positions would take seconds.
    """
    wants_cpu = int(config.device) < 0 or backend_chain(config.backend, True)[0] in CPU_BACKENDS
    is_cpu = backend.lower() in CPU_BACKENDS
    return None if is_cpu and not wants_cpu else config.batch_size or None


def _backend_beside(network: "NetworkEvaluator", config: EvaluatorConfig) -> str:
    """Returns the backend of another device: that of the first network, where it can have the same."""
    if int(config.device) < 0 or network.backend.lower() not in GPU_BACKENDS:
        return config.backend if config.backend in CPU_BACKENDS else "cpu"
    return network.backend.lower()


def _open_network(config: EvaluatorConfig, backend: str) -> "NetworkEvaluator":
    # NumPy and onnxruntime are imported only when a network is needed.
    from goryu.evaluators.network.network import NetworkEvaluator

    return NetworkEvaluator(
        model_path(config),
        batch_size=_batch_size(config, backend),
        backend=backend,
        # The native search calls the network from this many threads itself, which uses the cores better.
        threads=search_threads(config.threads) if IMPLEMENTATION == "python" else 1,
        device=max(0, int(config.device)),
        streams=search_threads(config.threads) if IMPLEMENTATION == "native" else 1,
        temperature=config.temperature,
        model_format=config.model_format,
        halves={"on": True, "off": False}.get(config.fp16),
    )


def _stamp(config: EvaluatorConfig) -> tuple[tuple[int, ...] | None, ...]:
    """Returns a stamp of each model file's content (`file_stamp`), or None in place of one without a file."""
    return tuple(_stamp_of_one(each) for each in config_of_each(config) if config.kind == "network")


def _stamp_of_one(config: EvaluatorConfig) -> tuple[int, ...] | None:
    """Returns a stamp of the model file and of the weights beside it, if there are any."""
    try:
        path = model_path(config)
        stamp = file_stamp(path)
        weights = file_stamp(Path(os.path.realpath(path) + ".data"))
    except (OSError, ValueError):
        return None
    return stamp and (*stamp, *(weights or ()))
