"""tools/parcel.py: a parcel that travels to another machine in small parts, and results that come back.

A folder plays the other machine.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

parcel: Any = pytest.importorskip("parcel")

WHEEL = "tiny-1.0-py3-none-any.whl"


def wheel(folder: Path) -> Path:
    """Writes a wheel of a module `tiny`."""
    path = folder / WHEEL
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("tiny.py", "ANSWER = 42\n" + "# Some more bytes.\n" * 40)
        file.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        file.writestr(
            "tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr("tiny-1.0.dist-info/RECORD", "")
    return path


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A parcel of a wheel, a network and an empty file, in parts of half a KiB."""
    monkeypatch.setattr(parcel, "collect_wheels", lambda args, folder: wheel(folder))
    network, games = tmp_path / "net.onnx", tmp_path / "games"
    network.write_bytes(os.urandom(1500))
    games.touch()
    words = ["pack", "--out", str(tmp_path / "parcel"), "--part-mib", str(0.5 / 1024)]
    assert parcel.main([*words, "--network", str(network), "--file", str(games)]) == 0
    return tmp_path / "parcel"


def there(machine: Path, part: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Runs the program that came with a part, on the other machine, by a Python without our packages."""
    command = [sys.executable, "-I", str(part / "parcel.py"), *words]
    return subprocess.run(command, cwd=machine, capture_output=True, text=True)


def test_a_parcel_arrives_in_parts_and_is_installed(parts: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine"
    machine.mkdir()
    folders = sorted(parts.iterdir())
    assert len(folders) >= 4
    assert all(sum(path.stat().st_size for path in folder.glob("0*")) <= 512 for folder in folders)
    done = there(machine, folders[0], "install", "--from", "kept", "--site", "site")
    assert done.returncode == 1
    for folder in [*folders[1:], folders[1], folders[0]]:  # One arrives twice, the first at last.
        carried = machine / folder.name
        shutil.copytree(folder, carried)
        done = there(machine, carried, "receive", str(carried), "--to", "kept")
        assert done.returncode == 0, done.stderr
        shutil.rmtree(carried)
    assert "missing: none" in done.stdout
    done = there(machine, folders[-1], "install", "--from", "kept", "--site", "site")
    assert done.returncode == 0, done.stderr
    network = machine / "site" / "goryu" / "models" / "downloads" / "net.onnx"
    assert network.read_bytes() == (tmp_path / "net.onnx").read_bytes()
    assert (machine / "kept" / "content" / "files" / "games").read_bytes() == b""
    (machine / "own").mkdir()
    (machine / "own" / "there.py").write_text("import tiny; print(tiny.ANSWER)")
    tried = ". kept/env.sh && python3 -m there"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(machine / "own"),
    }
    out = subprocess.run(["sh", "-c", tried], cwd=machine, capture_output=True, text=True, env=environment)
    assert out.stdout == "42\n", out.stderr


def test_a_damaged_piece_and_a_foreign_part_are_refused(parts: Path, tmp_path: Path, capsys: Any) -> None:
    first, second, *_ = sorted(parts.iterdir())
    piece = next(second.glob("0*"))
    piece.write_bytes(piece.read_bytes()[:-1] + b"?")
    kept = str(tmp_path / "kept")
    assert parcel.main(["receive", str(first), "--to", kept]) == 0
    assert parcel.main(["receive", str(second), "--to", kept]) == 1
    assert "damaged" in capsys.readouterr().err
    assert len(list((tmp_path / "kept" / "pieces").iterdir())) == len(list(first.glob("0*")))
    (first / parcel.MANIFEST).write_text('{"files": {}, "pieces": []}')
    assert parcel.main(["receive", str(first), "--to", kept]) == 1
    assert "another parcel" in capsys.readouterr().err


OUTSIDE = '{"files": {}, "pieces": [{"piece": "../outside", "sha256": "%s"}]}'


@pytest.mark.parametrize("manifest", ["torn", "[]", "{}", OUTSIDE, '{"files": {"/x": ""}, "pieces": []}'])
def test_a_hostile_or_damaged_manifest_is_refused(manifest: str, tmp_path: Path, capsys: Any) -> None:
    part, outside = tmp_path / "part", tmp_path / "outside"
    part.mkdir()
    outside.touch()
    (part / parcel.MANIFEST).write_text(manifest.replace("%s", parcel.sha256(outside)))
    assert parcel.main(["receive", str(part), "--to", str(tmp_path / "kept")]) == 1
    assert "parcel: " in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


def test_there_is_something_to_pack(tmp_path: Path) -> None:
    assert parcel.main(["pack", "--out", str(tmp_path / "parcel"), "--wheel"]) == 1


def test_results_come_back_in_few_files(tmp_path: Path, capsys: Any) -> None:
    results, out = tmp_path / "contact", tmp_path / "out"
    (results / "match").mkdir(parents=True)
    (results / "log.jsonl").write_bytes(os.urandom(3000))
    (results / "match" / "match.jsonl").write_text("{}\n")
    (results / "networks").mkdir()
    (results / "networks" / "large.onnx").write_bytes(os.urandom(20_000))
    words = ["split", str(results), "--to", str(out), "--piece-mib", str(1 / 1024)]
    assert parcel.main([*words, "--most", "3"]) == 1
    assert parcel.main([*words, "--most", "8"]) == 0
    assert 3 < len(list(out.iterdir())) <= 8
    assert max(path.stat().st_size for path in out.iterdir()) <= 1024
    assert parcel.main(["join", str(out), "--to", str(tmp_path / "here")]) == 0
    for name in ("log.jsonl", "match/match.jsonl"):
        assert (tmp_path / "here" / name).read_bytes() == (results / name).read_bytes()
    (out / "results-2").unlink()
    assert parcel.main(["join", str(out), "--to", str(tmp_path / "again")]) == 1
    assert "results-2: missing" in capsys.readouterr().err
