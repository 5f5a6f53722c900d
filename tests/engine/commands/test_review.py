"""`goryu review`: records in, summaries and files out."""

import io
import json
import math
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from goryu.base.language import speaking
from goryu.commands import review
from goryu.kifu.reading import parse_record
from sample_games import ROOK_HANGS_KIF

USI = "position startpos moves 7g7f 3c3d\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))


@pytest.fixture
def game(tmp_path: Path) -> Path:
    path = tmp_path / "game.kif"
    path.write_text(ROOK_HANGS_KIF, encoding="utf-8")
    return path


def test_the_summary_names_the_blunder_and_what_refutes_it(
    game: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert review.main([str(game), "--playouts", "60"]) == 0
    out, err = capsys.readouterr()
    assert "先手太郎" in out
    assert "11 ▲R-8d??  blunder" in out
    assert "refuted by: Rx8d" in out
    assert "accuracy" in out
    assert not [line for line in err.splitlines() if "Error" in line]


def test_the_kif_has_comments_and_the_better_line_and_can_be_read_again(game: Path, tmp_path: Path) -> None:
    written = tmp_path / "commented.kif"
    assert review.main([str(game), "--playouts", "60", "--quiet", "--kif", str(written)]) == 0
    record = parse_record(written.read_bytes())
    assert record.moves == parse_record(ROOK_HANGS_KIF).moves
    assert record.plies[10].comment.startswith("飛車をただで取られる。\n")
    assert "大悪手" in record.plies[10].comment
    # The expressions of ShogiHome, which draws a graph of these lines: centipawns or a mate, for black.
    scores = r"^#評価値=[+-]?[0-9]+$|^#詰み=(先手勝ち|後手勝ち):[0-9]+手$"
    assert all(re.search(scores, ply.comment, re.MULTILINE) for ply in record.plies)
    lost = re.search("^#評価値=(-[0-9]+)$", record.plies[10].comment, re.MULTILINE)
    rate = re.search("先手の勝率 ([0-9.]+) %", record.plies[10].comment)
    assert lost
    assert rate
    odds = float(rate[1]) / (100 - float(rate[1]))
    assert int(lost[1]) == pytest.approx(285 * math.log(odds), abs=20)  # Eval_Coef.
    assert [variation.ply for variation in record.variations] == [11, 11]  # The record has one, too.


def test_in_a_handicap_game_the_sides_have_their_japanese_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, written = tmp_path / "two.kif", tmp_path / "commented.kif"
    game.write_text("手合割：二枚落ち\n手数----指手---------\n1 ６二銀(71)\n2 ７六歩(77)\n3 投了\n", "utf-8")
    with speaking("ja"):
        assert review.main([str(game), "--playouts", "20", "--kif", str(written)]) == 0
    assert "下手の勝ち" in capsys.readouterr().out
    record = parse_record(written.read_bytes())
    assert all(re.search("下手の勝率 [0-9.]+ %", ply.comment) for ply in record.plies)


def test_there_is_a_line_of_json_for_the_game_each_move_and_the_players(game: Path, tmp_path: Path) -> None:
    written = tmp_path / "game.jsonl"
    assert review.main([str(game), "--playouts", "20", "--quiet", "--jsonl", str(written)]) == 0
    lines = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    assert [line["type"] for line in lines] == ["game", *["move"] * 12, "summary"]
    assert lines[11]["judgement"]["kind"] == "blunder"
    assert lines[11]["position"]["moves"][0]["visits"] > 0
    assert lines[-1]["players"][0]["moves"] == 6


def test_the_page_loads_nothing_from_elsewhere(game: Path, tmp_path: Path) -> None:
    written = tmp_path / "game.html"
    assert review.main([str(game), "--playouts", "20", "--quiet", "--html", str(written)]) == 0
    page = written.read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert "/static/" not in page
    assert 'src="' not in page


def test_a_broken_record_is_named_with_its_line_and_the_others_go_on(
    game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.kif"
    broken.write_text(ROOK_HANGS_KIF.replace("２五歩(26)", "２五歩(27)"), encoding="utf-8")
    missing = tmp_path / "missing.kif"
    assert review.main([str(broken), str(missing), str(game), "--playouts", "10"]) == 1
    out, err = capsys.readouterr()
    assert f"{broken}:9" in err
    assert f"{missing}: No such file" in err
    assert "12 moves" in out


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is Unicode")
def test_a_file_whose_name_is_not_utf_8_is_reviewed(tmp_path: Path) -> None:
    named = os.path.join(os.fsencode(tmp_path), "棋譜.kif".encode("cp932"))
    nameless = re.sub("[先後]手：.*\n", "", ROOK_HANGS_KIF)  # Else the players are the page's title.
    Path(os.fsdecode(named)).write_text(nameless, encoding="utf-8")
    page, lines = tmp_path / "review.html", tmp_path / "review.jsonl"
    arguments = ["--playouts", "10", "--quiet", "--html", str(page), "--jsonl", str(lines)]
    assert review.main([os.fsdecode(named), *arguments]) == 0
    assert "\N{REPLACEMENT CHARACTER}" in page.read_text("utf-8")
    assert lines.read_text("utf-8").count("\n") > 10


def test_a_record_comes_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(USI.encode())))
    assert review.main(["-", "--playouts", "10"]) == 0
    assert "2 moves" in capsys.readouterr().out


def test_several_games_are_written_to_a_folder(tmp_path: Path) -> None:
    games = tmp_path / "games.usi"
    games.write_text(USI + "startpos moves 2g2f\n", encoding="utf-8")
    folder = tmp_path / "kif"
    assert review.main([str(games), "--playouts", "10", "--quiet", "--kif", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["games-1.kif", "games-2.kif"]


def test_a_file_for_several_games_is_refused_before_any_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = tmp_path / "games.usi"
    games.write_text(USI + USI, encoding="utf-8")
    assert review.main([str(games), "--kif", str(games)]) == 2
    assert "expected a folder" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--kif", "--html", "--jsonl", "folder"])
def test_an_output_does_not_replace_a_record(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [tmp_path / name for name in ("one.kif", "two.kif")[: 2 if option == "folder" else 1]]
    for record in records:
        record.write_text(ROOK_HANGS_KIF, encoding="utf-8")
    output = ["--kif", str(tmp_path)] if option == "folder" else [option, str(records[0])]
    assert review.main([*map(str, records), "--playouts", "10", *output]) == 2
    assert "name another output" in capsys.readouterr().err
    assert all(record.read_text(encoding="utf-8") == ROOK_HANGS_KIF for record in records)


def test_a_second_run_searches_nothing(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert review.main([str(game), "--playouts", "20", "--quiet"]) == 0

    def fail(*arguments: Any) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr("goryu.analysis.position_searcher.PositionSearcher.search", fail)
    assert review.main([str(game), "--playouts", "20", "--quiet"]) == 0


@pytest.mark.parametrize("playouts", ["0", "-3", "many", "1e3"])
def test_a_wrong_number_of_playouts_is_refused(
    game: Path, playouts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        review.main([str(game), f"--playouts={playouts}"])
    assert "expected at least 1" in capsys.readouterr().err
