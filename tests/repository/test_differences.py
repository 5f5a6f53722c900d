"""The measurement of each difference from the pseudocode."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
from goryu_lab.lessons.alphazero_config import AlphaZeroConfig
from goryu_lab.lessons.pseudocode_config import SMALL_GAMES, scaled

differences: Any = pytest.importorskip("differences")

SHORT = ["--seeds", "2", "--length", "0.04", "--match-games", "2"]


def test_every_variant_differs_and_as_published_is_that_of_the_pseudocode_command() -> None:
    ours = scaled(SMALL_GAMES["tictactoe"]).alphazero
    configs = [AlphaZeroConfig(**{**ours_fields(ours), **one}) for one in differences.VARIANTS.values()]
    assert len({repr(config) for config in configs}) == len(configs)
    published = scaled(SMALL_GAMES["tictactoe"], as_published=True).alphazero
    named = dict(zip(differences.VARIANTS, configs, strict=True))
    assert named["as published: that, without rotations and reflections"] == published


def ours_fields(config: AlphaZeroConfig) -> dict[str, object]:
    return {name: getattr(config, name) for name in AlphaZeroConfig.__dataclass_fields__}


@pytest.mark.slow
def test_the_table_has_a_row_for_each_variant_in_both_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["ours", "as published, with the printed signs"]
    monkeypatch.setattr(differences, "VARIANTS", {name: differences.VARIANTS[name] for name in names})
    path = tmp_path / "table.md"
    command = ["tictactoe", *SHORT, "--folder", f"{tmp_path}/run", "--markdown", f"{path}"]
    assert differences.main(command) == 0
    head, _, *rows = path.read_text(encoding="utf-8").splitlines()
    assert "puct:20, of 11" in head
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == names
    assert all(row.count("|") == head.count("|") for row in rows)
    assert all("±" in row for row in rows), "two losses differ"
    assert path.read_text(encoding="utf-8") in capsys.readouterr().out
    japanese = (tmp_path / "table.ja.md").read_text(encoding="utf-8").splitlines()
    assert japanese[3].split(" | ")[1:] == rows[1].split(" | ")[1:]
    assert japanese[3].startswith("| 公開どおり")
    monkeypatch.setattr(differences, "train", None)
    assert differences.main(command) == 0, "all trainings are read from the folder"
    trainings = tmp_path / "run" / "trainings.jsonl"
    trainings.write_text(trainings.read_text(encoding="utf-8") + "}\n", encoding="utf-8")
    assert differences.main(command) == 2
    assert "line 5: expected JSON" in capsys.readouterr().err
