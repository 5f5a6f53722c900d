"""The trees of the lesson on minimax and alpha-beta: the searches give its published answers."""

from pathlib import Path

import pytest

from goryu.__main__ import main
from goryu.games.given_tree import GivenTree
from goryu.search import alpha_beta, minimax
from goryu.table.positions import CUT_TREE, MINIMAX_TREE, parse_position


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The words of each line, without the drawing of the branches."""
    assert main(["tree", "--game", "numbers", *arguments]) == 0
    return [line.strip("├└─│ ").split() for line in capsys.readouterr().out.splitlines()]


def test_minimax_finds_the_values_of_the_lesson(capsys: pytest.CaptureFixture[str]) -> None:
    words = printed(["--algorithm", "minimax"], capsys)
    values = {name: value for name, value, *_ in words[:-1]}
    assert {name: values[name] for name in "ABCDE"} == {"A": "5", "B": "5", "C": "3", "D": "5", "E": "10"}
    game = parse_position("numbers", MINIMAX_TREE)
    assert isinstance(game, GivenTree)
    assert game.move_name(minimax.best_move(game)) == "B"


def test_alpha_beta_makes_the_cuts_of_the_lesson(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cuts.txt"
    path.write_text(CUT_TREE.replace("; ", "\n"), "utf-8")
    lines = printed([str(path)], capsys)
    words = {name: rest for name, *rest in lines[:-1]}
    assert words["A"][0] == words["B"][0] == "5"
    assert " ".join(words["E"]) == "≥ 6 max, β cut: 6 ≥ β = 5"
    assert " ".join(words["C"]) == "≤ 3 min, α cut: 3 ≤ α = 5"
    assert [name for name, rest in words.items() if rest == ["✂"]] == ["K", "G"]
    game = parse_position("numbers", CUT_TREE)
    assert isinstance(game, GivenTree)
    assert game.move_name(alpha_beta.best_move(game)) == "B"
    assert alpha_beta.alpha_beta(game) == minimax.negamax(game) == 5 / game.tree.scale


def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tree.txt"
    path.write_text("A: B=1\nA: C=2", "utf-8")
    assert main(["tree", "--game", "numbers", str(path)]) == 2
    assert f"{path}: line 2: A has" in capsys.readouterr().err
