"""Chooses the threads and the batch size of the search by measuring them, once for each machine and network.

How many threads are best depends on the cores, and on a GPU that waits for positions; how many positions to
evaluate together depends on the network and the processor. So the engine tries several of both for some
seconds, and a file in the user's cache folder keeps the choice. It counts only where the user has not set
`Threads`.

All choices search the same graph one after the other: a small graph allows small batches only, so that a new
one for each would hide what a large batch brings. A GPU's network is loaded for the largest batch before.

Weakness: another program that runs at the same time changes the result. A choice must therefore beat the
usual one clearly, and `goryu doctor` measures again. Of two measurements the one with more evaluations per
second is kept, because other programs only slow down; so a busy machine does not replace what an idle one
found. Who deletes the file forgets all measurements. GORYU_MEASURE=off neither measures nor reads the file:
matches and tests must not depend on it.
"""

import json
import os
import platform
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from goryu import __version__
from goryu.base.files import atomic_write, cache_folder, try_lock
from goryu.base.language import tr
from goryu.base.strict_json import parse_json
from goryu.implementation import IMPLEMENTATION, Board, make_puct
from goryu.players.config import MateConfig
from goryu.players.set_up.loading import LoadedEvaluator, LoadingError, load_evaluator
from goryu.players.set_up.threads import DEFAULT_THREADS, cores, usable_threads
from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import MateSolver
from goryu.search.result import SearchStats

VARIABLE = "GORYU_MEASURE"

POSITION = "l4gknl/3r2sb1/2n1pg1p1/1pppspp1p/p8/2PPPPPPP/PPB1SGN2/2R3SK1/LN3G2L b - 1"
"""A middle game: castles are built and no piece has been taken; 39 legal moves."""

MATE_NODES = MateConfig().leaf_nodes

MEASURED_S = 0.2
ROUNDS = 3
"""How long each choice is tried, and how often. The fastest round counts: other programs only slow down."""

LEAST_GAIN = 1.1
"""A choice replaces the usual one only if it is this much faster."""

ENOUGH = 0.95
"""Of choices nearly as fast as the fastest, that with the fewest positions on the way searches best."""

CPU_BATCHES = (1, 2, 4, 8)
GPU_BATCHES = (64, 128, 256, 512)
GPU_THREADS = (2, 4)
"""Threads are for each device."""

GROWING_S = 2.0
"""How long the graph grows before a GPU is measured."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Threads of the search for each device, and the positions of each network call."""

    threads: int
    batch_size: int


@dataclass(frozen=True, slots=True)
class Rate:
    """What a search with these settings does, in wall-clock time."""

    settings: Settings
    evaluations_per_s: float


def is_on() -> bool:
    """May the engine measure, and use what was measured?"""
    return IMPLEMENTATION == "native" and os.environ.get(VARIABLE, "") != "off"


def usual_settings(loaded: LoadedEvaluator) -> Settings:
    """Returns what the engine uses if nothing was measured."""
    return Settings(DEFAULT_THREADS, loaded.batch_size)


