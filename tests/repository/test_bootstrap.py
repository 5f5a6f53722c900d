"""Setting up a checkout: which steps are repeated, the stamps, and the messages of failures."""

import importlib
import platform
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from paths import ROOT

TOOLS = ROOT / "tools"


@pytest.fixture
def bootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """tools/bootstrap.py for a small checkout in a temporary folder; this Python is that of its .venv."""
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])
    module = importlib.import_module("bootstrap")
    for name, value in {"ROOT": tmp_path, "VENV": tmp_path / ".venv", "LOGS": tmp_path / "build"}.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module, "PYTHON", sys.executable)
    monkeypatch.setenv("CXX", "c++")
    monkeypatch.delenv("GORYU_REQUIRE_NATIVE", raising=False)
    for folder in (".venv", "native/core", "engine/goryu"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "setup.py").write_text("raise SystemExit('this build fails')\n")
    (tmp_path / "native" / "_native.pyx").write_text("# a module\n")
    return module


def test_a_failed_step_shows_the_end_of_its_log_and_advice(bootstrap: ModuleType) -> None:
    noisy = "for n in range(100): print('line', n)\nraise SystemExit(3)"
    with pytest.raises(bootstrap.StepError) as failure:
        bootstrap.step("noise", "making noise", [sys.executable, "-c", noisy], "be quiet")
    first, *rest = str(failure.value).splitlines()
    assert first == "making noise failed"
    assert rest[0] == "  | line 80"
    assert rest[-2:] == [f"  whole log: {bootstrap.LOGS / 'noise.log'}", "be quiet"]


