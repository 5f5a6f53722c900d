"""The layout of the repository, its guides, set-up and launchers: facts that no other test would notice."""

import ast
import doctest
import importlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import goryu
from goryu.__main__ import COMMANDS, main
from goryu.evaluators.network.model_files import models_folder
from goryu.players.config import EngineConfig
from goryu.players.set_up.model_path import VARIABLE
from goryu.usi.options import identification
from paths import ROOT

LAUNCHERS = sorted((ROOT / "bat").glob("*.bat"))
READMES = [ROOT / "README.md", ROOT / "README.ja.md"]
FOLDERS = ("bat", "docs", "engine", "models", "native", "tests", "tools")
TEXTS = sorted([*ROOT.glob("*.md"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*.md"))])
# The folders and files of .gitignore: a program writes them, and a fresh clone lacks them.
WRITTEN_LATER = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
SET_UP = [ROOT / "tools" / name for name in ("dev.py", "bootstrap.py")]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder tools/, whose programs can be imported by name."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    return ROOT / "tools"


@pytest.fixture
def dev(tools: Path) -> ModuleType:
    """tools/dev.py as a module."""
    return importlib.import_module("dev")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def code_blocks(path: Path) -> list[str]:
    """Returns the code blocks of a Markdown file."""
    return re.findall(r"^```.*?^```", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(path: Path) -> set[str]:
    """Returns the anchors that GitHub gives to the headings of a Markdown file."""
    headings = re.findall(r"^#+ (.*)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def imported(path: Path) -> set[str]:
    """Returns the names of the packages that a file imports anywhere."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


def test_every_room_has_its_layer(project: dict[str, Any]) -> None:
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = " ".join(name for contract in contracts for name in contract.get("layers", ()))
    for path in (ROOT / "engine").glob("*/*/__init__.py"):
        assert re.search(rf"\b{path.parent.parent.name}\.{path.parent.name}\b", layers), path


MOST_LINES = 32_500
"""The budget of the engine, in lines of Python: what a reader of it has before him."""


def test_the_engine_keeps_its_budget() -> None:
    """A new capability names its house; the engine gets it only if it exists for that."""
    lines = sum(
        len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "engine" / "goryu").rglob("*.py")
    )
    assert lines <= MOST_LINES


def test_games_searches_and_the_microscope_need_nothing_but_python_shogi() -> None:
    """They run in the browser, too; so do the evaluators without a network."""
    program = """
import pkgutil, sys
from importlib import import_module

class Bare:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "goryu", "goryu_page", "shogi"}:
            raise ImportError(f"{name} is not installed")

sys.meta_path.insert(0, Bare())
for package in map(import_module, ("goryu.games", "goryu.search", "goryu_page.microscope")):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)
from goryu.evaluators import hashed, material, rollout, uniform
from goryu.evaluators.network import model_files, providers
"""
    environment = {**os.environ, "GORYU_IMPLEMENTATION": "python"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_version_is_written_once(project: dict[str, Any]) -> None:
    assert "version" in project["project"]["dynamic"]
    try:
        installed = importlib.metadata.version("goryu")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("goryu is on the path but not installed")
    assert installed == goryu.__version__


def test_the_citation_names_the_version() -> None:
    assert f"version: {goryu.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_only_the_extras_for_processors_bring_an_onnxruntime(project: dict[str, Any], tools: Path) -> None:
    """Two distributions of it overwrite each other's files, and pip does not notice."""
    from packaging.requirements import Requirement

    wanted = {"": project["project"]["dependencies"], **project["project"]["optional-dependencies"]}
    found = {
        extra: [name for text in texts if (name := Requirement(text).name).startswith("onnxruntime")]
        for extra, texts in wanted.items()
    }
    runtimes = importlib.import_module("bootstrap").RUNTIMES
    assert {extra for extra, names in found.items() if names} == {*runtimes}
    assert all(len(names) <= 1 for names in found.values())


def test_the_extra_train_holds_what_learning_imports(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *extras["train"], *extras["cpu"]]
    named = {re.split(r"[>;\[ ]", text)[0] for text in wanted}
    named |= {
        "goryu",
        "goryu_lab",
        *(path.stem for path in (ROOT / "tools").glob("*.py")),
        *sys.stdlib_module_names,
    }
    lab = ROOT / "engine" / "goryu_lab"
    rooms = ("lessons", "loop", "self_play", "training", "records", "commands/training")
    for path in sorted(path for room in rooms for path in (lab / room).rglob("*.py")):
        loaded = set(re.findall(r'import_module\("(\w+)', path.read_text(encoding="utf-8")))
        assert imported(path) | loaded <= named, path.name


def test_set_up_needs_nothing_but_python() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import dev\n"
        "from goryu.base.language import tr; print(ascii(tr('creating .venv')))\n"
        "print(*{name for name in sys.modules if name.partition('.')[0] not in sys.stdlib_module_names})"
    )
    environment = {**os.environ, "GORYU_LANGUAGE": "ja"}
    bare = [sys.executable, "-I", "-S"]  # -S: without installed packages.
    done = subprocess.run([*bare, "-c", code], env=environment, capture_output=True, text=True)
    modules = (
        "__main__",
        "base",
        *(f"base.{name}" for name in ("installation", "language", "standard_output")),
    )
    ours = {"dev", "bootstrap", "goryu", *(f"goryu.{name}" for name in modules)}
    said, *found = done.stdout.split()
    assert said == ascii(".venvの作成"), done.stderr
    assert set(found) - {"__main__"} == ours


def test_an_old_python_can_read_dev_py_as_far_as_the_advice() -> None:
    ast.parse(SET_UP[0].read_text(encoding="utf-8"), feature_version=(3, 8))


def test_the_programs_behind_the_verbs_exist() -> None:
    named = re.findall(r'script\("(\w+\.py)"\)', SET_UP[0].read_text(encoding="utf-8"))
    assert {name for name in named if not (ROOT / "tools" / name).exists()} == set()


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot replace a process")
def test_the_programs_behind_the_verbs_find_the_python_of_the_virtual_environment(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`match --engine1 "python -m goryu"` otherwise starts any Python, which knows no goryu."""

    def execve(path: str, command: list[str], environment: dict[str, str]) -> None:
        assert environment["PATH"].split(os.pathsep)[0] == str(dev.programs(dev.VENV).folder)
        raise SystemExit

    monkeypatch.setattr(os, "execve", execve)
    with pytest.raises(SystemExit):
        dev.VERBS["match"].run([])


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_waits_for_the_program_to_end(dev: ModuleType) -> None:
    """On Windows, where dev.py waits for the program and both get the Ctrl-C."""
    ends_slowly = """
import os, signal, sys, time
sys.stdin.read()
try:
    os.kill(os.getppid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.5)
    sys.exit(130)
"""

    class Program(subprocess.Popen[bytes]):
        """Begins when somebody waits for it: the signal must not come before that."""

        def wait(self, timeout: float | None = None) -> int:
            assert self.stdin is not None
            self.stdin.close()
            return super().wait(timeout)

    program = Program([sys.executable, "-c", ends_slowly], stdin=subprocess.PIPE)
    assert dev.follow(program) == 130


def test_every_program_of_tools_is_a_verb() -> None:
    """The verb installs what the program imports; without that it ends in a ModuleNotFoundError."""
    others = {"bootstrap.py", "cross.py", "dev.py", "draw.py", "release_notes.py", "sanitize.py"}
    others |= {"experiments/analysis_load.py", "experiments/mutants.py"}
    others |= {"experiments/format_round_trip.py", "experiments/pretended_games.py"}
    others |= {"parcel.py"}  # It needs nothing but Python.
    others |= {"network_file.py", "file_server.py"}  # Parts of wasm.py.
    others |= {"message_types.py", "javascript_types.py"}  # They need what the tests need.
    others |= {"textbook.py", "tab_page.py"}  # The verb `docs` runs them by docs/hooks.py.
    others |= {"bench.py"}  # A command of goryu, and so a verb.
    tools = ROOT / "tools"
    others |= {f"gpu/{path.name}" for path in (tools / "gpu").glob("*.py")}  # A package of two programs.
    programs = {path.relative_to(tools).as_posix() for path in tools.rglob("*.py")} - others
    assert programs == set(re.findall(r'script\("([\w/]+\.py)"\)', SET_UP[0].read_text(encoding="utf-8")))


def test_every_module_of_the_commands_with_a_main_is_a_command() -> None:
    texts = {
        path: path.read_text(encoding="utf-8") for path in (ROOT / "engine").glob("*/commands/**/[!_]*.py")
    }
    programs = {path.stem.replace("_", "-") for path, text in texts.items() if "\ndef main(" in text}
    assert programs == {name for name, command in COMMANDS.items() if ".commands." in command.function}


def test_the_verbs_that_guides_and_launchers_name_exist(dev: ModuleType) -> None:
    for path in (*TEXTS, *LAUNCHERS):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"tools[/\\]dev\.py ([a-z-]*[a-z])", text)) <= set(dev.VERBS), path
        named = re.findall(r"\bgoryu(?:\.exe)? ([a-z][a-z-]*[a-z])", "".join(code_blocks(path)))
        assert set(named) <= set(COMMANDS), path
        assert set(re.findall(r"\bbat[\\/](\w+\.bat)", text)) <= {one.name for one in LAUNCHERS}, path


def test_the_files_that_guides_name_exist() -> None:
    paths = r"[`(]((?:engine|native|models|bat|tests|tools|\.ci)/[\w./-]*)[`)]"
    named = {name for path in TEXTS for name in re.findall(paths, path.read_text(encoding="utf-8"))}
    assert {name for name in named if not (ROOT / name).exists() and f"/{name}" not in WRITTEN_LATER} == set()


def test_links_between_texts_lead_somewhere() -> None:
    lost, places = [], {ROOT / "tools" / "notebooks": ROOT / "docs" / "notebooks"}
    for path in TEXTS:
        folder = places.get(path.parent, path.parent)
        for link in re.findall(r'(?:\]\(|src=")([^)"]+)[)"]', path.read_text(encoding="utf-8")):
            name, _, anchor = link.partition("#")
            target = folder / name if name else path
            found = ":" in link or (target.exists() and (not anchor or anchor in anchors(target)))
            lost += [] if found else [(name_of(path), link)]
    assert lost == []


def test_the_drawing_leaves_no_room_out(tools: Path) -> None:
    draw = importlib.import_module("draw")
    for house, (_, rooms) in draw.HOUSES.items():
        parts = {path.stem for path in (ROOT / "engine" / house).glob("[!_]*.py")}
        parts |= {path.parent.name for path in (ROOT / "engine" / house).glob("*/__init__.py")}
        assert parts - draw.SHARED == rooms.keys()


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
class TestReadme:
    def test_draws_the_real_imports(self, path: Path, tools: Path) -> None:
        """If it does not: `python tools/draw.py`."""
        draw = importlib.import_module("draw")
        assert draw.with_layers(path) == path.read_text(encoding="utf-8")

    def test_examples_are_true(self, path: Path) -> None:
        results = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
        assert results.attempted > 0
        assert results.failed == 0


def test_an_unknown_command_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shogi"]) == 2
    assert "shogi" in capsys.readouterr().err


def test_the_version_is_that_of_usi(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert f"id name {capsys.readouterr().out.strip().capitalize()}" == next(identification(EngineConfig()))


@pytest.mark.parametrize("network", ["shipped", "downloaded"])
def test_usiok_comes_before_anything_heavy_is_loaded(network: str) -> None:
    """The loop redirects stdout and ends with os._exit: the program keeps the one and replaces the other."""
    program = """
import os, sys
report = os.fdopen(os.dup(1), "w")
os._exit = lambda status: print(*sorted(sys.modules), file=report, flush=True)
from goryu.__main__ import main
from goryu.players.set_up import model_path
model_path.downloaded_model = lambda: model_path.models_folder() / "goryu-5x64.onnx"
main([])
"""
    command = [sys.executable, "-c", program]
    chosen = "shipped" if network == "shipped" else ""
    environment = {**os.environ, VARIABLE: chosen, "GORYU_LANGUAGE": "ja"}
    session = subprocess.run(
        command, input="usi\nquit\n", env=environment, capture_output=True, text=True, timeout=60
    )
    *_, answer, modules = session.stdout.splitlines()
    assert answer == "usiok"
    assert "goryu.usi.engine" in modules.split()
    assert ("goryu.implementation" in modules.split()) is (network == "downloaded")
    assert not {"numpy", "onnxruntime", "shogi", "argparse", "tomllib"} & set(modules.split())
    assert network == "downloaded" or "goryu.search.graph.puct" not in modules.split()


@pytest.mark.parametrize("path", LAUNCHERS, ids=lambda path: path.name)
def test_a_launcher_avoids_the_pitfalls_of_cmd_exe(path: Path) -> None:
    """A GUI reads everything that a launcher prints; the checkout may lie in `Program Files (x86)`."""
    text = path.read_bytes().decode("ascii")
    *lines, last = text.split("\r\n")
    assert last == ""
    assert not any("\n" in line or "\r" in line for line in lines)
    assert lines[0] == "@echo off"
    assert not set("()") & set(text), "a `)` in the path of the checkout would end the block"
    assert "delayedexpansion" not in text.lower(), "it expands a `!` in a path"
    unquoted = re.sub(r'"[^"]*"', "", text)
    assert "%~dp0" not in unquoted
    assert "%CD%" not in unquoted
    at = lines.index('cd /d "%~dp0.."')
    assert "setlocal" in lines[:at]
    assert lines[at + 1].startswith("if errorlevel 1 exit")
    assert not any("PY" in line for line in lines[:at])
    (at,) = [i for i, line in enumerate(lines) if " %*" in line]
    assert lines[at + 1] in ("exit /b %ERRORLEVEL%", 'set "STATUS=%ERRORLEVEL%"')


def test_git_keeps_the_line_ends_of_launchers() -> None:
    assert "*.bat text eol=crlf" in (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()


def test_the_launcher_of_the_engine_writes_only_usi() -> None:
    lines = (ROOT / "bat" / "usi.bat").read_text(encoding="ascii").splitlines()
    assert "pause" not in lines
    assert all("info string" in line for line in lines if line.startswith("echo "))
    assert any("-m goryu %* 2>NUL" in line for line in lines)


def test_a_checkout_finds_its_networks_in_models() -> None:
    if not Path(goryu.__file__).is_relative_to(ROOT):
        pytest.skip("another goryu is installed than that of this checkout")
    assert models_folder() == ROOT / "models"


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_an_installed_wheel_finds_its_networks_and_the_page(tmp_path: Path) -> None:
    source, installed = tmp_path / "source", tmp_path / "installed"
    environment = {**os.environ, "GORYU_SKIP_NATIVE": "1", "PYTHONPATH": str(installed)}

    def python(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, env=environment, text=True)
        return done.stdout.strip()

    left_out = shutil.ignore_patterns(".*", "build", "runs", "*.egg-info", "*.so", "__pycache__")
    shutil.copytree(ROOT, source, ignore=left_out)
    pip_wheel = ("-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    python(*pip_wheel, "--wheel-dir", str(tmp_path), str(source))
    (wheel,) = tmp_path.glob("goryu-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    found = Path(
        python("-c", "from goryu.evaluators.network.model_files import models_folder as f; print(f())")
    )
    assert found == installed / "goryu" / "models"
    suffixes = {".onnx", ".ini", ".toml", ".md", ".db"}
    shipped = {path.name for path in (ROOT / "models").glob("*") if path.suffix in suffixes}
    assert {path.name for path in found.glob("*")} == shipped
    for folder in (
        "goryu_page/static",
        *(f"{house}/locale" for house in ("goryu", "goryu_page", "goryu_lab")),
    ):
        assert files_below(installed / folder) == files_below(source / "engine" / folder) != set()


@pytest.mark.slow
def test_a_source_distribution_holds_every_file_that_git_knows_and_no_other(tmp_path: Path) -> None:
    """The tests read most of them, and packagers run the tests."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    files = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    for name in files:
        (tmp_path / "goryu" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / "goryu" / name)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path / "goryu", check=True)
    subprocess.run(["git", "add", "--force", "."], cwd=tmp_path / "goryu", check=True)
    (tmp_path / "goryu" / "models" / "private.onnx").touch()
    build = "import setuptools.build_meta as backend; backend.build_sdist('..')"
    environment = {**os.environ, "GORYU_SKIP_NATIVE": "1"}
    command = [sys.executable, "-c", build]
    subprocess.run(command, cwd=tmp_path / "goryu", env=environment, check=True, capture_output=True)
    (archive,) = tmp_path.glob("goryu-*.tar.gz")
    with tarfile.open(archive) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    assert files - held == set()
    assert "models/private.onnx" not in held
