"""The notebooks of the site: made from their sources, and their outputs are what the cells put out."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("onnxruntime")

import notebooks  # noqa: E402 (it needs nbclient)

NAMES = sorted(path.stem for path in notebooks.SOURCES.glob("*.md"))
WORK = re.compile(r"(games |cycles?=|for step in range\(0, )(\d+)")
EACH = [(name, language) for name in NAMES for language in notebooks.LANGUAGES]


def stored(name: str, language: str) -> Any:
    return nbformat.read(notebooks.stored_path(name, language), as_version=4)


@pytest.mark.parametrize("name, language", EACH)
def test_a_notebook_is_made_from_its_source(name: str, language: str) -> None:
    made, found = notebooks.made(name, language), stored(name, language)
    assert [(cell.source, cell.metadata) for cell in found.cells] == [
        (cell.source, cell.metadata) for cell in made.cells
    ], "run `python3 tools/dev.py notebooks`"


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_put_out_the_same_numbers(name: str) -> None:
    english, japanese = (
        [cell for cell in stored(name, one).cells if cell.cell_type == "code"] for one in notebooks.LANGUAGES
    )
    for one, other in zip(english, japanese, strict=True):
        found, wanted = (sorted(re.findall(r"\d[\d.,]*", notebooks.shown(cell))) for cell in (one, other))
        assert found == wanted, one.source


def hurried(cell: Any) -> Any:
    """Returns a cell, with a fifth of the work if its numbers vary and are not compared."""
    if "varies" in notebooks.tags(cell):
        cell.source = WORK.sub(lambda found: f"{found[1]}{-(-int(found[2]) // 5)}", cell.source)
    return cell


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_run_puts_out_what_is_stored(name: str) -> None:
    """In Japanese; the other test compares the English outputs with those."""
    language = "ja"
    again = notebooks.made(name, language)
    if find_spec("torch") is None:
        again.cells = [cell for cell in again.cells if "torch" not in notebooks.tags(cell)]
    again.cells = [hurried(cell) for cell in again.cells]
    ids = {cell.id for cell in again.cells}
    notebooks.execute(again, language)
    found = [cell for cell in stored(name, language).cells if cell.id in ids]
    for before, now in zip(found, again.cells, strict=True):
        if now.cell_type == "code":
            assert notebooks.shown(now) == notebooks.shown(before), now.source
