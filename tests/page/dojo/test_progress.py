from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Games
from goryu_page.dojo.progress import progress
from goryu_page.dojo.reviews import summarise
from sample_games import sample_game

REVIEW = "game, playouts, engine, black_accuracy, white_accuracy, black_mistakes, white_mistakes, reviewed"


def test_months_and_days_count_the_users_own_games(database: Database) -> None:
    games = Games(database)
    games.set_me(["甲"])
    facts = (
        ("甲", "乙", "2026/01/05"),
        ("乙", "甲", "2026/01/31"),
        ("乙", "丙", "2026/01/31"),
        ("甲", "丙", "2026/03/01"),
    )
    for seed, (black, white, date) in enumerate(facts):
        games.add(sample_game(seed, names=(black, white), date=date))
    kinds = ("blunder", "good", "dubious", "mistake")
    with database.transaction() as connection:
        for game in (1, 2, 3, 4):
            row = (game, 10, "none", 60 + game, 80 + game, 0, 0, "")
            connection.execute(f"INSERT INTO reviews ({REVIEW}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            for ply, kind in enumerate(kinds, start=1):
                values = (game, ply, (ply - 1) % 2, kind, 0.1, "opening" if ply < 3 else "endgame", "{}")
                connection.execute("INSERT INTO plies VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            summarise(connection, game)
        connection.execute(
            "INSERT INTO problems (id, kind, start, moves, key, played, state, playouts, content, made)"
            " VALUES (1, '', '', '', x'00', '', '', 0, '', '')"
        )
        for at, is_right in (("2026-05-01T14:59:00+00:00", 1), ("2026-05-01T15:00:00+00:00", 0)):
            connection.execute(
                "INSERT INTO attempts (problem, at, move, is_right, hints, seconds)"
                " VALUES (1, ?, '', ?, 0, 1)",
                (at, is_right),
            )
    found = progress(database, 9 * 60)
    none = {"opening": 0, "middlegame": 0, "endgame": 0}
    assert found["months"] == [
        {
            "month": "2026-01",
            "games": 2,
            "accuracy": (61 + 82) / 2,  # Black in the first game, white in the second.
            "mistakes": {
                "dubious": {**none, "endgame": 1},
                "mistake": {**none, "endgame": 1},
                "blunder": {**none, "opening": 1},
            },
        },
        {
            "month": "2026-03",
            "games": 1,
            "accuracy": 64,
            "mistakes": {
                "dubious": {**none, "endgame": 1},
                "mistake": none,
                "blunder": {**none, "opening": 1},
            },
        },
    ]
    assert found["days"] == [
        {"day": "2026-05-01", "attempts": 1, "right": 1},
        {"day": "2026-05-02", "attempts": 1, "right": 0},
    ]
