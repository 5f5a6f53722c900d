"""Setting up a checkout: which steps are repeated, the stamps, and the messages of failures."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parent.parent / "tools"


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


@pytest.fixture
def steps(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands for pip, which are not run."""
    commands: list[str] = []
    monkeypatch.setattr(bootstrap, "create_venv", lambda: None)
    monkeypatch.setattr(bootstrap, "project", lambda: {"build-system": {"requires": ["setuptools"]}})
    monkeypatch.setattr(
        bootstrap, "step", lambda name, message, command, advice, **_: commands.append(" ".join(command[3:]))
    )
    return commands


def test_an_extra_with_another_onnxruntime_replaces_the_earlier_one(
    bootstrap: ModuleType, steps: list[str]
) -> None:
    bootstrap.install(["test", "cuda"])
    bootstrap.install(["cuda12"])
    assert steps[-1].endswith("--editable .[cuda12,test]")
    bootstrap.install([])
    assert steps[-1].endswith("--editable .[cuda12,test]")


def test_directml_replaces_the_onnxruntime_of_pip(bootstrap: ModuleType, steps: list[str]) -> None:
    remove = "uninstall --yes --disable-pip-version-check onnxruntime onnxruntime-gpu onnxruntime-directml"
    bootstrap.install(["cuda"])
    del steps[:]
    bootstrap.install([bootstrap.DIRECTML])
    assert steps[1].endswith("--editable .")
    assert steps[2] == remove
    assert steps[3].endswith(" onnxruntime-directml")
    del steps[:]
    bootstrap.install([])  # As after an update.
    assert steps[1] == remove
    assert steps[-1].endswith(" onnxruntime-directml")
    del steps[:]
    bootstrap.install(["cuda"])
    assert steps[1] == remove
    assert steps[-1].endswith("--editable .[cuda]")


def test_a_log_is_shown_in_the_encoding_that_compilers_write(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locale.getencoding", lambda: "cp932")
    writes = "import sys; sys.stdout.buffer.write('エラー'.encode('cp932')); sys.exit(1)"
    with pytest.raises(bootstrap.StepError, match="エラー"):
        bootstrap.step("compiler", "compiling", [sys.executable, "-c", writes], "")


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


def test_a_missing_compiler_is_recorded_as_the_reason(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "cxx", lambda: "")
    bootstrap.build_native()
    assert bootstrap.read_stamp("native")["failure"] == "no C++ compiler found"


def test_without_native_sources_there_is_nothing_to_build(bootstrap: ModuleType) -> None:
    (bootstrap.ROOT / "native" / "_native.pyx").unlink()
    bootstrap.build_native()
    assert bootstrap.native_is_current()
    assert bootstrap.read_stamp("native")["failure"] == ""


@pytest.mark.parametrize(
    "system, paths",
    [
        ("posix", ("bin", "bin/python", "bin/goryu")),
        ("nt", ("Scripts", "Scripts/python.exe", "Scripts/goryu.exe")),
    ],
)
def test_the_programs_of_a_virtual_environment_have_the_paths_of_the_system(
    bootstrap: ModuleType, system: str, paths: tuple[str, ...]
) -> None:
    venv = Path("将棋 (x86)")
    assert bootstrap.programs(venv, system) == tuple(venv / path for path in paths)


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
