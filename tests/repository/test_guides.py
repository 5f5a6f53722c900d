"""The guides: the same in both languages, and what they name exists."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from goryu.analysis.query import schema
from paths import ROOT

JAPANESE = sorted([*ROOT.glob("*.ja.md"), *(ROOT / "docs").glob("*.ja.md")])
JAPANESE_WORDS = {"四枚落ち": "4-piece", "とら": "Tiger"}
"""Arguments of `goryu play`, which has names in both languages."""

PROGRAMS = "goryu|python3?|torchrun|ray|pip|kubectl|curl"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture
def guides(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return import_module("guides")


@pytest.mark.parametrize("path", JAPANESE, ids=name_of)
def test_both_languages_of_a_guide_give_the_same_commands(path: Path, guides: Any) -> None:
    def commands(path: Path) -> list[str]:
        found: list[str] = guides.written(path.read_text("utf-8"), PROGRAMS, with_spans=False)
        return found

    japanese = "\n".join(commands(path))
    for word, english in JAPANESE_WORDS.items():
        japanese = japanese.replace(word, english)
    assert sorted(japanese.splitlines()) == sorted(commands(path.with_name(path.name.replace(".ja", ""))))


@pytest.mark.parametrize("path", JAPANESE, ids=name_of)
def test_both_languages_of_a_guide_have_the_same_headings_and_links(path: Path) -> None:
    def shape(path: Path) -> tuple[list[str], list[str]]:
        text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        links = re.findall(r"\]\(([^)#:]+)", text)
        names = sorted(re.sub(r"\.ja\b", "", link) for link in links)
        return re.findall(r"^#+(?= )", text, flags=re.MULTILINE), names

    assert shape(path) == shape(path.with_name(path.name.replace(".ja", "")))


def test_what_the_guides_name_exists_and_what_exists_is_named(guides: Any) -> None:
    assert {kind: lines for kind, lines in guides.differences().items() if lines} == {}
    names = guides.named_and_existing(
        "`goryu nonsense` and `python3 tools/dev.py nothing`, goryu[cpu,none], GORYU_NO"
    )
    assert "nonsense" in names["commands of goryu"][0]
    assert "nothing" in names["verbs of dev.py"][0]
    assert {"cpu", "none"} <= names["extras"][0]
    assert names["variables"][0] == {"GORYU" + "_NO"}
    assert [why for _, why in guides.refused("`goryu match --no-such`, `goryu match --sprt`")] == [
        "no option --no-such"
    ]
    assert guides.unknown("`--no-such`, `--sprt` and `no such message here`") == [
        "--no-such",
        "no such message here",
    ]
    assert guides.written("```python\ngoryu = 1\n```\n```\n$ goryu web\n```\n    goryu usi\n") == [
        "goryu web",
        "goryu usi",
    ]
    assert not guides.prints("bench", "no such figure")


def test_the_guide_to_the_analysis_has_a_row_for_every_field() -> None:
    kinds = schema()["$defs"]
    fields = {*kinds["query"]["properties"], *kinds["analysis"]["properties"]}
    fields |= {
        *kinds["analysis"]["properties"]["moves"]["items"]["properties"],
        *kinds["error"]["properties"],
    }
    for name in ("analysis.md", "analysis.ja.md"):
        text = (ROOT / "docs" / name).read_text("utf-8")
        assert {field for field in fields if f"`{field}`" not in text and f'"{field}"' not in text} == set()


def test_the_example_of_the_guide_to_the_analysis_reviews_a_folder(tmp_path: Path) -> None:
    (tmp_path / "game.usi").write_text("position startpos moves 7g7f 3c3d 8h5e\n", "utf-8")
    examples = [
        (ROOT / "docs" / name).read_text("utf-8").split("```python\n")[1].split("```")[0]
        for name in ("analysis.md", "analysis.ja.md")
    ]
    assert examples[0] == examples[1]
    done = subprocess.run([sys.executable, "-c", examples[0], str(tmp_path)], capture_output=True, text=True)
    assert done.stdout.startswith("game.usi: move 3, 8h5e, lost "), done.stderr
