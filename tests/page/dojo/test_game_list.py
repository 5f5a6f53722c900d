"""The list against a plain filter in Python."""

import json
from pathlib import Path
from typing import Any

import pytest

from goryu.analysis.review import GameReview
from goryu_page.dojo.database import Database
from goryu_page.dojo.game_list import Filter, Sort, list_games, openings
from goryu_page.dojo.games import Games
from goryu_page.dojo.reviews import Reviews
from sample_games import sample_game, write_sample_games


@pytest.fixture
def database(tmp_path: Path, database: Database) -> Database:
    games = Games(database)
    for path in write_sample_games(tmp_path / "games", 40):
        games.add_file(path.read_bytes(), path.name)
    games.set_me(["甲"])
    for game in (3, 5):
        record = games.get(game)
        Reviews(database).keep(game, GameReview(record.start, record.moves, 10), "none")
    with database.transaction() as connection:
        connection.execute("UPDATE reviews SET black_accuracy = game * 10, white_accuracy = 100 - game")
        connection.execute("UPDATE games SET opening = iif(id % 4 = 0, 'static/fourth', '')")
    games.add(sample_game(100), collection="records")
    return database


def listed(database: Database, wanted: Filter, sort: Sort = "date", **options: Any) -> list[dict[str, Any]]:
    options = {"is_descending": True, "first": 0, "count": 1000} | options
    wanted.collection = wanted.collection or "mine"
    found = list_games(database, wanted, sort, **options)
    assert found["total"] == len(found["games"]) or options["count"] < 1000
    return list(found["games"])


def test_filters_find_what_they_say(database: Database) -> None:
    everything = listed(database, Filter())
    assert len(everything) == 40
    assert all((game["black"] == "甲") == (game["side"] == 0) for game in everything)
    for wanted, fits in (
        (Filter(text="相手1"), lambda game: "相手1" in (game["black"], game["white"])),
        (
            Filter(text="相手1 .csa"),
            lambda game: "相手1" in game["black"] + game["white"] and ".csa" in game["file"],
        ),
        (Filter(text="四間"), lambda game: game["opening"] == "static/fourth"),
        (Filter(text="FOURTH"), lambda game: game["opening"] == "static/fourth"),
        (Filter(text="%"), lambda game: False),
        (Filter(side="white"), lambda game: game["white"] == "甲"),
        (Filter(side="me"), lambda game: True),
        (Filter(result="won"), lambda game: game["winner"] == game["side"]),
        (Filter(result="lost", side="black"), lambda game: game["black"] == "甲" and game["winner"] == 1),
        (Filter(result="drawn"), lambda game: False),
        (Filter(opening="static/fourth"), lambda game: game["id"] % 4 == 0),
        (
            Filter(since="2026-03-10", until="2026-08-01"),
            lambda game: "2026-03-10" <= game["date"] <= "2026-08-01",
        ),
        (Filter(reviewed="yes"), lambda game: game["id"] in (3, 5)),
        (Filter(reviewed="no"), lambda game: game["id"] not in (3, 5)),
    ):
        assert listed(database, wanted) == [game for game in everything if fits(game)], wanted


def test_records_of_others_are_a_list_of_their_own(database: Database) -> None:
    assert [game["id"] for game in listed(database, Filter(collection="records"))] == [41]
    assert Reviews(database).work().games == 40
    assert {row["name"]: row["games"] for row in Games(database).names()}["甲"] == 40


def test_a_reviewed_game_has_tags(database: Database) -> None:
    def keep(rates: list[float], missed: int | None, plies: int) -> list[str]:
        """rates: of Black, after its moves; White wins."""
        with database.transaction() as connection:
            connection.execute(
                "UPDATE games SET winner = 1, moves = ? WHERE id = 3", (" ".join(["7g7f"] * plies),)
            )
            connection.execute("DELETE FROM plies WHERE game = 3")
            for at, rate in enumerate(rates):
                judgement = json.dumps({"played_win_rate": rate, "missed_mate": missed})
                row = (3, plies - 2 * (len(rates) - at) + 1, 0, "good", 0.0, "middle", judgement)
                connection.execute("INSERT INTO plies VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        (game,) = (one for one in listed(database, Filter()) if one["id"] == 3)
        return list(game["tags"])

    assert keep([0.5, 0.2], None, 100) == ["close"]
    assert keep([0.5, 0.2], None, 30) == []
    assert keep([0.95, 0.2], None, 30) == ["turned"]
    side = next(one["side"] for one in listed(database, Filter()) if one["id"] == 3)
    assert keep([0.3, 0.2], 5, 30) == (["missed"] if side == 0 else [])


def test_pages_and_orders(database: Database) -> None:
    everything = listed(database, Filter())
    assert [game["date"] for game in everything] == sorted((g["date"] for g in everything), reverse=True)
    pages = [listed(database, Filter(), first=first, count=15) for first in (0, 15, 30)]
    assert [*pages[0], *pages[1], *pages[2]] == everything
    # Of the user's own side; games without a review come last both ways. 3 is the user's as black, 5 too.
    for is_descending, best in ((True, [5, 3]), (False, [3, 5])):
        ordered = listed(database, Filter(), "accuracy", is_descending=is_descending)
        assert [game["id"] for game in ordered[:2]] == best


def test_openings_have_names_in_both_languages(database: Database) -> None:
    assert openings(database)[0] == {
        "code": "static/fourth",
        "ja": "居飛車対四間飛車",
        "en": "static rook against fourth-file rook",
    }