def test_steps_do_not_read_stdin_or_write_stdout(
    bootstrap: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    reads = "import sys; print(repr(sys.stdin.read()), 'on stdout')"
    bootstrap.step("reads", "reading", [sys.executable, "-c", reads], "")
    assert (bootstrap.LOGS / "reads.log").read_text() == "'' on stdout\n"
    assert capfd.readouterr().out == ""


def test_an_install_is_repeated_for_new_extras_and_for_a_changed_project(bootstrap: ModuleType) -> None:
    assert not bootstrap.install_is_current([])
    bootstrap.write_stamp("install", key=bootstrap.install_key(), extras=["test"])
    assert bootstrap.install_is_current([])
    assert bootstrap.install_is_current(["test"])
    assert not bootstrap.install_is_current(["tools"])
    (bootstrap.ROOT / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    assert not bootstrap.install_is_current([])


EXTRAS = {
    "cpu": ["onnxruntime>=1.22"],
    "cuda": ["onnxruntime-gpu[cuda,cudnn]>=1.28"],
    "cuda12": ["onnxruntime-gpu[cuda,cudnn]>=1.22,<1.27"],
    "directml": ["onnxruntime-directml>=1.22"],
    "train": ["torch>=2.4", "onnx"],
}
NO_GPU = ((0, 0), 0)
RTX = ((8, 9), 13_000)


class Machine:
    """Records the commands for pip instead of running them.

    runtimes: the distributions in .venv; gpu: what `nvidia_gpu` finds.
    """

    def __init__(self, bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commands: list[str] = []
        self.runtimes: list[str] = []
        self.gpu = NO_GPU
        project = {"build-system": {"requires": ["setuptools"]}, "project": {"optional-dependencies": EXTRAS}}
        for name, function in {
            "create_venv": lambda: None,
            "project": lambda: project,
            "step": lambda name, message, command, *_, **__: self.commands.append(" ".join(command[3:])),
            "installed_runtimes": lambda: self.runtimes,
            "nvidia_gpu": lambda: self.gpu,
        }.items():
            monkeypatch.setattr(bootstrap, name, function)

    def installed(self) -> str:
        """Returns the extras of the last install."""
        return self.commands[-1].rpartition("--editable ")[2]


@pytest.fixture
def machine(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(bootstrap, monkeypatch)


@pytest.mark.parametrize(
    "gpu, runtime",
    [
        (NO_GPU, "cpu"),
        (RTX, "cuda"),
        (((8, 9), 12_040), "cuda12"),  # The driver is too old for CUDA 13.
        (((6, 1), 13_000), "cuda12"),  # A GTX 10xx, which CUDA 13 does not know.
    ],
)
def test_the_onnxruntime_fits_the_machine(
    gpu: tuple[tuple[int, int], int], runtime: str, bootstrap: ModuleType, machine: Machine
) -> None:
    machine.gpu = gpu
    bootstrap.install(["test"])
    assert machine.installed() == f".[test,{runtime}]"


def test_what_the_user_chose_stays(bootstrap: ModuleType, machine: Machine) -> None:
    machine.gpu = RTX
    bootstrap.install(["test", "cpu"])
    bootstrap.install(["tools"], looks_again=True)
    assert machine.installed() == ".[test,tools,cpu]"
    assert bootstrap.install_is_current(["test", "cpu"])
    assert not bootstrap.install_is_current(["cuda"])


def test_what_nobody_chose_follows_the_machine_at_the_next_setup(
    bootstrap: ModuleType, machine: Machine
) -> None:
    bootstrap.install([])
    machine.gpu, machine.runtimes = RTX, ["onnxruntime"]
    bootstrap.install(["test"])  # A verb that needs an extra does not begin to download CUDA.
    assert machine.installed() == ".[test,cpu]"
    bootstrap.install([], looks_again=True)
    assert machine.installed() == ".[test,cuda]"


def test_another_onnxruntime_replaces_the_one_that_is_there(bootstrap: ModuleType, machine: Machine) -> None:
    machine.runtimes = ["onnxruntime-gpu"]
    bootstrap.install(["directml"])
    assert "uninstall" in machine.commands[-2]
    assert {*machine.commands[-2].split()} >= {*bootstrap.DISTRIBUTIONS}
    assert machine.installed() == ".[directml]"


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="others have no CUDA")
def test_pytorch_comes_from_a_folder_of_wheels_that_pip_knows(
    bootstrap: ModuleType, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*arguments: str) -> str:
        return "Would install torch-2.13.0+cpu" if "--dry-run" in arguments else ""

    monkeypatch.setattr(bootstrap, "ask_python", ask)
    bootstrap.install(["train"])
    (asked,) = (command for command in machine.commands if "torch" in command)
    assert asked.endswith("--no-index --no-deps torch>=2.4")
    assert machine.installed() == ".[train,cpu]"


@pytest.mark.skipif(sys.platform == "win32", reason="makes links")
def test_a_broken_virtual_environment_is_repaired(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []
    python = bootstrap.programs(bootstrap.VENV).python
    monkeypatch.setattr(bootstrap, "PYTHON", str(python))
    monkeypatch.setattr(bootstrap, "step", lambda name, message, command, advice: calls.append(command[3:]))
    venv = str(bootstrap.VENV)

    python.parent.mkdir()
    python.symlink_to("a Python that is gone")
    bootstrap.create_venv()
    assert calls.pop() == ["--clear", venv]

    python.unlink()
    python.write_text(f'#!/bin/sh\n[ "$2" = pip ] && exit 1\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    bootstrap.create_venv()
    assert calls.pop() == [venv]

    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    bootstrap.create_venv()
    assert calls == []


def test_a_failed_native_build_removes_the_stale_extension_and_is_remembered(bootstrap: ModuleType) -> None:
    stale = bootstrap.ROOT / "engine" / "goryu" / "_native.cpython-311.so"
    stale.touch()
    bootstrap.build_native()
    assert not stale.exists()
    assert bootstrap.native_is_current()
    assert bootstrap.read_stamp("native")["failure"] == "building the native code failed"
    assert "this build fails" in (bootstrap.LOGS / "native.log").read_text()


def test_a_changed_source_is_built_again(bootstrap: ModuleType) -> None:
    bootstrap.build_native()
    (bootstrap.ROOT / "native" / "core" / "new.h").touch()
    assert not bootstrap.native_is_current()


def test_a_required_build_must_not_fail(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    bootstrap.build_native()
    monkeypatch.setenv("GORYU_REQUIRE_NATIVE", "1")
    assert not bootstrap.native_is_current()
    with pytest.raises(bootstrap.StepError):
        bootstrap.build_native()


@pytest.mark.skipif(sys.platform == "win32", reason="there setuptools looks for the compiler")
def test_a_missing_compiler_is_recorded_as_the_reason(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "cxx", lambda: "")
    bootstrap.build_native()
    assert bootstrap.read_stamp("native")["failure"] == "no C++ compiler found"


def test_a_built_module_stays_when_a_gui_starts_the_engine_without_the_compiler(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = bootstrap.ROOT / "engine" / "goryu" / "_native.so"
    module.touch()
    bootstrap.write_stamp("native", key=bootstrap.native_key(), failure="", compiler=bootstrap.compiler_key())
    monkeypatch.setattr(bootstrap, "cxx", lambda: "")
    monkeypatch.setenv("CXXFLAGS", "-O3")
    assert bootstrap.native_is_current()
    with pytest.raises(bootstrap.StepError, match="the native code that is there is kept"):
        bootstrap.build_native()  # As `setup` does.
    assert module.exists()
    assert bootstrap.native_is_current()


@pytest.fixture
def downloads(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tries to download the network; each fails."""
    tries: list[str] = []

    def step(name: str, *_: object) -> None:
        tries.append(name)
        (bootstrap.LOGS / "network.log").write_text("long ago\nno route to host\n")
        raise bootstrap.StepError("failed")

    monkeypatch.delenv("GORYU_NETWORK")
    monkeypatch.setattr(bootstrap, "DOWNLOADS", bootstrap.ROOT / "downloads")
    monkeypatch.setattr(bootstrap, "step", step)
    bootstrap.LOGS.mkdir()
    bootstrap.DOWNLOADS.mkdir()
    bootstrap.write_stamp("native", failure="")
    return tries


def test_a_failed_download_of_the_network_is_tried_again_after_a_day_or_by_setup(
    bootstrap: ModuleType,
    downloads: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bootstrap.fetch_network()
    assert "no route to host" in capsys.readouterr().err.splitlines()[-1]
    bootstrap.fetch_network()
    assert capsys.readouterr().err == ""
    assert len(downloads) == 1
    bootstrap.fetch_network(looks_again=True)
    assert len(downloads) == 2
    now_s = time.time()
    monkeypatch.setattr(time, "time", lambda: now_s + bootstrap.RETRY_S + 1)
    bootstrap.fetch_network()
    assert len(downloads) == 3


def test_the_network_is_not_downloaded_if_it_is_declined_there_or_of_no_use(
    bootstrap: ModuleType,
    downloads: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bootstrap.fetch_network(is_declined=True)
    assert len(capsys.readouterr().err.splitlines()) == 1
    bootstrap.fetch_network(is_declined=True)
    bootstrap.fetch_network()
    monkeypatch.setenv("GORYU_NETWORK", "shipped")
    bootstrap.fetch_network(looks_again=True)
    monkeypatch.delenv("GORYU_NETWORK")
    bootstrap.write_stamp("native", failure="no compiler")
    bootstrap.fetch_network(looks_again=True)
    bootstrap.write_stamp("native", failure="")
    (bootstrap.DOWNLOADS / "miniosl.onnx").touch()
    bootstrap.fetch_network(looks_again=True)
    assert downloads == []
    assert capsys.readouterr().err == ""
    (bootstrap.DOWNLOADS / "miniosl.onnx").unlink()
    bootstrap.fetch_network(looks_again=True)
    assert len(downloads) == 1


def test_the_launchers_use_the_same_virtual_environment(bootstrap: ModuleType) -> None:
    python = str(bootstrap.programs(Path(".venv"), "nt").python).replace("/", "\\")
    for name in ("usi", "doctor", "dev"):
        text = (TOOLS.parent / "bat" / f"{name}.bat").read_text("ascii")
        assert f'set "PY=%CD%\\{python}"' in text


def test_a_second_set_up_waits_for_the_first(bootstrap: ModuleType) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(TOOLS)!r})
import bootstrap
bootstrap.ROOT = bootstrap.Path({str(bootstrap.ROOT)!r})
with bootstrap.set_up_lock():
    print("second", flush=True)
"""
    with bootstrap.set_up_lock():
        second = subprocess.Popen([sys.executable, "-c", program], stdout=-1, stderr=-1, text=True)
        assert second.stderr is not None
        assert "waiting" in second.stderr.readline()
        assert second.poll() is None
    output, _ = second.communicate(timeout=60)
    assert output == "second\n"
