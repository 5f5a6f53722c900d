"""Shared by all tests: the choice of the native classes, and a header that names the goryu under test."""

import gc
import importlib
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

import goryu
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.network.providers import BackendError
from goryu.games.state import State
from goryu.search.evaluator import Evaluation, Evaluator

for folder in ("tools", "tools/experiments", "tests/helpers"):  # Their files import each other by name.
    sys.path.append(str(Path(__file__).parents[1] / folder))

FIRST = (
    "engine/native/test_sanitizers.py", "lab/work/test_cluster.py", "repository/test_texts.py",
    "lab/loop/test_board_games.py", "repository/test_notebooks.py", "lab/training/test_process_group.py",
    "page/test_page_story.py", "acceptance/test_sessions.py", "repository/test_lint.py",
    "lab/lessons/test_pseudocode.py", "acceptance/test_process.py", "lab/commands/training/test_learn.py",
    "page/test_page_textbook.py", "engine/native/test_puct.py", "lab/loop/test_shogi.py",
    "repository/test_docs.py", "engine/players/agents/test_making.py", "engine/csa/test_client.py",
)  # fmt: skip
"""The files that take longest, the longest first: at the end of a run no process should wait for another."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    places = {tests / name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    gc.freeze()  # Collections need not look through all that the tests have imported.


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--native",
        choices=("auto", "require", "off"),
        default="auto",
        help="tests of native code that is not built: skip (auto) or fail (require); off: skip all",
    )


def pytest_configure() -> None:
    # Containers tend to set this variable. Then each of the hundreds of programs that tests start would
    # compile goryu again, and each run all tests.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    os.environ["GORYU_BOOK"] = "off"  # A test of the search must not be answered from the book.
    os.environ["GORYU_MEASURE"] = "off"  # The threads of a search must not depend on a file of the user.
    os.environ["GORYU_NETWORK"] = "shipped"  # Nor must anything depend on what the user has downloaded.
    os.environ["GORYU_LANGUAGE"] = "en"  # Tests expect English, whatever the machine's locale.
    # Each test process has one core: the threads of PyTorch and BLAS would only wait for each other.
    os.environ["OMP_NUM_THREADS"] = "1"
    # A shell starts background jobs with Ctrl-C ignored, and their children inherit it; some tests send it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # No test is about time: machines are shared.
    settings.register_profile("goryu", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("goryu")


def pytest_report_header() -> str:
    try:
        from goryu.implementation import IMPLEMENTATION, WHY
    except ImportError as error:
        return f"goryu: {error}"
    return f"goryu {goryu.__version__} from {goryu.__path__[0]}: {IMPLEMENTATION} ({WHY})"


@pytest.fixture(scope="session")
def native(request: pytest.FixtureRequest) -> ModuleType:
    """goryu._native, if --native allows it."""
    mode = request.config.getoption("--native")
    if mode == "off":
        pytest.skip("--native=off")
    try:
        return importlib.import_module("goryu._native")
    except ImportError as error:
        if mode == "require":
            raise
        pytest.skip(f"native code not built: {error}")


# How the engine is started. The default is the installed implementation, with stderr unread. Slow tests use
# the Python one, with stderr merged into stdout, where every line must be a USI line.

MODES = [
    pytest.param(("", "unread"), id="as-built"),
    pytest.param(("python", "merged"), id="python-merged", marks=pytest.mark.slow),
]


@pytest.fixture(scope="module", params=MODES)
def mode(request: pytest.FixtureRequest) -> tuple[str, str]:
    mode: tuple[str, str] = request.param
    return mode


class Failing:
    """A `HashedEvaluator` that raises an error after `calls` calls: that of a lost GPU, or another one."""

    def __init__(self, calls: int, message: str, error: type[Exception] = BackendError) -> None:
        self.calls, self.message, self.error = calls, message, error

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        self.calls -= 1
        if self.calls < 0:
            raise self.error(self.message)
        return HashedEvaluator().evaluate(states)


@pytest.fixture(scope="session")
def int8_network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """goryu-5x64 in 8-bit integers."""
    pytest.importorskip("onnx")
    from goryu.evaluators.network.model_files import models_folder
    from goryu_lab.conversion.smaller import write_smaller

    path = tmp_path_factory.mktemp("int8") / "goryu-5x64-int8.onnx"
    write_smaller(models_folder() / "goryu-5x64.onnx", path, "int8", 32)
    return path


@pytest.fixture(scope="session")
def format_models(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], Path]:
    """A small network with random weights for every format, in floats and in halves."""
    pytest.importorskip("onnx")
    from goryu_lab.benchmark.random_network import TENSORS, write_random_network

    folder = tmp_path_factory.mktemp("models")
    found = {
        (kind, is_half): folder / f"{kind}-{is_half}.onnx" for kind in TENSORS for is_half in (False, True)
    }
    for (kind, is_half), path in found.items():
        write_random_network(1, 8, path, kind=kind, is_half=is_half)
    return found


@pytest.fixture(scope="session")
def miniosl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The library minioslcc; the package miniosl is put into a folder if it is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        if importlib.util.find_spec("miniosl") is None:
            folder = tmp_path_factory.mktemp("miniosl")
            command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
            done = subprocess.run(
                [*command, "--target", str(folder), "miniosl"], capture_output=True, text=True, check=False
            )
            if done.returncode:
                pytest.skip(f"miniosl cannot be had: {done.stderr.strip()[-300:]}")
            patch.syspath_prepend(folder)
        yield pytest.importorskip("minioslcc")


@pytest.fixture
def failing() -> Callable[..., Evaluator]:
    """Makes an evaluator that raises an error with a message after a number of calls."""
    return Failing
