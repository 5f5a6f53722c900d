"""The record of a game, and its file."""

from pathlib import Path

import pytest

from goryu.games.shogi import move_from_usi
from goryu.kifu.handicaps import HANDICAPS, Handicap
from goryu.kifu.reading import parse_record, read_record
from goryu.kifu.record import Ending
from goryu.table.clock import ClockConfig
from goryu.table.game import Game, new_board
from goryu.table.record import record_of, record_text, save_game


def game_of(moves: str, sfen: str = "") -> Game:
    game = Game(new_board(sfen), (True, False), ("", "Goryu Fox"), ClockConfig(600, 30))
    for move in moves.split():
        game.push(move_from_usi(move), seconds=12.5)
    return game


@pytest.mark.parametrize("handicap", HANDICAPS, ids=lambda one: one.english)
@pytest.mark.parametrize("suffix", [".kif", ".CSA"])
def test_what_is_saved_can_be_read_again(handicap: Handicap, suffix: str) -> None:
    moves = "7g7f 3c3d" if handicap.sfen.split()[1] == "b" else "5a4b 7g7f"
    game = game_of(moves, handicap.sfen)
    winner = 1 - game.turn
    game.resign()
    record = parse_record(record_text(suffix, game))
    assert record.start.split()[:3] == handicap.sfen.split()[:3]
    assert record.moves == tuple(moves.split())
    assert [ply.seconds for ply in record.plies] == [12, 12]
    assert (record.ending, record.winner) == (Ending.RESIGNATION, winner)
    assert record.names[1] == "Goryu Fox"


def test_the_record_has_the_clock_and_a_game_that_goes_on_is_interrupted() -> None:
    record = record_of(game_of("7g7f"))
    assert record.headers["持ち時間"] == "10分+30秒"
    assert (record.ending, record.winner) == (Ending.INTERRUPTED, None)


def test_moves_before_the_game_keep_their_seconds() -> None:
    board = new_board()
    board.push_usi("7g7f")
    for given, expected in (((7.0,), 7.0), ((), None)):
        game = Game(board.copy(), seconds_before=given)
        game.push(move_from_usi("3c3d"), seconds=2.0)
        assert [ply.seconds for ply in record_of(game).plies] == [expected, 2.0]


@pytest.mark.parametrize("suffix", ["kif", "ki2", "csa", "jkf", "usi"])
def test_the_suffix_names_the_format(suffix: str, tmp_path: Path) -> None:
    save_game(tmp_path / f"game.{suffix}", game_of("7g7f 3c3d 2g2f"), replaces=False)
    assert read_record(tmp_path / f"game.{suffix}").moves == ("7g7f", "3c3d", "2g2f")
