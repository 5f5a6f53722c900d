"""docs/texts.md: its tables are those of tools/texts.toml, and its commands print what it says."""

import contextlib
import io
import re
import shlex
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from goryu.__main__ import COMMANDS
from paths import ROOT

texts: Any = pytest.importorskip("texts")
ROWS = texts.read()


@pytest.mark.parametrize("language", texts.PAGES)
def test_the_page_has_the_tables_of_the_data(language: str) -> None:
    page = texts.PAGES[language].read_text("utf-8")
    assert texts.page(page, ROWS, language) == page, "run python3 tools/dev.py texts --write"
    for row in ROWS:
        assert row.markdown(language) in page, "its table has no place on the page"


def test_every_row_shows_where_to_look_and_says_why_not() -> None:
    for row in ROWS:
        assert row.state == "history" or row.see or row.run, row.texts
        assert row.state == "works" or all(row.why), row.texts
        assert bool(row.out) == bool(row.py or row.run), row.texts
        assert all(row.texts), row.texts
        for path, *names in map(str.split, row.see):
            assert (ROOT / path).exists(), path
            for name in names:
                assert re.search(rf"\b{name.rpartition('.')[2]}\b", (ROOT / path).read_text("utf-8")), name


def test_a_number_may_differ_and_three_dots_stand_for_anything() -> None:
    row = texts.Row("", ("", ""), (), "", "", (), ("a ≈0.9) b …", "x  y"), "works", ("", ""), False)
    assert texts.missing(row, "a 1,234.5) b c\nx y\n") == []
    assert texts.missing(row, "a many) b c\nx z\n") == [*row.out]


def test_the_expressions_have_the_values_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    wrong = {}
    for row in ROWS:
        if row.py and not row.trains and row.table != texts.OUTLINE:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(row.program, {})
            if lacks := texts.missing(row, printed.getvalue()):
                wrong[row.py] = lacks, printed.getvalue()
    assert wrong == {}


def test_the_programs_accept_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in {command for row in ROWS for command in row.run.split(" && ") if command}:
        _, name, *words = shlex.split(command)
        module = import_module(COMMANDS[name].function.partition(":")[0])
        if "--plot" in words and find_spec("matplotlib") is None:
            continue
        if hasattr(module, "make_parser") and "--help" not in words:
            try:
                module.make_parser().parse_args(words)
            except SystemExit:
                pytest.fail(f"{command}\n{capsys.readouterr().err}")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs commands that read no input in this process: most take less time than the start of Python."""
    in_a_process = texts._printed

    def printed(command: Sequence[str], typed: Sequence[str], folder: Path) -> str:
        if typed:
            return str(in_a_process(command, typed, folder))
        _, _, _, name, *arguments = command
        module, _, function = COMMANDS[name].function.partition(":")
        with contextlib.suppress(SystemExit):
            getattr(import_module(module), function)(arguments)
        return "".join(capsys.readouterr())

    monkeypatch.setattr(texts, "_printed", printed)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for name, value in texts.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("table", sorted({row.table for row in ROWS} - {texts.OUTLINE}))
def test_the_commands_print_the_lines_of_the_page(
    table: str, tmp_path: Path, native: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    wanted = [row for row in ROWS if row.table == table and row.run and not row.trains]
    wrong = {
        (row.run, row.typed): output
        for row, output in texts.outputs(wanted, tmp_path)
        if texts.missing(row, output)
    }
    assert wrong == {}
