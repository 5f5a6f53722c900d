"""`goryu doctor`: checks the installation, measures its speed, and names the program for a GUI.

`goryu doctor MODEL` does so with a network of the user's, and examines this (`model_examination.py`).

Every line is one finding. A line that begins with `!` is a problem, with its reason. The exit status is 1
after a line that begins with `! broken`.
"""

import platform
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from goryu import __version__
from goryu.base.arguments import ArgumentParser
from goryu.base.errors import InputError
from goryu.base.installation import is_checkout
from goryu.base.language import tr
from goryu.base.printable import printable
from goryu.players.config import EngineConfig, EvaluatorConfig

if TYPE_CHECKING:
    from goryu.evaluators.network.network import NetworkEvaluator
    from goryu.players.set_up.loading import LoadedEvaluator

PACKAGES = (
    "numpy",
    "python-shogi",
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-openvino",
)

MEASURED_S = 1.0
"""How long each measurement takes."""


def main(arguments: Sequence[str]) -> int:
    """Runs every check and returns 0 if the network plays, else 1."""
    parser = ArgumentParser("goryu doctor", description=tr("Checks the installation and measures its speed."))
    about_model = tr("ONNX model to examine (default: the strongest one here)")
    parser.add_argument("model", nargs="?", default="", metavar="MODEL", help=about_model)
    options = parser.parse_args(arguments)
    is_working = True
    for line in _findings(options.model):
        is_working = is_working and not line.startswith("! broken")
        sys.stdout.write("".join(f"{printable(part)}\n" for part in line.split("\n")))
        sys.stdout.flush()
    for line in _registration():
        sys.stdout.write(f"{printable(line)}\n")
    return 0 if is_working else 1


def _findings(model: str) -> Iterator[str]:
    yield from _installation()
    try:
        yield from _rules()
    except ImportError as error:  # Every other check needs a board.
        yield "! broken: " + tr("search and rules: {reason}", reason=f"{error}{_advice()}")
        return
    config = yield from _options(model)
    network = yield from _network(config.evaluator)
    if model and network is not None:
        from goryu.commands.model_examination import examine

        yield from examine(network)
    loaded = yield from _evaluator(config.evaluator, network)
    if loaded is not None:
        yield from _search(*(yield from _settings(config, loaded)))


def _installation() -> Iterator[str]:
    yield f"goryu {__version__} in {Path(__file__).resolve().parents[1]}"
    yield f"Python {platform.python_version()} on {platform.platform()}, {sys.executable}"
    for name in PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            if name in ("numpy", "python-shogi"):
                yield "! broken: " + tr("{name} is not installed", name=name)


def _rules() -> Iterator[str]:
    from goryu.implementation import IMPLEMENTATION, WHY

    mark = "" if IMPLEMENTATION == "native" else "! slow: "
    yield mark + tr("search and rules: {reason}", reason=f"{IMPLEMENTATION} ({WHY}){_advice()}")


def _advice() -> str:
    """Returns how to build the native code, "" if it is built."""
    if find_spec("goryu._native") is not None:
        return ""
    if not is_checkout():
        return tr("; to build the native code, install a C++ compiler and then goryu again")
    return tr("; tools/dev.py setup builds the native code or explains why it cannot")


def _options(model: str) -> Generator[str, None, EngineConfig]:
    """Yields what the files of options set; returns the config with which a GUI would play."""
    from goryu.usi.start_config import start_options

    try:
        options, problems = start_options(model)
    except InputError as error:  # `engine_options.txt` names another network.
        yield f"! broken: {error}"
        options, problems = start_options("")
    yield from (f"! {problem}" for problem in problems)
    yield from (*options.fixed_messages(), *options.model_messages())
    return options.config


def _network(wanted: EvaluatorConfig) -> Generator[str, None, "NetworkEvaluator | None"]:
    """Yields the backends that onnxruntime offers, and which of them work with the network.

    Returns the network on the wanted backend, None if that does not work.
    """
    from goryu.evaluators.network.model_files import ModelError
    from goryu.evaluators.network.providers import (
        BACKENDS,
        BackendError,
        absent_backends,
        import_onnxruntime,
    )
    from goryu.players.set_up.devices import config_of_each
    from goryu.players.set_up.loading import load_on_one_device
    from goryu.players.set_up.model_path import model_path, told_choice

    absent: Sequence[str]
    try:
        providers = ", ".join(import_onnxruntime().get_available_providers())
    except BackendError as error:
        yield str(error)  # Goryu's own kernel needs none.
        absent = [name for name in BACKENDS if name not in ("auto", "cpu")]
    else:
        yield tr("onnxruntime offers: {providers}", providers=providers)
        absent = absent_backends()
        yield tr("backends that it does not contain: {names}", names=", ".join(absent))
    try:
        path = model_path(wanted)
        yield tr("model {path}", path=path)
        if not wanted.model:
            yield tr("network: {name}", name=told_choice(wanted))
        if not path.is_file():
            raise ModelError(tr("model {path}: no such file", path=path))
    except ModelError as error:
        yield f"! broken: {error}"
        return None
    found = None
    for backend in (name for name in BACKENDS if name not in absent):
        notes: list[str] = []
        config = replace(config_of_each(wanted)[0], backend=backend, allows_fallback=False)
        try:
            network = load_on_one_device(config, notes.append)
        except (BackendError, ModelError) as error:
            mark = "! broken: " if backend in ("auto", "cpu") else ""
            yield mark + tr("backend {backend}: {error}", backend=backend, error=error)
            continue
        yield from (f"! {note}" for note in notes)
        text, rate = "backend {backend}: {rate:.0f} positions/s; {network}", _evaluations_per_second(network)
        yield tr(text, backend=backend, rate=rate, network=network.description)
        if backend == wanted.backend:
            found = network
    return found


