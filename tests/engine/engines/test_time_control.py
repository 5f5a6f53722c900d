"""Clocks, the `go` command, and the numbers that a match reads from `info` lines."""

import pytest

from goryu.engines.time_control import Clock, TimeControl, TimeControlError, go_command
from goryu.engines.usi_output import MATE_CP, Info, best_info, variations


def test_a_clock_takes_main_time_then_byoyomi_and_adds_the_increment() -> None:
    clock = Clock(TimeControl(time=1000, byoyomi=500))
    assert clock.budget_ms == 1500
    assert clock.spend(1200) == 0
    assert (clock.remaining_ms, clock.budget_ms) == (0, 500)
    assert clock.spend(530) == 30
    fischer = Clock(TimeControl(time=1000, inc=200))
    assert fischer.spend(400) == 0
    assert fischer.budget_ms == 800
    assert fischer.spend(900) == 100
    assert fischer.remaining_ms == 200  # the increment of a move that came late, but was forgiven


@pytest.mark.parametrize(
    "black, white, turn, go",
    [
        ("nodes=400", "depth=3", 0, "go nodes 400"),
        ("nodes=400", "depth=3", 1, "go depth 3"),
        ("time=60000,inc=500", "time=60000,inc=500", 0, "go btime 60000 wtime 60000 binc 500 winc 500"),
        ("time=0,byoyomi=1000", "nodes=5", 0, "go btime 0 wtime 0 byoyomi 1000"),
        ("time=9000,byoyomi=100", "time=7000", 1, "go btime 9000 wtime 7000 byoyomi 0"),
        ("movetime=250,nodes=7", "nodes=5", 0, "go nodes 7 movetime 250"),
    ],
)
def test_go_has_the_limits_of_the_engine_that_moves(black: str, white: str, turn: int, go: str) -> None:
    assert go_command(turn, (Clock(TimeControl.parse(black)), Clock(TimeControl.parse(white)))) == go


@pytest.mark.parametrize("text", ["nodes", "nodes=", "nodes=-1", "speed=3", "nodes=1e3"])
def test_malformed_limits_are_refused(text: str) -> None:
    with pytest.raises(TimeControlError, match=r"expected NAME=NUMBER"):
        TimeControl.parse(text)


def test_the_last_exact_score_of_the_first_variation_counts() -> None:
    lines = [
        "info depth 5 seldepth 9 score cp 31 nodes 100 nps 5000 pv 7g7f 3c3d",
        "info depth 6 multipv 2 score cp -400 nodes 150 pv 1g1f",
        "info depth 6 multipv 1 score cp 90 lowerbound nodes 200 pv 2g2f",
        "info nodes 250 nps 6000",
        "info string depth 99 score cp 12345",
    ]
    assert best_info(lines) == Info(31, 6, 250, 6000, ("2g2f",))
    assert [info.cp for info in variations(lines)] == [31, -400]


@pytest.mark.parametrize("number", ["inf", "nan", "1e999", "many"])
def test_a_malformed_number_is_ignored(number: str) -> None:
    assert best_info([f"info depth 5 score cp 31 nodes 100 nps {number} pv 7g7f"]).nps is None


def test_mate_scores_are_large_centipawns() -> None:
    for score, cp in [
        ("mate 5", MATE_CP - 5),
        ("mate -4", -MATE_CP + 4),
        ("mate +", MATE_CP - 1),
        ("mate -", -MATE_CP + 1),
        ("mate +3", MATE_CP - 3),
        ("cp", None),
        ("mate", None),
        ("cp x", None),
    ]:
        assert best_info([f"info depth 1 score {score}"]).cp == cp
