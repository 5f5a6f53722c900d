"""The bandit: both players meet the same luck, and UCB1 finds the best arm."""

from io import StringIO
from random import Random

import pytest

from goryu.__main__ import main
from goryu_lab.lessons.bandit import Bandit, Gambler


def test_the_same_pulls_pay_the_same() -> None:
    bandit = Bandit([0.3, 0.6, 0.5], 20, Random(1))
    first, second = Gambler(bandit), Gambler(bandit)
    assert [first.pull(1) for _ in range(20)] == [second.pull(1) for _ in range(20)]
    assert first.earned == sum(bandit.payouts[1])
    assert (first.regret, Gambler(bandit).regret) == (0.0, 0.0)
    first.pull(0)
    assert first.regret == pytest.approx(0.3)


def test_ucb1_regrets_less_than_an_ab_test() -> None:
    bandit = Bandit([0.2, 0.5, 0.8], 600, Random(2))
    ucb1, ab = Gambler(bandit), Gambler(bandit)
    for _ in range(600):
        ucb1.pull(ucb1.ucb1())
        ab.pull(ab.in_turn())
    assert ab.regret == pytest.approx(200 * 0.6 + 200 * 0.3)
    assert ucb1.regret < ab.regret / 2


def test_a_person_pulls_arms_until_the_input_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("1\n4\n2\n"))
    assert main(["learn", "bandit", "--seed", "2"]) == 0
    out = capsys.readouterr().out
    assert "'4': expected 1, 2, 3 or q" in out
    assert out.splitlines()[-3].startswith("chances: 1: ")
    assert "  2  UCB1 " in out
    assert "  3  UCB1 " not in out
