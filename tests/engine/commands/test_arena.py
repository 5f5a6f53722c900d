"""`goryu arena`: every pair meets on both sides, and the table adds up."""

import re

import pytest

from goryu.__main__ import main


def test_three_players_meet_and_the_table_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "tictactoe", "alpha-beta", "random", "flat-mc:2", "--games", "4"]) == 0
    *pairs, _, _, first, second, third = capsys.readouterr().out.splitlines()
    scores = [float(re.findall(r"\d\.\d+", line)[0]) for line in pairs]
    assert len(pairs) == 3
    rows = [[float(number) for number in re.findall(r"\d\.\d+", row)] for row in (first, second, third)]
    assert rows[0][:2] == scores[:2]
    assert rows[1][:2] == [1 - scores[0], scores[2]]
    assert rows[2][2] == pytest.approx((rows[2][0] + rows[2][1]) / 2, abs=1e-3)


def test_a_share_of_random_moves_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "reversi4", "greedy:0.3", "greedy", "--games", "4"]) == 0
    assert "greedy:0.3 - greedy" in capsys.readouterr().out
    assert main(["arena", "reversi4", "greedy:3", "random"]) == 2
    assert "a number from 0 to 1" in capsys.readouterr().err


def test_small_boards_of_reversi_need_no_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "reversi4", "alpha-beta", "random", "--games", "2"]) == 0
    assert "second 1.000" in capsys.readouterr().out, "White wins on 4x4"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["tictactoe", "random"], "at least two players"),
        (["tictactoe", "random", "random"], "each once"),
        (["tictactoe", "random", "clever"], "expected one of random"),
        (["reversi6", "random", "minimax"], "takes years"),
        (["tictactoe", "random", "alpha-beta", "--model", "x.onnx"], "a player with a network"),
        (["shogi", "random", "level:2"], "goryu match"),
    ],
)
def test_bad_players_are_named(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["arena", *arguments]) == 2
    assert problem in capsys.readouterr().err
