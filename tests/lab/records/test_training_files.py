"""Training games through the formats of the field, checked against cshogi and against the definitions."""

import struct
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from goryu.games.shogi import move_from_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu_lab.commands import records
from goryu_lab.records.game_records import GameRecord, read_games
from goryu_lab.records.hcpe import read_hcpe
from goryu_lab.records.hcpe3 import encode
from goryu_lab.records.training_files import read_training_file, write_training_file

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
ENDINGS = ("repetition", "declaration", "maximum ply", "")


def random_game(seed: int, plies: int = 30) -> GameRecord:
    """A game with soft targets at some positions, the first of which are not for training."""
    rng = Random(seed)
    board = Board(START) if seed % 2 else Board()
    start = board.sfen()
    moves: list[int] = []
    policies: list[tuple[tuple[int, float], ...] | None] = []
    while len(moves) < plies and board.legal_moves():
        legal = board.legal_moves()
        others = rng.sample(legal, min(3, len(legal)))
        shares = [rng.randint(1, 1000) for _ in others]
        targets = tuple((int(move), share / sum(shares)) for move, share in zip(others, shares, strict=True))
        policies.append(targets if len(moves) >= 3 and rng.random() < 0.5 else None)
        moves.append(int(rng.choice(legal)))
        board.push(Move(moves[-1]))
    return GameRecord(
        moves=tuple(moves),
        evals=tuple(None if ply < 3 else rng.randrange(-3000, 3000) for ply in range(len(moves))),
        result=seed % 3,
        policies=tuple(policies),
        start_sfen=start,
        ending=ENDINGS[seed % 4],
    )


def same_games(found: Iterable[GameRecord], expected: Iterable[GameRecord]) -> bool:
    """Are they equal, up to the units of a probability?"""
    return all(
        replace(one, policies=None) == replace(other, policies=None)
        and [dict(policy or ()) for policy in one.policies or ()]
        == [pytest.approx(dict(policy or ()), abs=1e-4) for policy in other.policies or ()]
        for one, other in zip(found, expected, strict=True)
    )


def test_hcpe3_keeps_games_and_follows_its_definition(tmp_path: Path) -> None:
    games = [random_game(seed) for seed in range(8)]
    path = tmp_path / "a.hcpe3"
    write_training_file(path, games, ".hcpe3")
    assert same_games(read_training_file(path, pytest.fail), games)
    data = path.read_bytes()
    board = pytest.importorskip("cshogi").Board()
    board.set_hcp(np.frombuffer(data, np.uint8, 32))
    assert (board.sfen(), *struct.unpack_from("<HBB", data, 32)) == (games[0].start_sfen, 30, 0 | 4, 0)
    place = 36
    for move, score, policy in zip(games[0].moves, games[0].evals, games[0].policies or (), strict=True):
        candidates = 0 if score is None else 1 if policy is None else len(policy)
        assert struct.unpack_from("<HhH", data, place) == (move, score or 0, candidates)
        place += 6 + 4 * candidates


def test_psv_keeps_positions_and_is_read_by_cshogi(tmp_path: Path) -> None:
    game = random_game(1)
    path = tmp_path / "a.psv"
    write_training_file(path, [game], ".psv")
    (found,) = read_training_file(path, pytest.fail)
    assert (found.moves, found.evals, found.result) == (game.moves[3:], game.evals[3:], game.result)
    board = Board(game.start_sfen)
    cshogi: Any = pytest.importorskip("cshogi")
    theirs = cshogi.Board()
    for ply, (move, score) in enumerate(zip(game.moves, game.evals, strict=True)):
        if ply >= 3:
            record = np.fromfile(path, cshogi.PackedSfenValue)[ply - 3]
            theirs.set_psfen(record["sfen"])
            wins = 1 if board.turn == game.result - 1 else -1
            assert theirs.sfen().split()[:3] == board.sfen().split()[:3]
            assert cshogi.move16_from_psv(int(record["move"])) == move
            assert (record["score"], record["gamePly"], record["game_result"]) == (score, ply + 1, wins)
        if ply == 3:
            assert found.start_sfen == board.sfen()
        board.push(Move(move))


