"""Summaries, times and comments, as the protocol and floodgate's server have them."""

import pytest

from csa_server import START, summary
from goryu.csa.protocol import NO_CLOCK_MS, GameSummary, ProtocolError, read_summary, score_comment
from goryu.engines.usi_output import Info
from goryu.implementation import Board


def read(time_lines: str, position: str = START, side: str = "+", more: str = "") -> GameSummary:
    lines = [
        line.strip() for line in summary(side, time_lines, position, more).splitlines()
    ]  # As they arrive.
    return read_summary(lines[1:-1])


def test_a_summary_with_what_later_versions_may_add() -> None:
    game = read("Total_Time:300\nBEGIN New\nByoyomi:7\nEND New", more="Max_Moves:256\nNew_Key:1\nnonsense\n")
    assert (game.game_id, game.names, game.side) == ("test+1", ("alice", "bob"), 0)
    assert (game.max_moves, game.has_declaration) == (256, True)
    assert str(game.times[0]) == "time=300000"


@pytest.mark.parametrize(
    "lines, first, later",
    [
        ("Time_Unit:1sec\nTotal_Time:300\nByoyomi:10", (300_000, 310_000), (288_000, 298_000)),
        ("Time_Unit:1sec\nTotal_Time:300\nIncrement:10", (310_000, 310_000), (308_000, 308_000)),
        ("Time_Unit:1sec\nTotal_Time:5\nIncrement:10", (15_000, 15_000), (13_000, 13_000)),
        ("Time_Unit:1min\nTotal_Time:15", (900_000, 900_000), (888_000, 888_000)),
        ("Time_Unit:100msec\nByoyomi:150", (0, 15_000), (0, 15_000)),
        ("Time_Unit:500msec", (0, NO_CLOCK_MS), (0, NO_CLOCK_MS)),
    ],
)
def test_the_clock_before_the_first_move_and_after_one_of_12_s(
    lines: str, first: tuple[int, int], later: tuple[int, int]
) -> None:
    clock = read(lines).times[1].clock()
    assert (clock.remaining_ms, clock.budget_ms) == first
    clock.spend(12_000)
    assert (clock.remaining_ms, clock.budget_ms) == later


def test_both_sides_may_have_times_of_their_own() -> None:
    text = "Time_Unit:1sec\nTotal_Time:300\nEND Time\nBEGIN Time-\nTotal_Time:60\nByoyomi:5"
    assert [str(time) for time in read(text).times] == ["time=300000", "time=60000,byoyomi=5000"]


@pytest.mark.parametrize(
    "lines, shown_ms",
    [
        ("Byoyomi:10", 9000),
        ("Byoyomi:1", 500),
        ("Total_Time:20", 19_000),
        ("Byoyomi:10\nTime_Roundup:YES", 8000),
    ],
)
def test_an_engine_is_not_told_of_the_margin_but_gets_half_the_time(lines: str, shown_ms: int) -> None:
    time = read(f"Time_Unit:1sec\n{lines}").times[0]
    assert time.usable(time.clock(), 1000).budget_ms == shown_ms


@pytest.mark.parametrize(
    "time_lines, position, side",
    [
        ("Total_Time:x", START, "+"),
        ("Total_Time:1\nTime_Unit:1hour", START, "+"),
        ("Total_Time:1", f"{START}+7775FU,T1\n", "+"),
        ("Total_Time:1", "P1 nonsense\n", "+"),
        ("Total_Time:1", START, "*"),
    ],
)
def test_a_summary_that_cannot_be_played(time_lines: str, position: str, side: str) -> None:
    with pytest.raises(ProtocolError):
        read(time_lines, position, side)


def test_a_comment_has_the_score_of_black_and_the_line_after_the_move() -> None:
    board = Board()
    info = Info(cp=120, pv=("7g7f", "3c3d", "2g2f", "(none)"))
    assert score_comment(board, info) == "* 120 -3334FU +2726FU"
    board.push_usi("7g7f")
    assert score_comment(board, Info(cp=120, pv=("3c3d",))) == "* -120"
    assert score_comment(board, Info()) == ""