def choices(loaded: LoadedEvaluator) -> list[Settings]:
    """Returns the settings to try, the usual ones first."""
    usual, wanted = usual_settings(loaded), {loaded.wanted_batch} - {0}
    if loaded.uses_gpu:
        threads, batches = set(GPU_THREADS), wanted or set(GPU_BATCHES)
    else:
        threads, batches = {max(1, cores() // 2), cores()}, wanted or {*CPU_BATCHES, usual.batch_size}
    found = [Settings(count, batch) for count in sorted(threads) for batch in sorted(batches)]
    return [usual, *(each for each in found if each != usual)]


def new_search(evaluator: Evaluator) -> Any:
    """Returns a search for `measure`, whose graph grows from one measurement to the next."""
    return make_puct(evaluator, PuctConfig(), MateSolver(MATE_NODES), 1)


def measure(
    puct: Any,
    settings: Settings,
    seconds: float,
    hurries: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = perf_counter,
) -> Rate:
    """Searches a position with these settings for some seconds, or until `hurries` is true.

    puct: by `new_search`.
    """
    devices = len(getattr(puct.evaluator, "networks", [None]))
    puct.config = replace(puct.config, batch_size=settings.batch_size)
    puct.threads = usable_threads(devices * settings.threads)
    started_s = clock()

    def is_over(_stats: SearchStats) -> bool:
        return hurries() or clock() >= started_s + seconds

    stats = puct.search(Board(POSITION), is_over).stats
    spent_s = max(clock() - started_s, 1e-9)
    return Rate(settings, stats.evaluations / spent_s)


def best(rates: Sequence[Rate]) -> Rate:
    """Returns the rate to choose; the first is that of the usual settings."""
    usual, fastest = rates[0], max(rates, key=lambda rate: rate.evaluations_per_s)
    if fastest.evaluations_per_s < LEAST_GAIN * usual.evaluations_per_s:
        return usual
    near = [rate for rate in rates if rate.evaluations_per_s >= ENOUGH * fastest.evaluations_per_s]
    return min(
        near, key=lambda rate: (rate.settings.threads * rate.settings.batch_size, rate.settings.threads)
    )


def measure_and_remember(
    loaded: LoadedEvaluator, report: Callable[[str], None], hurries: Callable[[], bool] = lambda: False
) -> Settings | None:
    """Measures every choice for a loaded network, remembers the best and returns it.

    What was remembered before stays, and is returned, if it was measured with more evaluations per second.

    report: takes one line before the measurement, one after it, one if an earlier result stays, and one if
    the file cannot be written.
    hurries: once it is true, the measurement ends at once, and None is returned.
    """
    wanted = choices(loaded)
    growing_s = GROWING_S if loaded.uses_gpu else 0.0
    seconds = growing_s + ROUNDS * len(wanted) * MEASURED_S
    text = (
        "measuring threads and batch size for {seconds} s, once for this machine and network "
        "(GORYU_MEASURE=off skips it)"
    )
    report(tr(text, seconds=round(seconds)))
    try:
        rate = _measure_all(loaded, wanted, growing_s, report, hurries)
    except LoadingError as error:
        report(tr("nothing is measured: {error}", error=error))
        return wanted[0]
    if rate is None:
        report(tr("not measured: a search waits; the next isready measures again"))
        return None
    text = "measured: {settings}, {speed} evaluations/s (goryu doctor measures again)"
    report(tr(text, settings=told(rate.settings), speed=round(rate.evaluations_per_s)))
    earlier, earlier_per_s = _remembered(loaded)
    if earlier is not None and earlier_per_s > rate.evaluations_per_s:
        if earlier != rate.settings:
            text = (
                "kept: {settings}, measured earlier with {speed} evaluations/s; "
                "the faster of two measurements counts (to forget it, delete {file})"
            )
            report(tr(text, settings=told(earlier), speed=round(earlier_per_s), file=_file()))
        return earlier
    try:
        remember(loaded, rate)
    except OSError as error:
        report(tr("what was measured cannot be kept: {error}", error=error))
    return rate.settings


def _measure_all(
    loaded: LoadedEvaluator,
    wanted: Sequence[Settings],
    growing_s: float,
    report: Callable[[str], None],
    hurries: Callable[[], bool],
) -> Rate | None:
    """Returns the rate of the best settings; None if `hurries` was true before the end."""
    if hurries():
        return None
    puct = new_search(_with_room(loaded, wanted, report).evaluator)
    # The first search of a process is slower.
    largest = max(wanted, key=lambda each: each.threads * each.batch_size)
    measure(puct, largest, growing_s or MEASURED_S, hurries)
    rounds: list[list[Rate]] = []
    for _ in range(ROUNDS):
        rounds.append([])
        for settings in wanted:
            if hurries():
                return None
            rounds[-1].append(measure(puct, settings, MEASURED_S, hurries))
    if hurries():
        return None
    return best([max(rates, key=lambda rate: rate.evaluations_per_s) for rates in zip(*rounds, strict=True)])


def _with_room(
    loaded: LoadedEvaluator, wanted: Sequence[Settings], report: Callable[[str], None]
) -> LoadedEvaluator:
    """Returns the evaluator with room for the largest batch, and with a stream for each thread.

    Raises LoadingError if the GPU's memory, for instance, does not suffice for it.
    """
    if not loaded.uses_gpu:
        return loaded
    batch_size, threads = max(each.batch_size for each in wanted), max(each.threads for each in wanted)
    large = load_evaluator(replace(loaded.config, batch_size=batch_size, threads=threads), report)
    if not large.uses_gpu:
        raise LoadingError(f"{threads} batches of {batch_size} do not fit on the GPU")
    return large


def told(settings: Settings) -> str:
    """Returns settings in the words of the options."""
    return f"Threads {settings.threads}, DNN_Batch_Size {settings.batch_size}"


# The file.


def remembered(loaded: LoadedEvaluator) -> Settings | None:
    """Returns what was measured for this machine and network, or None."""
    return _remembered(loaded)[0]


def _remembered(loaded: LoadedEvaluator) -> tuple[Settings | None, float]:
    """Returns what was measured, and its evaluations per second; None and 0 if the file has no such entry."""
    entry: Any = _read().get(key_of(loaded))
    with suppress(TypeError, ValueError, KeyError):
        settings = Settings(int(entry["threads"]), int(entry["batch_size"]))
        if settings.threads >= 1 and settings.batch_size >= 1:
            return settings, float(entry["evaluations_per_s"])
    return None, 0.0


def remember(loaded: LoadedEvaluator, rate: Rate) -> None:
    """Writes the settings and their rate to the file; raises OSError."""
    path = _file()
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = asdict(rate.settings) | {"evaluations_per_s": round(rate.evaluations_per_s)}
    with path.with_suffix(".lock").open("a") as lock:
        for _ in range(100):  # Another engine writes its own entry.
            if try_lock(lock):
                break
            sleep(0.02)
        entries = {**_read(), key_of(loaded): entry}
        atomic_write(path, json.dumps(entries, indent=1, sort_keys=True) + "\n")


def key_of(loaded: LoadedEvaluator) -> str:
    """Returns a text that changes with machine, backend, versions, model file and the batch size wanted."""
    network = re.sub(r" (?:batch|threads|streams|searchers)=\S+", "", loaded.description)
    batch = f"; DNN_Batch_Size {loaded.wanted_batch}" if loaded.wanted_batch else ""
    return f"{_processor()} {cores()} cores; goryu {__version__}; {network}{batch}"


def _file() -> Path:
    return cache_folder() / "measured.json"


def _read() -> dict[str, Any]:
    """Returns the entries; none if the file is missing or damaged: it is then written anew."""
    try:
        entries = parse_json(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _processor() -> str:
    with suppress(OSError):  # platform.processor() is empty on Linux.
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
        if found:
            return found.group(1)
    return platform.processor() or platform.machine()
