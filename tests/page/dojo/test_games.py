from pathlib import Path

import pytest
import shogi

from goryu.kifu.reading import parse_record
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Games, position_key

KIF = """開始日時：2026/11/03 10:00:00
先手：甲
後手：乙
   1 ７六歩(77)
   2 ３四歩(33)
   3 ２六歩(27)
   4 投了
"""
OTHER_ORDER = "position startpos moves 2g2f 3c3d 7g7f"


@pytest.fixture
def games(tmp_path: Path) -> Games:
    return Games(Database(tmp_path / "dojo.sqlite3"))


def test_a_file_is_kept_once_and_its_faults_are_listed(games: Games) -> None:
    first = games.add_file(KIF, "a.kif")
    again = games.add_file(KIF.encode("cp932"), "b.kif")
    lines = games.add_file(f"{OTHER_ORDER}\nposition startpos moves 7g7e\n", "c.sfen")
    assert (len(first.added), first.duplicates, first.faults) == (1, 0, [])
    assert (again.added, again.duplicates) == ([], 1)
    assert len(lines.added) == 1
    assert len(lines.faults) == 1
    assert "c.sfen:2" in lines.faults[0]
    game = games.get(first.added[0])
    assert (game.names, game.date, game.winner) == (("甲", "乙"), "2026-11-03", 0)
    assert game.moves == ("7g7f", "3c3d", "2g2f")
    assert parse_record(game.record).moves == game.moves


def test_two_orders_of_moves_meet_in_one_position(games: Games, tmp_path: Path) -> None:
    games.add_file(KIF, "a.kif")
    games.add_file(OTHER_ORDER + " 4c4d", "b.sfen")
    games.add_file("position startpos moves 7g7f 3c3d 2g2f 8c8d", "c.sfen")
    board = shogi.Board()  # python-shogi's text of the position, not ours.
    for move in ("7g7f", "3c3d", "2g2f"):
        board.push_usi(move)
    found = Database(tmp_path / "dojo.sqlite3").rows(
        "SELECT move FROM positions WHERE key = ? ORDER BY move", position_key(board.sfen())
    )
    assert [row["move"] for row in found] == ["", "4c4d", "8c8d"]  # One game ends here.


def test_names_are_counted(games: Games) -> None:
    (game,) = games.add_file(KIF, "a.kif").added
    for names, side in ((["甲"], 0), (["乙"], 1), (["甲", "乙"], None)):
        games.set_me(names)
        assert games.side_of(game) == side
    games.set_me(["甲"])
    assert games.me() == ["甲"]
    assert games.names() == [{"name": "乙", "games": 1}, {"name": "甲", "games": 1}]


def test_the_date_of_other_programs() -> None:
    record = parse_record(KIF.replace("開始日時：2026/11/03 10:00:00", "対局日：2026年1月3日"))
    assert record.date == "2026-01-03"
    assert record.title == "▲甲 △乙 2026-01-03"
