import os
from pathlib import Path
from typing import Any

import pytest

from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Games, Imported
from goryu_page.dojo.timing import TIMING, Timing
from goryu_page.dojo.watching import Watching
from sample_games import write_sample_games


def test_new_and_changed_files_are_read_once_and_a_file_that_is_written_waits(
    tmp_path: Path, database: Database
) -> None:
    games, folder = Games(database), tmp_path / "games"
    imports: list[bool] = []
    timing = Timing(settled_s=3600.0)  # A file of this test is new to its end.
    watching = Watching(database, [folder], lambda: imports.append(True), print, timing=timing)
    paths = write_sample_games(folder / "below", 3)
    (folder / "notes.txt").write_text("no record")
    os.symlink(folder, folder / "below" / "round")
    for path in paths[:2]:
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert watching.look() == 2
    assert watching.look() == 1  # The third has the same size as at the first look.
    assert watching.look() == 0
    assert Watching(database, [folder], lambda: None, print).look() == 0  # The next start.
    assert len(imports) == 2

    paths[0].write_bytes(b"position startpos moves 7g7f\nposition startpos moves 7g7e\n")
    assert [watching.look(), watching.look()] == [0, 1]
    assert [fault["file"] for fault in games.faults()] == ["below/game0.kif"]
    files = [
        row["file"].removeprefix("below/game") for row in database.rows("SELECT file FROM games ORDER BY id")
    ]
    assert files == ["0.kif", "1.kif", "2.csa", "0.kif"]


def test_a_file_that_shows_a_defect_does_not_keep_the_others_from_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, folder, add = Database(tmp_path / "dojo.sqlite3"), tmp_path / "games", Games.add_file

    def add_or_fail(games: Games, data: bytes | str, name: str, *others: Any) -> Imported:
        if name == "game0.kif":
            raise RecursionError("too deep")
        return add(games, data, name, *others)

    monkeypatch.setattr(Games, "add_file", add_or_fail)
    for path in write_sample_games(folder, 2):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert Watching(database, [folder], lambda: None, print).look() == 2
    assert [fault["file"] for fault in Games(database).faults()] == ["game0.kif"]
    assert len(database.rows("SELECT id FROM games")) == 1


def test_equal_names_in_two_folders_are_two_files(tmp_path: Path, database: Database) -> None:
    folders = [tmp_path / name for name in ("one", "other")]
    for folder, move in zip(folders, ("7g7e", "2g2e"), strict=True):
        folder.mkdir()
        (folder / "1.usi").write_text(f"position startpos moves {move}\n")
        os.utime(folder / "1.usi", (1_700_000_000, 1_700_000_000))
    assert Watching(database, folders, lambda: None, print).look() == 2
    assert len(Games(database).faults()) == 2
    (folders[0] / "1.usi").write_text("position startpos moves 7g7f\n")
    os.utime(folders[0] / "1.usi", (1_600_000_000, 1_600_000_000))
    assert Watching(database, folders, lambda: None, print).look() == 1
    assert ["2g2e" in fault["problem"] for fault in Games(database).faults()] == [True]
    records = Watching(database, folders, lambda: None, print, "records")
    assert records.look() == 2  # Each collection reads them.


def test_a_fault_is_told_once_and_the_next_look_tries_again(tmp_path: Path) -> None:
    database, folder, problems = Database(tmp_path / "dojo.sqlite3"), tmp_path / "games", list[str]()
    write_sample_games(folder, 1)
    os.utime(folder / "game0.kif", (1_700_000_000, 1_700_000_000))
    database.rows("PRAGMA query_only = ON")
    watching = Watching(database, [folder], lambda: None, problems.append)
    assert [watching.step(), watching.step()] == [TIMING.folders_s] * 2
    assert len(problems) == 1
    database.rows("PRAGMA query_only = OFF")
    assert watching.step() == TIMING.folders_s
    assert len(database.rows("SELECT id FROM games")) == 1
