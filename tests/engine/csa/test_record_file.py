"""The file of a record on a disk that is full for a while."""

import errno
from io import BytesIO
from pathlib import Path

import pytest

from goryu.csa import record_file
from goryu.csa.record_file import RecordFile, file_stem
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.kifu.writing import to_csa


class Disk(BytesIO):
    """Takes `room` bytes, and less than it is given."""

    room = 10_000

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device", "game.csa")
        part = data[: min(self.room, 7)]
        self.room -= len(part)
        return super().write(part)


def test_a_record_is_completed_when_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk()
    monkeypatch.setattr(record_file, "_new_file", lambda _folder, _name: disk)
    said: list[str] = []
    record = RecordFile(tmp_path, "game", GameRecord(names=("a", "b")), said.append)
    disk.room = 3
    for move in ("7g7f", "3c3d"):
        record.add(Ply(move, seconds=1))
    assert ["game.csa: No space left on device" in line for line in said] == [True]
    disk.room = 10_000
    record.add(Ply("2g2f", "* 30 -8384FU", 2))
    assert disk.getvalue().decode() == to_csa(record.record)
    assert len(said) == 2


def test_no_record_replaces_another(tmp_path: Path) -> None:
    for _ in range(2):
        RecordFile(tmp_path, "../a game", GameRecord(), print).end(Ending.INTERRUPTED, None)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".._a_game-2.csa", ".._a_game.csa"]


def test_a_server_chooses_no_folder_no_device_and_no_endless_name() -> None:
    devices = ("CON", "nul", "Aux.x", "COM1", "lpt9.csa.x")
    assert [file_stem(name) for name in devices] == [f"_{name}" for name in devices]
    assert file_stem("console") == "console"
    for name in ("../../x", "a/b", "C:\\x", "a\0b", "\x1b[31m", "対" * 300):
        stem = file_stem(name)
        assert not set(stem) & set('/\\:\0\x1b"<>|?*')
        assert len(f"{stem}-100.csa".encode()) <= 255
