"""The evaluator over miniosl's network, against miniosl's own way from a game to planes."""

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from goryu.evaluators import miniosl as module
from goryu.evaluators.miniosl import MinioslEvaluator, network_path
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.named_networks import named_network, open_network
from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.learning.records.game_records import GameRecord, read_games, write_games
from goryu.learning.records.hcpe import BLACK_WON
from goryu.learning.self_play.game import value_to_centipawns
from paths import ROOT

GAME = (
    "2g2f 8c8d 2f2e 8d8e 7g7f 4a3b 8h7g 3c3d 7i6h 2b7g+ 6h7g 3a2b 3g3f 7a6b 3i3h 2b3c 4g4f 6c6d "
    "2i3g 6b6c 3h4g 7c7d 9g9f 9c9d 1g1f 1c1d 5i6h 5a4b 4i4h 6a6b 2h2i 8b8c 6g6f 8a7c 4g5f 6c5d"
)


@pytest.fixture(scope="module", autouse=True)
def library(miniosl: ModuleType) -> ModuleType:
    """Skips all of these tests without miniosl."""
    return miniosl


@pytest.fixture(scope="module")
def evaluator() -> MinioslEvaluator:
    return MinioslEvaluator(batch_size=4)


def boards() -> Iterator[Board]:
    board = Board()
    for move in GAME.split():
        yield board.copy()
        board.push_usi(move)
    yield board


pytestmark = pytest.mark.slow


def test_planes_are_those_of_miniosl_s_game_manager(library: ModuleType, evaluator: MinioslEvaluator) -> None:
    record = library.usi_record(f"startpos moves {GAME}")
    manager = library.GameManager()
    for board, move in zip(boards(), [*record.moves, None], strict=True):
        planes, position = evaluator.show(board)
        assert planes.dtype == np.float32
        assert position.to_usi() == library.usi_state(f"position sfen {board.sfen()}").to_usi()
        theirs = np.asarray(manager.export_heuristic_feature16()).reshape(-1, 9, 9)
        # Theirs are sixteenths or so in a byte; ours are exact.
        np.testing.assert_allclose(planes, theirs, atol=1.0 / library.One)
        if move is not None:
            manager.make_move(move)


def test_the_policy_is_over_the_legal_moves(evaluator: MinioslEvaluator) -> None:
    several = list(boards())
    for board, evaluation in zip(several, evaluator.evaluate(several), strict=True):
        assert len(evaluation.policy) == len(board.legal_moves())
        assert sum(evaluation.policy) == pytest.approx(1.0)
        assert -1.0 < evaluation.value < 1.0


def test_it_knows_good_moves(evaluator: MinioslEvaluator) -> None:
    # Black has just lost the bishop's exchange half way: 2b7g+ is to be taken back, by the silver.
    board = Board()
    for move in GAME.split()[:10]:
        board.push_usi(move)
    (evaluation,) = evaluator.evaluate([board])
    best = max(zip(evaluation.policy, board.legal_moves(), strict=True))[1]
    assert move_to_usi(best) in ("6h7g", "8i7g")


@pytest.mark.parametrize("turn", ["b", "w"])
def test_the_value_is_from_the_side_to_move(evaluator: MinioslEvaluator, turn: str) -> None:
    # White has neither rook nor bishop, and black has no fewer pieces than usual.
    board = Board(f"lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL {turn} RB 1")
    (evaluation,) = evaluator.evaluate([board])
    assert evaluation.value > 0.9 if turn == "b" else evaluation.value < -0.9


def test_a_pointless_non_promotion_has_probability_zero(evaluator: MinioslEvaluator) -> None:
    board = Board()
    for move in ("7g7f", "3c3d"):
        board.push_usi(move)
    (evaluation,) = evaluator.evaluate([board])
    shares = {move_to_usi(m): p for m, p in zip(board.legal_moves(), evaluation.policy, strict=True)}
    assert shares["8h2b"] == 0.0 < shares["8h2b+"]


