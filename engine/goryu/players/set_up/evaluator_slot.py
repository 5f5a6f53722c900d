"""The place of a player's evaluator: what is loaded in it, what was measured for it, why it is empty."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path

from goryu.base.language import tr
from goryu.implementation import IMPLEMENTATION, WHY
from goryu.players.config import EvaluatorConfig
from goryu.players.set_up import measuring
from goryu.players.set_up.devices import are_alike, has_several_devices, on_the_cpu, searching_threads
from goryu.players.set_up.loading import LoadedEvaluator, LoadingError, load_evaluator
from goryu.players.set_up.measuring import Settings
from goryu.players.set_up.model_path import default_model, told_choice
from goryu.players.set_up.threads import THREADS_PER_CORE, cores, search_threads, usable_threads

Report = Callable[[str], None]

RELOAD_MS, RELOAD_MS_PER_MB = 400.0, 120.0
"""Twice the time in which our kernel loads a network on a free core, and some for the search."""


class EvaluatorSlot:
    """Holds the evaluator of a player, with the threads and the batch size that suit it.

    loaded: None if there is no evaluator. problem: why there is none.
    """

    def __init__(self, loaded: LoadedEvaluator | None = None) -> None:
        self.loaded = loaded
        self.problem = "none was loaded"
        self._settings: Settings | None = None  # What was measured, if the config leaves the choice to us.
        self._uses_measured = False

    def load(
        self,
        config: EvaluatorConfig,
        report: Report,
        *,
        uses_measured: bool,
        hurries: Callable[[], bool] | None = None,
    ) -> None:
        """Loads the evaluator of this config, unless it `is_current`, and measures for it.

        uses_measured: may the search use measured threads and batch sizes? Exact repetition forbids it.
        hurries: as in `Player.load`; None to measure nothing now.
        """
        self._uses_measured = uses_measured
        if not self.is_current(config, uses_measured=uses_measured) and not self._open(config, report):
            return
        assert self.loaded is not None
        if uses_measured and self._settings is None:
            self._use_measured(self.loaded, report, hurries)
        wanted = searching_threads(config)
        if usable_threads(wanted) < wanted:
            text = "Threads {wanted}: using {each} for each of {cores} cores, to answer in time"
            report(tr(text, wanted=wanted, each=THREADS_PER_CORE, cores=cores()))
        if not config.model and self.loaded.path == default_model()[0]:
            report(tr("network: {name}", name=told_choice(config)))
        searchers = self.threads if IMPLEMENTATION == "native" else 1
        report(f"{self.loaded.description} searchers={searchers} implementation={IMPLEMENTATION} ({WHY})")

    def is_current(self, config: EvaluatorConfig, *, uses_measured: bool) -> bool:
        """Is this the evaluator that `load` would load? The arguments are those of `load`."""
        is_as_wanted = uses_measured or self._settings is None
        return self.loaded is not None and is_as_wanted and self.loaded.is_current(config)

    def reload(self, report: Report) -> None:
        """Loads the evaluator again, after it has failed.

        In place of a GPU on the CPU, where that is allowed: it takes a second there, and half a minute on a
        GPU. The next `load` tries the GPU again.
        """
        if self.loaded is not None:
            config, uses_gpu, self.loaded = self.loaded.config, self.loaded.uses_gpu, None
            if uses_gpu and config.allows_fallback:
                config = on_the_cpu(config)
                report(tr("the CPU takes the place of the GPU"))
            self.load(config, report, uses_measured=self._uses_measured)

    def reload_ms(self) -> float:
        """Returns milliseconds in which `reload` can be expected to end, with time for a search."""
        loaded = self.loaded
        if loaded is None or (loaded.uses_gpu and not loaded.config.allows_fallback):
            return inf
        try:
            size = loaded.path.stat().st_size if loaded.path else 0
        except OSError:
            return inf
        return RELOAD_MS + RELOAD_MS_PER_MB * size / 1e6

    def require(self) -> LoadedEvaluator:
        """Returns the evaluator; raises LoadingError if there is none."""
        if self.loaded is None:
            raise LoadingError(f"no evaluator: {self.problem}")
        return self.loaded

    @property
    def network_path(self) -> Path | None:
        """The file of the network that plays, None without one."""
        return self.loaded.path if self.loaded is not None else None

    @property
    def threads(self) -> int:
        """The threads of the search for all devices."""
        config = self.require().config
        measured = self._settings.threads if self._settings is not None else 0
        if has_several_devices(config):
            return usable_threads(searching_threads(config, measured))
        return search_threads(config.threads or measured)

    def _open(self, config: EvaluatorConfig, report: Report) -> bool:
        """Replaces the evaluator; returns whether there is one now."""
        self._settings = None
        self.problem = "it could not be loaded"
        self.loaded = None  # A new network needs the memory of the old one.
        try:
            self.loaded = load_evaluator(config, report)
        except LoadingError as error:
            self.problem = str(error)
            report(f"Error! {error}")
        return self.loaded is not None

    def _use_measured(
        self, loaded: LoadedEvaluator, report: Report, hurries: Callable[[], bool] | None
    ) -> None:
        """Uses what was measured for the evaluator, now or earlier, if anything was."""
        settings = _measured_settings(loaded, report, hurries)
        sized = _sized(loaded, settings, report) if settings is not None else None
        if sized is not None:
            self.loaded, self._settings = sized, settings


def _measured_settings(
    loaded: LoadedEvaluator, report: Report, hurries: Callable[[], bool] | None
) -> Settings | None:
    """Returns what was measured, or None if nothing may be or `hurries` has ended it."""
    config = loaded.config
    if config.threads or config.kind != "network" or not measuring.is_on():
        return None
    if has_several_devices(config) and not (loaded.uses_gpu and are_alike(config)):
        return None
    settings = measuring.remembered(loaded)
    if settings is None and hurries is not None:
        settings = measuring.measure_and_remember(loaded, report, hurries)
    return settings


def _sized(loaded: LoadedEvaluator, settings: Settings, report: Report) -> LoadedEvaluator | None:
    """Returns the evaluator for batches of the measured size, or of the user's; None if they have no room.

    On a GPU it is loaded again, with room for these batches and with a stream for each thread.
    """
    config = loaded.config
    batch_size = loaded.wanted_batch or settings.batch_size
    if loaded.uses_gpu and Settings(settings.threads, batch_size) != measuring.usual_settings(loaded):
        try:
            large = load_evaluator(replace(config, batch_size=batch_size, threads=settings.threads), report)
        except LoadingError as error:
            report(tr("Error! {error}; using the usual threads and batch size", error=error))
            return None
        if not large.uses_gpu:
            text = "no room for batches of {size} on the GPU; using the usual threads and batch size"
            report(tr(text, size=batch_size))
            return None
        loaded = replace(large, config=config)
    return loaded.with_batches_of(batch_size)
