"""tools/levels.py: the matches that it plays, and the tables that it makes of them."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from goryu.match.game_log import GameEntry, GameLogError

levels: Any = pytest.importorskip("levels")
match: Any = import_module("goryu.commands.match")


def entry(number: int, score: float, moves: tuple[str, ...] = ("7g7f", "3c3d")) -> dict[str, Any]:
    """A line of the log of a match; engine 1 plays black in even games."""
    fields = {
        "number": number,
        "black": 1 + number % 2,
        "opening": "startpos",
        "moves": moves,
        "score": score,
    }
    lists = dict.fromkeys(("times_ms", "cps", "depths", "nodes", "late_ms"), (0,) * len(moves))
    rest = {"reason": "checkmate", "detail": "", "plies": 2, "first_turn": 0, "seconds": 1.0, "date": ""}
    return {"type": "game", **fields, **lists, **rest}


def log(folder: Path, *entries: dict[str, Any]) -> None:
    folder.mkdir()
    lines = [{"type": "match"}, {"type": "names", "names": ["A", "B"]}, *entries]
    (folder / "games.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_every_level_meets_the_one_below() -> None:
    pairs = levels.all_pairs()
    assert pairs[0] == "1-fairy"
    assert pairs[1:] == [f"{n}-{n - 1}" for n in range(2, 11)]


@pytest.mark.parametrize("pair", ["1-fairy", "10-9"])
def test_a_match_can_be_described(pair: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    described: list[Any] = []

    def run(words: list[str]) -> int:
        described.append(match.make_config(match.make_parser().parse_args(words)))
        return 0

    monkeypatch.setattr(match, "main", run)
    fairy = tmp_path / "fairy"
    fairy.touch()
    assert levels.main(["play", "--out", str(tmp_path), "--fairy", str(fairy), "--pairs", pair]) == 0
    (config,) = described
    first, second = config.engines
    assert ("Level", pair.split("-")[0]) in first.options
    assert (("Skill Level", "-20") in second.options) == (pair == "1-fairy")
    assert config.games == 200


def test_a_missing_opponent_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert levels.main(["play", "--out", str(tmp_path), "--fairy", str(tmp_path / "none")]) == 2
    assert "expected the program of Fairy-Stockfish" in capsys.readouterr().err


@pytest.mark.parametrize("pair", ["x", "99-1", "1-2"])
def test_a_pair_that_no_table_has_is_refused(
    pair: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        levels.main(["play", "--out", str(tmp_path), "--pairs", "2-1", pair])
    assert f"argument --pairs: invalid choice: '{pair}'" in capsys.readouterr().err


@pytest.mark.parametrize("step", ["judge", "report"])
def test_a_folder_that_is_not_there_is_named(
    step: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert levels.main([step, "--out", str(tmp_path / "none")]) == 2
    assert "none: expected the folder of the matches" in capsys.readouterr().err


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    log(tmp_path / "2-1", entry(0, 1.0) | {"score": "x"})
    with pytest.raises(GameLogError, match=r"games.jsonl:3: expected a game: score: expected float"):
        levels.games_of(tmp_path / "2-1")


def test_the_score_has_the_error_of_pairs(tmp_path: Path) -> None:
    scores = (1, 1, 1, 0, 1, 1, 1, 0)
    log(tmp_path / "2-1", *(entry(number, score) for number, score in enumerate(scores)))
    assert levels.pair_scores(levels.games_of(tmp_path / "2-1")) == [1.0, 0.5, 1.0, 0.5]
    table = levels.match_table(tmp_path, 0).splitlines()
    assert len(table) == 3
    # The standard deviation of a pair is 0.289, that of the mean of four 0.144.
    assert table[2].startswith("| 2 Squirrel – 1 Chick | 8 | 75 ± 28 % | +191 (")
    assert "2 りす" in levels.match_table(tmp_path, 1)


def test_the_moves_of_one_engine_are_sampled(tmp_path: Path) -> None:
    log(tmp_path / "2-1", entry(0, 1.0, ("7g7f", "3c3d", "2g2f")), entry(1, 1.0, ("2g2f", "resign")))
    assert set(levels.sampled_moves(tmp_path, 1, 10)) == {
        ("position startpos moves 7g7f", "3c3d"),
        ("position startpos moves", "2g2f"),
    }
    assert len(levels.sampled_moves(tmp_path, 2, 1)) == 1
    fields = entry(0, 1.0)
    fields.pop("type")
    assert [move for _, move in levels.moves_of(GameEntry(**fields), 1)] == ["7g7f"]


def test_losses_are_counted_in_classes() -> None:
    losses = [0.0, 0.0, 0.03, 0.25, 0.9]
    assert levels.shares(losses) == [0.4, 0.2, 0.0, 0.0, 0.2, 0.2]
    table = levels.loss_table({"1": losses}, 0).splitlines()
    assert table[0] == "| level | moves | mean loss | 0-2 % | 2-5 % | 5-10 % | 10-20 % | 20-30 % | ≥ 30 % |"
    assert table[2] == "| 1 Chick | 5 | 23.6 % | 40 % | 20 % | 0 % | 0 % | 20 % | 20 % |"


def test_a_table_replaces_the_one_in_the_guide() -> None:
    text = "a\n<!-- x -->\nold\n<!-- end of x -->\nb"
    assert levels.replaced(text, "x", "new") == "a\n<!-- x -->\nnew\n<!-- end of x -->\nb"
    with pytest.raises(Exception, match="in the guide"):
        levels.replaced("nothing", "x", "new")


def test_a_clean_sweep_still_has_an_error() -> None:
    assert levels.error_of([1.0] * 5) == 0.3
    assert levels.error_of([1.0]) == 1.0