def test_one_evaluation_does_not_depend_on_the_others(evaluator: MinioslEvaluator) -> None:
    several = list(boards())[:6]
    together = evaluator.evaluate(several)
    for board, evaluation in zip(several, together, strict=True):
        (alone,) = evaluator.evaluate([board])
        assert alone.value == pytest.approx(evaluation.value, abs=1e-4)
        np.testing.assert_allclose(alone.policy, evaluation.policy, atol=1e-4)


def test_a_temperature_makes_the_policy_flatter(evaluator: MinioslEvaluator) -> None:
    board = next(boards())
    (sharp,), (flat,) = evaluator.evaluate([board]), MinioslEvaluator(temperature=2.0).evaluate([board])
    expected = np.sqrt(sharp.policy)
    np.testing.assert_allclose(flat.policy, expected / expected.sum(), rtol=1e-3)


def test_in_8_bits_its_outputs_are_nearly_the_same(
    evaluator: MinioslEvaluator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("onnx")
    data = ROOT / "models" / "data" / "fsf_20261123.games"
    small = tmp_path / "small.onnx"
    arguments = [
        "miniosl",
        "--data",
        str(data),
        "--out",
        str(small),
        "--calibration",
        "48",
        "--comparison",
        "100",
    ]
    monkeypatch.setattr(sys, "argv", ["quantize", *arguments])
    assert runpy.run_module("goryu.commands.training.quantize")["main"]() == 0
    found = re.search(r"policy_top1=([\d.]+), policy_error=([\d.]+)", capsys.readouterr().out)
    assert found is not None
    top1, policy_error = map(float, found.groups())
    assert top1 >= 0.8  # About 0.9: of 100 positions, and processors round differently.
    assert policy_error < 0.05
    assert small.stat().st_size < network_path().stat().st_size / 2
    network = open_network(Path(f"miniosl:{small}"))
    for one, other in zip(network.evaluate(list(boards())), evaluator.evaluate(list(boards())), strict=True):
        assert one.value == pytest.approx(other.value, abs=0.15)
    assert named_network(Path(f"miniosl:{small}"), 1.5).startswith("miniosl ")
    assert named_network(Path(f"miniosl:{small}")) != named_network(Path("miniosl"))


def test_another_network_is_refused() -> None:
    model = ROOT / "models" / "goryu-5x64.onnx"
    with pytest.raises(ModelError, match=r"goryu-5x64\.onnx: expected a network of miniosl"):
        open_network(Path(f"miniosl:{model}"))


def test_without_the_package_it_prints_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install --no-deps 'miniosl<0\.1\.7'"):
        MinioslEvaluator()


def test_a_missing_network_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Found:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(module, "find_spec", lambda name: Found())
    with pytest.raises(ModelError, match="no network"):
        network_path()


def test_old_games_get_its_labels(tmp_path: Path) -> None:
    board = Board()
    moves = tuple(int(board.push_usi(move)) for move in GAME.split()[:6])
    old, new = tmp_path / "old.games", tmp_path / "new.games"
    write_games(old, [GameRecord(moves, (10,) * 6, BLACK_WON, teacher="somebody")])
    arguments = ["reanalyse", str(old), "--out", str(new), "--playouts", "0", "--model", "miniosl"]
    tool = runpy.run_module("goryu.commands.training.selfplay")
    assert tool["main"]([*arguments, "--temperature", "1.5"]) == 0
    (game,) = read_games(new)
    assert (game.moves, game.result) == (moves, BLACK_WON)
    assert game.teacher.startswith("miniosl ")
    assert " at temperature 1.5 at 0 playouts" in game.teacher
    tempered = MinioslEvaluator(temperature=1.5)
    for board, score, policy in zip(boards(), game.evals, game.policies or (), strict=False):
        (evaluation,) = tempered.evaluate([board])
        assert score == pytest.approx(value_to_centipawns(evaluation.value, 600.0), abs=1)
        shares = dict(policy or ())
        for move, p in zip(board.legal_moves(), evaluation.policy, strict=True):
            assert shares.get(int(move), 0.0) == pytest.approx(p, abs=0.01)
