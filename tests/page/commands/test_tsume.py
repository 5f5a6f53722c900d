"""`goryu tsume`: a record becomes problems, and a problem its solution."""

from pathlib import Path

import pytest

from goryu.__main__ import main
from goryu_page.tsume.problem import read_problems

SOUND = "l3k3l/5R3/2sgp1Sp1/2pp1p2p/pp2P1pN1/2PPS2PP/P1G3N2/1B2G1r1L/L7K b SNPbgn2p 1"


def test_a_record_becomes_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record, out = tmp_path / "games.sfen", tmp_path / "problems.sfen"
    record.write_text(f"sfen {SOUND} moves N*4c 5a6a S*7b\nsfen {SOUND} moves 7g7g\n")
    assert main(["tsume", "make", str(record), "--length", "1-5", "--sound", "--out", str(out)]) == 0
    assert "games.sfen:2" in capsys.readouterr().out
    (problem,) = read_problems(out.read_text())
    assert (problem.sfen, problem.solution) == (SOUND, ("N*4c", "5a6a", "S*7b"))
    assert main(["tsume", "make", str(record), "--length", "7", "--out", str(out)]) == 2
    with pytest.raises(SystemExit):
        main(["tsume", "make", str(record), "--length", "7-3", "--out", str(out)])


@pytest.mark.parametrize(("language", "move"), [("en", "N*4c"), ("ja", "▲４三桂")])
def test_a_problem_is_solved(
    language: str, move: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GORYU_LANGUAGE", language)
    assert main(["tsume", "solve", f"sfen {SOUND} # a comment"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["1", move]
    assert main(["tsume", "solve", "4k4 b - 1"]) == 2
