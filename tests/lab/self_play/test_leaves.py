"""Leaves of searches as training data: drawn evenly, legal for cshogi, and seen by the network."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.shogi import move_from_usi
from goryu.games.state import State
from goryu.implementation import Board, make_puct
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.search.evaluator import Evaluation
from goryu.search.graph.config import PuctConfig
from goryu_lab.commands.training.selfplay import main
from goryu_lab.records.game_block import GameBlock
from goryu_lab.records.game_records import GameRecord, read_games, write_games
from goryu_lab.records.hcpe import DRAW
from goryu_lab.self_play.config import LeafConfig
from goryu_lab.self_play.leaves import (
    HISTORY,
    LeafJob,
    LeafWork,
    content_number,
    leaves_of_game,
    new_search,
    sampled_leaves,
)
from goryu_lab.self_play.workers import run
from goryu_lab.work.processes import ProcessPool
from paths import MODELS

cshogi: Any = pytest.importorskip("cshogi")

MODEL = MODELS / "goryu-5x64.onnx"
OPENING = ("7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e", "6i7h", "4a3b", "2e2d", "2c2d", "2h2d")


class NotingEvaluator:
    """Notes the positions that it evaluates."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        self.seen |= {without_ply(state.sfen()) for state in states}  # type: ignore[attr-defined]
        return HashedEvaluator().evaluate(states)


def without_ply(sfen: str) -> str:
    return sfen.rsplit(" ", 1)[0]


def new_game(moves: Sequence[str] = OPENING, number: int | None = None) -> GameRecord:
    return GameRecord(tuple(move_from_usi(move) for move in moves), (0,) * len(moves), DRAW, number=number)


def entry(visits: int, *moves: tuple[int, int, int | None], proof: str = "unknown") -> dict[str, Any]:
    keys = ("move", "visits", "child")
    return {"visits": visits, "proof": proof, "moves": [dict(zip(keys, move, strict=True)) for move in moves]}


TREE = [
    entry(8, (10, 4, 1), (11, 3, 2)),
    entry(4, (20, 2, 3), (21, 1, 4)),
    entry(3, (22, 1, 5), (23, 1, None)),
    entry(2, (30, 1, 6)),
    entry(1),
    entry(1, proof="win"),
    entry(1),
]
"""Six evaluated positions below the root, of which one has a proof, and one that the dump lacks."""


def test_every_evaluated_position_is_drawn_equally_often() -> None:
    rng = Random(1)
    drawn = Counter(path for _ in range(8_000) for path in sampled_leaves(TREE, 1, 0.0, rng))
    assert set(drawn) == {(10,), (11,), (10, 20), (10, 21), (10, 20, 30)}
    assert all(abs(times - 1_000) < 150 for times in drawn.values()), drawn  # Five standard deviations.


def test_an_inner_share_replaces_leaves_by_positions_on_the_way() -> None:
    rng = Random(1)
    drawn = Counter(path for _ in range(9_000) for path in sampled_leaves(TREE, 1, 1.0, rng))
    # Of 8 visits 4 end at or below move 10, at the depths 1, 2, 2 and 3.
    assert abs(drawn[10,] - 9_000 / 8 * (1 + 1 / 2 + 1 / 2 + 1 / 3)) < 220
    assert abs(drawn[10, 20, 30] - 9_000 / 8 / 3) < 110


def test_the_leaves_of_one_search_differ() -> None:
    leaves = sampled_leaves(TREE, 100, 0.25, Random(1))
    assert sorted(leaves) == [(10,), (10, 20), (10, 20, 30), (10, 21), (11,)]


def test_a_circle_of_the_graph_ends_a_walk() -> None:
    circle = [entry(5, (1, 4, 1)), entry(4, (2, 3, 0))]
    assert set(sampled_leaves(circle, 50, 0.0, Random(1))) == {(1,)}


