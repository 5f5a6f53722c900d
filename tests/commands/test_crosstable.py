"""The cross table of the algorithms, and the guide that prints it."""

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def crosstable() -> ModuleType:
    return import_module("goryu.commands.crosstable")


def test_the_table_counts_a_draw_half_and_ranks_the_players(crosstable: ModuleType) -> None:
    results = {
        ("a", "b"): (5.0, 20),
        ("b", "a"): (15.0, 20),
        ("a", "c"): (20.0, 20),
        ("c", "a"): (0.0, 20),
        ("b", "c"): (20.0, 20),
        ("c", "b"): (0.0, 20),
    }
    assert crosstable.table(["a", "b", "c"], results) == [
        "| | b | a | c |",
        "|---|---|---|---|",
        "| b |  | 15/20 (53-89 %) | 20/20 (84-100 %) |",
        "| a | 5/20 (11-47 %) |  | 20/20 (84-100 %) |",
        "| c | 0/20 (0-16 %) | 0/20 (0-16 %) |  |",
    ]


def test_a_short_tournament_is_played_and_resumed(
    crosstable: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--engine", f'"{sys.executable}" -m goryu', "--out", str(tmp_path)]
    arguments += ["--algorithms", "policy", "random"]
    options = ["--", "--nodes", "1", "--games", "2", "--max-plies", "6"]
    options += [word for side in "12" for word in (f"--option{side}", "Evaluator=hashed")]
    assert crosstable.main([*arguments, *options]) == 0
    assert "| policy |  | 1/2 (9-91 %) |" in capsys.readouterr().out.splitlines()
    summary = json.loads((tmp_path / "policy-random" / "summary.json").read_text())
    assert [engine["name"] for engine in summary["engines"]] == ["policy", "random"]
    assert crosstable.main([*arguments, *options]) == 0
    assert "resuming after 2 games" in capsys.readouterr().out


def test_an_option_that_every_match_needs_for_itself_is_refused(
    crosstable: ModuleType, tmp_path: Path
) -> None:
    assert crosstable.main(["--out", str(tmp_path), "--", "--out=x", "--nodes", "1"]) == 2
