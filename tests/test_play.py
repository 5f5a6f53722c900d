"""`goryu play`: whole games at a terminal that is two text streams."""

from io import StringIO

import pytest

from goryu.games.tictactoe import TicTacToe
from goryu.players.agents import make_agent
from goryu.protocols.play import GAMES, Play, main


def session(arguments: str, lines: str = "") -> str:
    out = StringIO()
    assert main(arguments.split(), StringIO(lines), out) == 0
    return out.getvalue()


def test_a_person_wins_against_a_player_who_does_not_look() -> None:
    play = Play(GAMES["tictactoe"], TicTacToe(), (None, lambda state: state.legal_moves()[-1]))
    lines = [*play.start(), *play.receive("0"), *play.receive("1"), *play.receive("2")]
    assert lines[-1] == "X wins: three in a row"
    assert "5. X: 2" in lines
    assert lines[-2] == "XXX\n...\n.OO"
    assert play.is_over


def test_nonsense_and_illegal_moves_are_answered_with_what_was_expected() -> None:
    out = session("tictactoe --second alpha-beta", "9\nhello\n4\n4\nquit\n")
    assert out.count("is no legal move here; expected a move, `moves`") == 3


def test_undo_takes_back_the_move_and_the_reply() -> None:
    play = Play(GAMES["tictactoe"], TicTacToe(), (None, make_agent("alpha-beta")))
    list(play.start())
    assert list(play.receive("undo")) == ["there is no move of yours to take back"]
    list(play.receive("4"))
    assert play.state.ply == 2
    list(play.receive("undo"))
    assert play.state.ply == 0
    assert not play.is_over


def test_the_legal_moves_are_listed_by_name() -> None:
    assert "d3 c4 f5 e6" in session("reversi --second random", "moves\nquit\n")


@pytest.mark.parametrize("game", ["tictactoe", "reversi"])
def test_two_algorithms_play_to_the_end_and_the_seed_repeats_the_game(game: str) -> None:
    arguments = f"{game} --first random --second depth-limited:1 --seed 3"
    out = session(arguments)
    assert "wins: " in out or "draw: " in out
    assert session(arguments) == out


def test_shogi_is_played_in_usi_moves() -> None:
    out = session("shogi --second random --seed 1", "7g7f\nundo\n2g2f\nquit\n")
    assert "1. black (sente): 7g7f" in out
    assert "1. black (sente): 2g2f" in out


def test_the_end_of_the_input_ends_the_session() -> None:
    assert session("tictactoe --second random", "4\n").endswith("to move> \n")


def test_an_unknown_player_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tictactoe", "--second", "chess"]) == 2
    assert "agent 'chess': expected one of random" in capsys.readouterr().err