def _evaluations_per_second(network: "NetworkEvaluator") -> float:
    """Returns the rate of the network alone; making planes in Python would be slower than a GPU."""
    from goryu.implementation import Board

    inputs = network.new_inputs(network.batch_size)
    for i in range(network.batch_size):
        network.format.fill(Board(), [rows[i] for rows in inputs])
    return network.batch_size * _rate(lambda: network.run(inputs))


def _rate(work: Callable[[], object]) -> float:
    """Returns how often per second `work` can be called."""
    start_s, count = perf_counter(), 0
    while perf_counter() - start_s < MEASURED_S:
        work()
        count += 1
    return count / (perf_counter() - start_s)


def _evaluator(
    config: EvaluatorConfig, network: "NetworkEvaluator | None"
) -> Generator[str, None, "LoadedEvaluator | None"]:
    """Yields every fallback; returns the evaluator of the engine, None if it would have none.

    network: the wanted one, if it is loaded already.
    """
    from goryu.players.set_up.devices import has_several_devices
    from goryu.players.set_up.loading import LoadingError, load_evaluator, loaded_network

    if network is not None and config.kind == "network" and not has_several_devices(config):
        return loaded_network(network, config)
    loaded, messages = None, list[str]()
    try:
        loaded = load_evaluator(config, messages.append)
    except LoadingError as error:
        messages.append(f"Error! {error}")
    yield from map(_marked, messages)
    return loaded


def _marked(message: str) -> str:
    return f"! broken: {message}" if message.startswith("Error!") else message


def _settings(
    config: EngineConfig, loaded: "LoadedEvaluator"
) -> Generator[str, None, tuple[EngineConfig, "LoadedEvaluator | None"]]:
    """Measures the threads and the batch size that the engine will use; returns what to search with.

    The evaluator is None if the player must load it again for another batch size.
    """
    from goryu.players.set_up import measuring

    wanted = config.evaluator
    if wanted.threads or wanted.kind != "network" or not measuring.is_on():
        return config, loaded
    before, messages = measuring.remembered(loaded), list[str]()
    now = measuring.measure_and_remember(loaded, messages.append)
    assert now is not None, "nothing hurries"
    yield from messages
    if before is not None and before != now:
        yield tr("before: {settings}", settings=measuring.told(before))
    batch_size = wanted.batch_size or now.batch_size
    if loaded.uses_gpu and batch_size != loaded.batch_size:
        return config, None
    measured = replace(wanted, threads=now.threads)
    return replace(config, evaluator=measured), replace(loaded.with_batches_of(batch_size), config=measured)


def _search(config: EngineConfig, loaded: "LoadedEvaluator | None") -> Iterator[str]:
    """Searches the start position for a second."""
    from goryu.games.shogi import move_to_usi
    from goryu.implementation import Board
    from goryu.players.clock.limits import Limits
    from goryu.players.player import Player
    from goryu.players.request import Request, SearchControl
    from goryu.players.set_up.evaluator_slot import EvaluatorSlot

    config = replace(config, book_file=replace(config.book_file, is_wanted=False))
    player, messages = Player(slot=EvaluatorSlot(loaded)), list[str]()
    player.load(config, messages.append)
    yield from map(_marked, messages)
    request = Request(Board(), Limits(movetime_ms=1000 * MEASURED_S), config, perf_counter())
    answer = player.search(request, SearchControl(), lambda result, elapsed_ms: None)
    if answer.move is None or answer.result is None:
        yield "! broken: " + tr("the search found no move")
        return
    rate = 1000 * answer.result.stats.playouts / answer.elapsed_ms
    yield tr(
        "search: {rate:.0f} playouts/s, the first move would be {move}",
        rate=rate,
        move=move_to_usi(answer.move),
    )


def _registration() -> Iterator[str]:
    """Yields the program to register in a GUI."""
    scripts = Path(sys.executable).parent
    program = scripts / ("goryu.exe" if sys.platform == "win32" else "goryu")
    packed = scripts.parent / "goryu.exe"  # In the zip for Windows, one folder above Python's.
    program = packed if sys.platform == "win32" and packed.is_file() else program
    launcher = Path(__file__).resolve().parents[3] / "bat" / "usi.bat"
    if program.is_file():
        yield tr("register in the GUI: {program}", program=program)
    elif sys.platform == "win32" and launcher.is_file():
        yield tr("register in the GUI: {program}", program=launcher)
    else:
        yield "! " + tr(
            "{program} is missing: run `pip install -e .` in the checkout",
            program=program,
        )