def test_damaged_records_are_named_by_their_number_and_the_others_stay(tmp_path: Path) -> None:
    """Of three: the second is overwritten, and the file ends within a fourth."""
    games = [random_game(seed, plies=4) for seed in (3, 4, 5)]
    for suffix, start in ((".hcpe3", len(encode(games[0]))), (".hcpe", 38), (".psv", 40)):
        path = tmp_path / f"a{suffix}"
        write_training_file(path, games, suffix)
        data = bytearray(path.read_bytes())
        data[start : start + 32] = bytes([255] * 32)
        path.write_bytes(data + data[:20])
        problems: list[str] = []
        found = list(read_training_file(path, problems.append))
        assert [game.moves[-1] for game in found] == [games[0].moves[-1], games[2].moves[-1]]
        word = "game" if suffix == ".hcpe3" else "record"
        assert sorted(problem.split(": ")[1] for problem in problems) == [f"{word} 2", f"{word} 4"]


def test_the_command_converts_between_all_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / f"a{suffix}" for suffix in (".games", ".hcpe3", ".psv", ".hcpe", ".hcpe.xz", ".bin")]
    write_training_file(paths[0], map(random_game, range(4)), ".games")
    for source, target in pairwise(paths):
        assert records.main(["convert", str(source), "--out", str(target)]) == 0
    last = tmp_path / "b.games"
    damaged = tmp_path / "c.hcpe"
    damaged.write_bytes(paths[3].read_bytes() + b"x")
    assert records.main(["convert", str(damaged), "--teacher", "A", "--out", str(last)]) == 0
    assert "c.hcpe: record 109: the file ends within it" in capsys.readouterr().out.replace("\n", "")
    with pytest.warns(UserWarning, match="record 109: the file ends within it"):
        assert len(read_hcpe(damaged)) == 108
    games = list(read_games(last))
    assert [game.moves for game in games] == [random_game(seed).moves[3:] for seed in range(4)]
    assert {game.teacher for game in games} == {"A"}
    assert records.main(["convert", str(last), "--out", str(tmp_path / "a.kif")]) == 2


def test_a_position_of_random_bits_is_reported_and_ends_nothing(tmp_path: Path) -> None:
    """One byte too much, as in a damaged download; cshogi reads beyond its tables there."""
    hcp = bytes.fromhex("0069b649090c9742386c5f4558bc043f14f13cd894e02dc1e2fa2bc4c731a1c4")
    psfen = bytes.fromhex("0069b6510a0cab44589c9f4938bc043f24f13c38a5e04dc161fd4dc4c73222c5")
    rng = Random(7)
    for number in range(60):
        for suffix, position, rest in (
            (".hcpe", hcp, bytes(6)),
            (".psv", psfen, bytes(8)),
            (".hcpe3", hcp, struct.pack("<HBB", 1, 0, 0) + struct.pack("<HhH", 0x1234, 0, 0)),
        ):
            path = tmp_path / f"a{suffix}"
            data = rng.randbytes(32) if number else position
            path.write_bytes(data + rest)
            problems: list[str] = []
            assert list(read_training_file(path, problems.append)) == []
            (problem,) = problems
            word = "game" if suffix == ".hcpe3" else "record"
            assert problem.startswith(f"{path}: {word} 1: expected a packed position, "), problem
            assert problem.endswith(f", received {data.hex()}")


def test_an_illegal_candidate_is_reported(tmp_path: Path) -> None:
    """A network that learnt from it would get a label of nothing."""
    game = random_game(1, plies=4)
    illegal = move_from_usi("5e5f")  # The square is empty.
    policy = ((game.moves[3], 0.5), (illegal, 0.5))
    path = tmp_path / "a.hcpe3"
    write_training_file(path, [replace(game, policies=(None, None, None, policy))], ".hcpe3")
    problems: list[str] = []
    assert list(read_training_file(path, problems.append)) == []
    assert [problem.split(": ")[1] for problem in problems] == ["game 1"]
    assert problems[0].endswith(f"received {illegal}")


def test_numbers_that_no_game_has_are_reported(tmp_path: Path) -> None:
    """A score of -32768, and a move number that no SFEN has."""
    for suffix, place in ((".hcpe", 38 + 32), (".psv", 40 + 32), (".psv", 40 + 36)):
        path = tmp_path / f"a{suffix}"
        write_training_file(path, [random_game(3, plies=6)], suffix)
        damaged = bytearray(path.read_bytes())
        damaged[place : place + 2] = b"\0\x80"
        path.write_bytes(damaged)
        problems: list[str] = []
        found = list(read_training_file(path, problems.append))
        assert sum(len(game.moves) for game in found) == 2
        assert [problem.split(": ")[1] for problem in problems] == ["record 2"]