def test_leaves_are_positions_that_the_network_has_evaluated() -> None:
    evaluator = NotingEvaluator()
    puct = make_puct(evaluator, PuctConfig(capacity=100_000))
    game = new_game()
    records = leaves_of_game(game, puct, LeafConfig(80, 30, share=1.0), Random(2), teacher="t", number=7)
    assert len(records) > 100
    roots = set()
    board = Board()
    for move in OPENING:
        roots.add(without_ply(board.sfen()))
        board.push_usi(move)
    outside = 0
    for record in records:
        assert (record.number, record.teacher, record.result) == (7, "t", DRAW)
        assert record.evals == (*[None] * (len(record.moves) - 1), 0)
        replayed = cshogi.Board(record.start_sfen)
        for move16 in record.moves[:-1]:
            replayed.push(replayed.move_from_move16(move16))
        assert without_ply(replayed.sfen()) in evaluator.seen
        assert replayed.is_legal(replayed.move_from_move16(record.moves[-1]))
        assert len(record.moves) == min(HISTORY, replayed.move_number - 1) + 1
        outside += without_ply(replayed.sfen()) not in roots
    assert outside > 0.8 * len(records)


def test_a_share_of_the_positions_and_none_without_a_score() -> None:
    puct = make_puct(HashedEvaluator(), PuctConfig(capacity=100_000))
    game = replace(new_game(), evals=(*[None] * 9, 0, 0))
    config = LeafConfig(30, 10, share=1.0)
    records = leaves_of_game(game, puct, config, Random(2), teacher="t", number=1)
    board = Board()
    for move in OPENING[:9]:
        board.push_usi(move)
    assert records
    assert all(int(record.start_sfen.split()[3]) + len(record.moves) - 1 > 10 for record in records)
    assert not leaves_of_game(new_game(), puct, replace(config, share=0.0), Random(2), teacher="t", number=1)


def test_a_game_without_leaves_is_a_finished_task() -> None:
    block = GameBlock.of_several([(3, []), (5, [new_game(number=5)] * 2), (6, [new_game(number=6)])])
    assert block.numbers == (3, 5, 6)
    assert (block.summary.tasks, block.summary.games) == (3, 3)
    rest = block.only({3, 5})
    assert rest.numbers == (3, 5)
    assert [number for number, _ in rest.results()] == [5, 5]


@pytest.mark.parametrize("processes", [1, 2])
def test_workers_find_what_one_search_finds(processes: int, tmp_path: Path) -> None:
    engine = EngineConfig(evaluator=EvaluatorConfig("hashed", model=str(MODEL)))
    games = tuple(new_game(OPENING[:plies]) for plies in (4, 7, 9))
    path, job = tmp_path / "leaves.games", LeafJob("t", LeafConfig(30, 10, share=1.0), engine, 1)
    summary = run(job, LeafWork("t", games), path, lambda: ProcessPool(processes))
    found = sorted((game.number or 0, game.start_sfen, game.moves) for game in read_games(path))
    alone = tmp_path / "alone.games"
    for game in (games[2], games[0], games[1]):  # Each with a search of its own.
        number = content_number(game)
        rng = Random(f"1 {number}")
        write_games(
            alone, leaves_of_game(game, new_search(engine), job.config, rng, teacher="t", number=number)
        )
    expected = sorted((game.number or 0, game.start_sfen, game.moves) for game in read_games(alone))
    assert found == expected
    assert len(found) == summary.positions
    assert {number for number, _, _ in found} == set(map(content_number, games))


def test_the_command_records_leaves_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, out = tmp_path / "some.games", tmp_path / "leaves.games"
    write_games(games, [new_game(OPENING[:3])])
    arguments = ["leaves", str(games), "--model", str(MODEL), "--out", str(out)]
    arguments += ["--playouts", "20", "--leaves", "8", "--share", "1"]
    assert main(arguments) == 0
    first = [game.start_sfen for game in read_games(out)]
    assert f"{len(first)} leaves, {len(first)} of them new" in capsys.readouterr().out
    games.unlink()
    write_games(games, [new_game(OPENING[:5]), new_game(OPENING[:3])])  # Another place in the file.
    assert main(arguments) == 0
    both = list(read_games(out))
    assert len({game.number for game in both}) == 2
    assert len(both) > len(first)
    assert f"{len(both)} leaves, {len(both) - len(first)} of them new" in capsys.readouterr().out
    assert main(arguments) == 0
    assert "leaves, 0 of them new" in capsys.readouterr().out
