"""The commands and options of the guides: the same in both languages, and accepted by the programs."""

import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from goryu.__main__ import COMMANDS
from goryu.analysis.query import schema
from paths import ROOT

JAPANESE = sorted([*ROOT.glob("*.ja.md"), *(ROOT / "docs").glob("*.ja.md")])
BOTH_LANGUAGES = [*JAPANESE, *(path.with_name(path.name.replace(".ja", "")) for path in JAPANESE)]
JAPANESE_WORDS = {"四枚落ち": "4-piece", "とら": "Tiger"}
"""Arguments of `goryu play`, which has names in both languages."""

PROGRAMS = "goryu|python3?|torchrun|ray|pip|kubectl|curl"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def commands(path: Path) -> list[str]:
    """Returns the commands in the code blocks of a guide, without prompts and comments."""
    text = re.sub(r" *\\\n\s*", " ", path.read_text(encoding="utf-8"))
    fenced = "".join(re.findall(r"^```(?:sh)?\n.*?^```", text, flags=re.MULTILINE | re.DOTALL))
    indented = re.findall(r"^ {4}(?:\$ )?(\S.*)", text, flags=re.MULTILINE)
    lines = [*fenced.splitlines(), *indented]
    found = [line for line in lines if re.match(rf"(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(?:{PROGRAMS})\s", line)]
    return [re.sub(r"\s+#\s.*", "", line).strip() for line in found]


@pytest.mark.parametrize("path", JAPANESE, ids=name_of)
def test_both_languages_of_a_guide_give_the_same_commands(path: Path) -> None:
    japanese = "\n".join(commands(path))
    for word, english in JAPANESE_WORDS.items():
        japanese = japanese.replace(word, english)
    assert sorted(japanese.splitlines()) == sorted(commands(path.with_name(path.name.replace(".ja", ""))))


@pytest.mark.parametrize("path", BOTH_LANGUAGES, ids=name_of)
def test_the_programs_accept_the_commands_of_the_guides(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in commands(path):
        words = shlex.split(command)
        at = next((i for i, word in enumerate(words) if word.endswith("goryu")), None)
        if at is None or words[at + 1] not in COMMANDS or "..." in words:
            continue
        module = import_module(COMMANDS[words[at + 1]].function.partition(":")[0])
        if not hasattr(module, "make_parser"):
            continue
        for word in words:  # Some programs want the folder of a file to write.
            (tmp_path / word).parent.mkdir(parents=True, exist_ok=True)
        try:
            module.make_parser().parse_args(words[at + 2 :])
        except SystemExit:
            pytest.fail(f"{command}\n{capsys.readouterr().err}")


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
