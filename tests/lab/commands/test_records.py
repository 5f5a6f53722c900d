"""tools/records.py: archives, filters, lists, conversion, openings; and bad records."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goryu_lab.records.game_lists import is_list
from goryu_lab.records.opening_tree import OpeningTree, sample_openings

pytest.importorskip("rich")

from goryu.games.shogi import START_SFEN, move_to_usi
from goryu.implementation import Board
from goryu.kifu.archives import Candidate, find_records, read_candidates
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.kifu.writing import to_csa, to_jkf, to_ki2, to_kif, to_usi
from goryu_lab.commands import records as tool
from goryu_lab.match.openings import read_openings
from goryu_lab.records.from_kifu import score_of, training_game
from goryu_lab.records.game_lists import is_test_game, read_list, write_list
from goryu_lab.records.game_records import read_games
from goryu_lab.records.hcpe import BLACK_WON, DRAW, WHITE_WON
from goryu_lab.records.selection import GameFilter, select
from links import link


def game(seed: int, plies: int = 20, ratings: tuple[float | None, float | None] = (None, None)) -> GameRecord:
    """A game of random moves that the side to move resigns, with a score on every second move."""
    random, board, moves = Random(seed), Board(), []
    for i in range(plies):
        move = random.choice(board.legal_moves())
        moves.append(Ply(move_to_usi(move), f"* {10 * i} +7776FU" if i % 2 == 0 else ""))
        board.push(move)
    return GameRecord(
        plies=tuple(moves),
        names=("a", "b"),
        ratings=ratings,
        ending=Ending.RESIGNATION,
        winner=1 - board.turn,
    )


def run(*words: object) -> int:
    return tool.main([str(word) for word in words])


def write_games(folder: Path, games: Sequence[GameRecord]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, one in enumerate(games):
        (folder / f"game{number:05}.csa").write_text(to_csa(one), "utf-8")


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def test_records_are_found_in_folders_and_archives(tmp_path: Path) -> None:
    texts = {
        "deep/er/a.kif": to_kif(game(1)).encode("cp932"),
        "b.ki2": to_ki2(game(2)).encode(),
        "c.csa": to_csa(game(3)).encode(),
        "d.jkf": to_jkf(game(4)).encode(),
        "e.sfen": f"{to_usi(game(5))}\n{to_usi(game(6))}\n".encode(),
        "f.csa.gz": gzip.compress(to_csa(game(7)).encode()),
        "g.csa.bz2": bz2.compress(to_csa(game(8)).encode()),
        "h.csa.xz": lzma.compress(to_csa(game(9)).encode()),
        "inner.zip": zipped({"対局.kif": to_kif(game(10)).encode(), "readme.html": b"<html>"}),
        "inner.tar.gz": tarred({"x/y.csa": to_csa(game(11)).encode()}),
        "nothing.png": b"\x89PNG",
    }
    for name, data in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "all.zip").write_bytes(zipped(texts))
    found = list(read_candidates(find_records([tmp_path])))
    assert [candidate.reason for candidate in found if candidate.game is None] == []
    names = [candidate.name.removeprefix(f"{tmp_path}{os.sep}") for candidate in found]
    assert len(found) == 22
    assert "e.sfen#2" in names
    assert "all.zip!inner.zip!対局.kif" in names
    moves = {candidate.game.moves for candidate in found if candidate.game}
    assert moves == {game(seed).moves for seed in range(1, 12)}


def test_7z_archives_are_read(tmp_path: Path) -> None:
    py7zr = pytest.importorskip("py7zr")
    write_games(tmp_path / "games", [game(1), game(2)])
    with py7zr.SevenZipFile(tmp_path / "games.7z", "w") as archive:
        archive.writeall(tmp_path / "games", "2024")
    found = list(read_candidates(find_records([tmp_path / "games.7z"])))
    assert [candidate.game and candidate.game.moves for candidate in found] == [game(1).moves, game(2).moves]
    assert found[0].name == f"{tmp_path / 'games.7z'}!2024/game00000.csa"
    (tmp_path / "bad.7z").write_bytes((tmp_path / "games.7z").read_bytes()[:-20])
    (bad,) = find_records([tmp_path / "bad.7z"])
    assert "damaged" in bad.problem


def test_damaged_archives_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = to_csa(game(1)).encode()
    archive = bytearray(zipped({"a.csa": good, "b.csa": to_csa(game(2)).encode()}))
    archive[60:90] = bytes(30)  # Within the first member.
    nested = good
    for _ in range(7):
        nested = zipped({"inner.zip": nested})
    files = {
        "a.zip": bytes(archive),
        "b.zip": b"PK\3\4 no archive",
        "c.tar.gz": b"\x1f\x8b no archive",
        "d.csa.gz": b"\x1f\x8b no archive",
        "e.csa": b"",
        "f.csa": b"\0" * 10,
        "g.zip": nested,
        "h.csa": b"PI\n+\n" + b"'" + b"x" * (9 << 20),
        "i.tar.xz": lzma.compress(b"no tar"),
        "j.7z": b"7z no archive",
        "z.csa": good,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    found = list(read_candidates(find_records([tmp_path])))
    kept = [candidate.name for candidate in found if candidate.game]
    assert [Path(name).name for name in kept] == ["a.zip!b.csa", "z.csa"]
    reasons = {
        Path(candidate.name).name.partition("!")[0]: candidate.reason
        for candidate in found
        if not candidate.game
    }
    assert reasons.keys() == files.keys() - {"z.csa"}
    for name, reason in reasons.items():
        assert reason.startswith(str(tmp_path / name)), reason


def test_a_link_to_nothing_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    gone = tmp_path / "gone.csa"
    link(gone, tmp_path / "nowhere")
    write_games(tmp_path, [game(1)])
    kept, left = sorted(read_candidates(find_records([tmp_path])), key=lambda candidate: not candidate.game)
    assert kept.game
    assert not left.game
    assert left.reason.startswith(str(gone))


def test_the_filter_gives_its_reason() -> None:
    rated = game(1, ratings=(2600.0, 2400.0))
    assert GameFilter(min_rating=2400, min_plies=20, max_plies=20).reason_against(rated) == ""
    assert "rating below 2500" in GameFilter(min_rating=2500).reason_against(rated)
    assert "without both" in GameFilter(min_rating=1).reason_against(game(1))
    assert "fewer than 21" in GameFilter(min_plies=21).reason_against(rated)
    assert "more than 19" in GameFilter(max_plies=19).reason_against(rated)
    assert "no player" in GameFilter(player="x").reason_against(rated)
    assert "ended by time" in GameFilter().reason_against(GameRecord(ending=Ending.TIME, winner=0))
    endless = GameRecord(ending=Ending.INTERRUPTED)
    assert "winner" in GameFilter(endings=tuple(Ending)).reason_against(endless)
    handicap = GameRecord(
        START_SFEN.replace("1r5b1", "7b1").replace(" b ", " w "), ending=Ending.RESIGNATION, winner=0
    )
    assert "another start" in GameFilter().reason_against(handicap)
    assert GameFilter(handicaps=True).reason_against(handicap) == ""


def test_duplicates_are_left_out_whoever_played_them() -> None:
    one, other = game(1), game(2)
    copy = GameRecord(plies=one.plies, names=("x", "y"), ending=one.ending, winner=one.winner)
    candidates = [Candidate("1", one), Candidate("2", other), Candidate("3", copy)]
    reasons = {candidate.name: candidate.reason for candidate in select(candidates, GameFilter())}
    assert reasons == {"1": "", "2": "", "3": "the same moves as 1"}
    assert all(candidate.is_kept for candidate in select(candidates, GameFilter(), keep_duplicates=True))


DATED = {"開始日時": "2024/01/01"}


@pytest.mark.parametrize(
    "poor, rich",
    [
        ({"ending": Ending.INTERRUPTED, "winner": None}, {"names": ("", ""), "headers": {}}),
        ({"names": ("", "b")}, {"headers": {}}),
        ({"headers": {}}, {}),
        ({"ending": Ending.UNKNOWN, "winner": None}, {"ending": Ending.REPETITION, "winner": None}),
    ],
    ids=["result before names and date", "names", "date", "a draw is a result"],
)
def test_of_duplicates_the_record_that_knows_most_is_kept(poor: dict[str, Any], rich: dict[str, Any]) -> None:
    """The first was kept, also without the result that a later one had."""
    whole = replace(game(1), headers=DATED)
    one, two, three = replace(whole, **poor), replace(whole, **rich), replace(game(2), headers=DATED)
    records = [
        Candidate("poor", one),
        Candidate("rich", two),
        Candidate("again", two),
        Candidate("other", three),
    ]
    everything = GameFilter(endings=tuple(Ending), needs_result=False)
    games = {candidate.name: candidate.game for candidate in records}
    for order in permutations(records):
        found = list(select(order, everything))
        assert {candidate.name: candidate.game for candidate in found} == games
        first = next(candidate.name for candidate in order if candidate.name in ("rich", "again"))
        assert {candidate.name for candidate in found if candidate.is_kept} == {first, "other"}


def test_the_split_depends_on_the_moves_alone() -> None:
    games = [game(seed, 6) for seed in range(300)]
    test = [is_test_game(one, 0.3, 5) for one in games]
    assert 60 < sum(test) < 120
    renamed = [GameRecord(plies=one.plies, names=("x", "y")) for one in games]
    assert [is_test_game(one, 0.3, 5) for one in renamed] == test
    assert [is_test_game(one, 0.3, 6) for one in games] != test
    assert not any(is_test_game(one, 0.0, 5) for one in games)


@pytest.mark.parametrize(
    "name", ["a.csa", "x y!z.kif", "C:\\new\\run.kif", "# a", '"quoted"', "a\nb", " a", "対局\udc80"]
)
def test_lists_keep_every_name(name: str, tmp_path: Path) -> None:
    write_list(tmp_path / "list.txt", [name, "b"], "x")
    assert read_list(tmp_path / "list.txt") == [name, "b"]
    (tmp_path / "list.txt").write_bytes(BOM_UTF8 + (tmp_path / "list.txt").read_bytes())
    assert is_list(tmp_path / "list.txt"), "an editor on Windows has added a byte order mark"
    assert read_list(tmp_path / "list.txt") == [name, "b"]


def test_scores_are_turned_to_the_side_that_moves() -> None:
    assert score_of(Ply("7g7f", "* 30 -3334FU"), 0) == 30
    assert score_of(Ply("7g7f", "* 30 -3334FU"), 1) == -30
    assert score_of(Ply("7g7f", "text\n*評価値=-99999"), 0) == -32767
    for comment in ("", "30", "* x", "好手 30", "* 3.5"):
        assert score_of(Ply("7g7f", comment), 0) is None


def test_games_are_converted_with_and_without_scores() -> None:
    plain, scored = training_game(game(1), skip=4), training_game(game(1), scores=True)
    assert plain.evals == (None,) * 4 + (0,) * 16
    assert scored.evals[:4] == (0, None, 20, None)
    assert plain.result == (BLACK_WON if game(1).winner == 0 else WHITE_WON)
    assert training_game(GameRecord(plies=game(1).plies, ending=Ending.REPETITION)).result == DRAW
    assert plain.teacher == "a - b"


def test_an_archive_becomes_training_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive, out = tmp_path / "archive", tmp_path / "out"
    write_games(archive, [game(seed, ratings=(2500.0, 2500.0)) for seed in range(40)])
    write_games(archive / "copies", [game(seed, ratings=(2500.0, 2500.0)) for seed in range(3)])
    write_games(archive / "weak", [game(100, ratings=(1000.0, 2500.0))])
    (archive / "broken.csa").write_text("PI\n+\n+7776FU\n-3335FU\n+2726FU\n")
    (archive / "unknown.kif").write_bytes(b"\x82\x01\xff\n")
    assert run("select", archive, "--min-rating", 2000, "--test", 0.25, "--out", out) == 0
    printed = capsys.readouterr().out
    assert f"{archive / 'broken.csa'}:4: move 2:" in printed
    assert "40 kept, 4 left out, 2 damaged" in printed
    train, test = read_list(out / "train.txt"), read_list(out / "test.txt")
    assert len(train) + len(test) == 40
    assert test
    assert not set(train) & set(test)
    assert (out / "train.txt").read_text("utf-8").splitlines()[0] == (
        "# goryu: a list of games; train of ending resignation, ending checkmate, ending declaration, "
        "min-rating 2000; test share 0.25, seed 0"
    )
    left_out = (out / "left-out.txt").read_text("utf-8").splitlines()
    assert len(left_out) == 6
    for part in ("train", "test"):
        assert run("convert", out / f"{part}.txt", "--out", out / f"{part}.games") == 0
    written = {name: list(read_games(out / f"{name}.games")) for name in ("train", "test")}
    assert [len(games) for games in written.values()] == [len(train), len(test)]
    hashes = {one.moves for one in written["train"]} & {one.moves for one in written["test"]}
    assert not hashes
    # The same command writes the same lists.
    before = (out / "train.txt").read_bytes()
    assert run("select", archive, "--min-rating", 2000, "--test", 0.25, "--out", out) == 0
    assert (out / "train.txt").read_bytes() == before


def test_a_list_names_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_games(tmp_path / "in", [game(1)])
    kept = str(tmp_path / "in" / "game00000.csa")
    write_list(tmp_path / "list.txt", [kept, str(tmp_path / "gone.zip!a.csa"), f"{kept}#3"], "x")
    out = tmp_path / "a.games"
    assert run("convert", tmp_path / "list.txt", "--out", out, "--left-out", tmp_path / "left.txt") == 0
    assert len(list(read_games(out))) == 1
    assert (tmp_path / "left.txt").read_text().count("not found") == 2
    assert "gone.zip!a.csa" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "nowhere"], "no such file or folder"),
        (["convert", "{in}", "--out", "{tmp}/a.txt"], "expected *.games"),
        (["show", "{tmp}/damaged.kif"], "expected at least one record that can be read"),
        (["tree", "{tmp}/damaged.kif"], "expected at least one record that can be read"),
        (
            ["select", "{in}", "--min-plies", "9", "--max-plies", "8", "--out", "{tmp}/out"],
            "expected 0 <= MIN <= MAX",
        ),
        (["openings", "{in}", "--plies", "300", "--out", "{tmp}/o.txt"], "no opening is left"),
    ],
)
def test_wrong_arguments_are_refused(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_games(tmp_path / "in", [game(1)])
    (tmp_path / "damaged.kif").write_bytes(b"1 \xff\n")
    assert run(*(word.format(**{"in": tmp_path / "in", "tmp": tmp_path}) for word in words)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob("unfinished*"))


def test_reasons_are_written_also_if_no_game_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_games(tmp_path / "in", [game(1)])
    (record,), reasons = (tmp_path / "in").iterdir(), tmp_path / "left-out.txt"
    assert run("select", record, "--min-plies", 500, "--out", tmp_path) == 2
    assert f"{record}: " in reasons.read_text()
    reasons.unlink()
    record.write_text(record.read_text().partition("%")[0])  # A game without a result.
    assert run("convert", record, "--out", tmp_path / "a.games", "--left-out", reasons) == 2
    assert f"{record}: " in reasons.read_text()
    assert capsys.readouterr().err.count("no game is left") == 2


def test_statistics_and_the_tree_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["7g7f 3c3d 2g2f", "7g7f 8c8d 2g2f", "2g2f 3c3d 7g7f", "2g2f 8c8d 2f2e"]
    records = "".join(f"startpos moves {line} resign\n" for line in lines)
    (tmp_path / "a.sfen").write_text(records)
    assert run("tree", tmp_path / "a.sfen", "--depth", 3) == 0
    printed = capsys.readouterr().out
    assert "▲７六歩  2 games, 50 %, black 0 %" not in printed  # White resigns: black has won all.
    assert "▲７六歩  2 games, 50 %, black 100 %" in printed
    assert "  △３四歩  1 game, 50 %" in printed
    assert run("show", tmp_path / "a.sfen") == 0
    assert "4 kept" in capsys.readouterr().out
    assert run("tree", tmp_path / "a.sfen", "--depth", 1, "--usi", "--min-games", 3) == 0
    assert "7g7f" not in capsys.readouterr().out


def test_openings_are_different_positions_that_the_match_takes(tmp_path: Path) -> None:
    write_games(tmp_path / "in", [game(seed) for seed in range(30)])
    out = tmp_path / "openings.txt"
    assert run("openings", tmp_path / "in", "--plies", 6, "--count", 10, "--seed", 3, "--out", out) == 0
    openings = read_openings(out)
    assert len(set(openings)) == 10
    assert {len(opening.moves) for opening in openings} == {6}
    first = out.read_bytes()
    assert run("openings", tmp_path / "in", "--plies", 6, "--count", 10, "--seed", 3, "--out", out) == 0
    assert out.read_bytes() == first


def test_transpositions_meet_in_the_tree() -> None:
    tree = OpeningTree(3)
    for line, winner in (("7g7f 3c3d 2g2f", 0), ("2g2f 3c3d 7g7f", 1), ("7g7f 8c8d 2g2f", 0)):
        tree.add(GameRecord(plies=tuple(map(Ply, line.split())), winner=winner))
    openings = sample_openings(tree, 10, Random(1))
    assert sorted(node.games for _, node in openings) == [1, 2]
    assert [node.points for moves, node in openings if node.games == 2] == [1.0]
    assert len(sample_openings(tree, 10, Random(1), min_games=2)) == 1
