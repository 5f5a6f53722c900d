"""Files that are written: never over what is read, whole or not at all, and with errors that name them."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from goryu import __main__ as command_line
from goryu.base.errors import InputError
from goryu.base.files import atomic_write, cache_folder, check_outputs, check_writable
from goryu.base.printable import printable
from goryu.commands import review
from goryu.kifu.archives import find_records
from paths import ROOT

USI = "startpos moves 7g7f 3c3d 2g2f\n"


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A game in a file of the working directory, which is empty else."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "game.usi"
    path.write_text(USI)
    return path


def test_an_output_may_be_neither_an_input_nor_another_output(tmp_path: Path) -> None:
    one, other, link = tmp_path / "one", tmp_path / "other", tmp_path / "link"
    one.write_text("")
    check_outputs([one, None, other], [None])
    with pytest.raises(InputError, match="is also read"):
        check_outputs([None, other], [one, tmp_path / "folder" / ".." / "other"])
    with pytest.raises(InputError, match="is named for two outputs"):
        check_outputs([other, tmp_path / "." / "other"])
    link.hardlink_to(one)
    with pytest.raises(InputError, match="is also read"):
        check_outputs([link], [one])
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    check_outputs([loop], [one])


@pytest.mark.parametrize(
    ("name", "problem"),
    [(".", "is a folder: expected a file"), ("file/x", "is not a folder"), ("none/x", "no such folder")],
)
def test_a_file_that_cannot_be_written_is_refused(name: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=problem):
        check_writable(tmp_path / name)
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "none" / "x", makes_folders=True)


def test_a_device_is_refused() -> None:
    with pytest.raises(InputError, match=f"{re.escape(os.devnull)} is not a regular file"):
        check_writable(Path(os.devnull))


def test_the_error_of_a_full_disk_names_the_file_and_the_old_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(path: Path, data: bytes) -> int:
        path.open("wb").close()
        raise OSError(errno.ENOSPC, "No space left on device")

    file = tmp_path / "file"
    file.write_text("old")
    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(OSError, match="No space") as failure:
        atomic_write(file, "new")
    assert failure.value.filename == str(file)
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == "old"


@pytest.mark.parametrize(
    "words",
    [
        "review game.usi --html x --kif x",
        "review game.usi --jsonl game.usi",
        "tree --graph game.usi --html game.usi",
        "book make --state game.usi --out game.usi --positions 1 --playouts 1",
        "book make --state s.jsonl --out game.usi --records game.usi --positions 1 --playouts 1",
        "records convert game.usi --out z.games --left-out game.usi",
        "records convert game.usi --out y.hcpe --left-out y.hcpe",
        "records openings game.usi --out game.usi",
        "book merge game.usi --out game.usi",
        "selfplay reanalyse old.games --model a --out old.games",
    ],
)
def test_no_program_writes_over_what_it_reads(
    words: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(words.split()) != 0
    message = capsys.readouterr().err
    assert "is also read: name another output" in message or "is named for two outputs" in message
    assert [path.name for path in record.parent.iterdir()] == ["game.usi"]
    assert record.read_text() == USI


def test_a_file_that_is_no_list_of_games_is_not_replaced_by_one(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record.parent / "lists"
    folder.mkdir()
    (folder / "train.txt").write_text("mine")
    assert command_line.main(["records", "select", "game.usi", "--out", "lists"]) == 2
    assert "train.txt is not a list of games" in capsys.readouterr().err
    assert (folder / "train.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["record.kif", "folder", "none/x.kif", "x.pdf"])
def test_a_file_for_the_game_is_checked_before_the_first_move(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "record.kif").write_text("mine")
    players = ["--first", "random", "--second", "random"]
    assert command_line.main(["play", "shogi", *players, "--save", name]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("goryu play: ")
    assert (tmp_path / "record.kif").read_text() == "mine"


def test_the_file_for_the_game_may_be_saved_during_the_game(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "goryu", "play", "shogi", "--second", "random", "--save", "game.kif"]
    typed = "7g7f\nsave game.kif\nquit\n"
    done = subprocess.run(command, cwd=tmp_path, input=typed, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "game.kif").exists()


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home folder, as in a container that runs as a number."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", home)


@pytest.mark.usefixtures("nobody")
def test_without_a_home_folder_a_review_runs_and_keeps_nothing(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FileNotFoundError, match="set HOME"):
        cache_folder()
    assert review.main([str(record), "--playouts", "1", "--quiet"]) == 0
    assert "analyses are not kept: the user has no home folder; set HOME" in capsys.readouterr().err


def test_halves_of_characters_become_escapes() -> None:
    assert printable("a\ud800b") == r"a\ud800b"


def run_command(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "goryu", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def test_a_program_prints_letters_that_its_output_lacks_as_escapes(record: Path) -> None:
    pytest.importorskip("rich")
    record.write_text("手合割：平手\n   1 ２六歩(27)\n   2 投了\n", "utf-8")
    done = run_command("records", "tree", record, "--min-games", 1, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert r"\uff12\u516d\u6b69" in done.stdout


def test_an_implementation_that_does_not_exist_is_one_line() -> None:
    pytest.importorskip("rich")
    done = run_command("book", "show", ROOT / "models" / "goryu.db", GORYU_IMPLEMENTATION="x")
    assert done.returncode == 2
    assert done.stderr == "goryu book: GORYU_IMPLEMENTATION must be 'python' or 'native', not 'x'\n"


def test_a_program_ends_quietly_if_nobody_reads_its_output() -> None:
    pytest.importorskip("rich")
    reading, writing = os.pipe()
    os.close(reading)
    book = ROOT / "models" / "goryu.db"
    command = [sys.executable, "-m", "goryu", "book", "show", str(book)]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_review_while_it_waits_for_a_record(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "goryu", "review", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while b"review" not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
            time.sleep(0.01)
        for _ in range(600):  # It reads once it sleeps in the kernel's function for pipes.
            if "pipe" in Path(f"/proc/{process.pid}/wchan").read_text():
                break
            time.sleep(0.1)
        process.send_signal(number)
        assert process.wait(60) in (130, -number)


def test_a_fifo_in_a_folder_of_records_is_named_and_not_opened(record: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("a FIFO of POSIX")
    os.mkfifo(record.with_name("pipe.usi"))
    found = {Path(one.name).name: one.problem for one in find_records([record.parent])}
    assert found == {"game.usi": "", "pipe.usi": "not a regular file"}
