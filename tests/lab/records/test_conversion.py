"""Games as training data: to HCPE and back, checked by other libraries; soft targets in batches."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from goryu.evaluators.formats.dlshogi import dlshogi_label
from goryu.games.shogi import Board, move_from_usi, move_to_usi
from goryu_lab.records.conversion import games_from_hcpe, hcpe_records
from goryu_lab.records.game_records import (
    GameFileError,
    GameRecord,
    GameWriter,
    pack_games,
    read_games,
    write_games,
)
from goryu_lab.records.hcpe import BLACK_WON, DRAW, WHITE_WON, read_hcpe
from goryu_lab.training.dataset import load_datasets, make_batch, mirror_labels
from goryu_lab.training.sources import Source
from paths import ROOT
from sample_games import training_game


def boards_of(game: GameRecord) -> list[Board]:
    """Returns the position before each move."""
    board = Board(game.start_sfen)
    boards = []
    for move in game.moves:
        boards.append(board.copy())
        board.push_usi(move_to_usi(move))  # type: ignore[arg-type]
    return boards


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=3, unique=True))
@example([6716])  # Its second record is nearer to the start position than to the first.
def test_records_survive_a_conversion_to_games_and_back(seeds: list[int]) -> None:
    records = np.concatenate([hcpe_records(training_game(seed)) for seed in seeds])
    games = list(games_from_hcpe(records))
    assert np.array_equal(np.concatenate([hcpe_records(game) for game in games]), records)
    assert [game.moves for game in games] == [training_game(seed).moves[3:] for seed in seeds]
    assert [game.number for game in games] == list(range(len(seeds)))


def test_a_game_with_a_gap_comes_back_in_pieces_of_one_number() -> None:
    records = hcpe_records(training_game(1))
    games = list(games_from_hcpe(np.concatenate([records[:10], records[16:]])))
    assert [len(game.moves) for game in games] == [10, len(records) - 16]
    assert {game.number for game in games} == {0}


@pytest.mark.parametrize("move", ["7g7e", "7g7f+"])
def test_an_impossible_move_is_refused(move: str) -> None:
    with pytest.raises(GameFileError, match="expected a move that is legal in lnsgkgsnl"):
        hcpe_records(GameRecord((move_from_usi(move),), (0,), DRAW))


@pytest.mark.parametrize("library", ["cshogi", "rsshogi"])
def test_converted_records_are_read_by_others(library: str, tmp_path: Path) -> None:
    cshogi: Any = pytest.importorskip("cshogi")
    game = training_game(5)
    hcpe_records(game).tofile(tmp_path / "game.hcpe")
    expected = [
        (board.sfen().rsplit(" ", 1)[0], score, move_to_usi(move), game.result)  # type: ignore[arg-type]
        for board, score, move in zip(boards_of(game), game.evals, game.moves, strict=True)
        if score is not None
    ]
    if library == "cshogi":
        theirs = np.fromfile(tmp_path / "game.hcpe", cshogi.HuffmanCodedPosAndEval)
        board = cshogi.Board()
    else:
        pytest.importorskip("rsshogi")
        theirs = np.fromfile(tmp_path / "game.hcpe", import_module("rsshogi.numpy").HuffmanCodedPosAndEval)
        board = import_module("rsshogi.core").Board()
    found = []
    for record in theirs:
        board.set_hcp(record["hcp"].tobytes() if library == "rsshogi" else record["hcp"])
        sfen = board.sfen() if library == "cshogi" else board.to_sfen()
        move = cshogi.move_to_usi(int(record["bestMove16"]))
        found.append((sfen.rsplit(" ", 1)[0], int(record["eval"]), move, int(record["gameResult"])))
    assert found == expected


def test_a_packed_position_takes_less_than_three_bytes(tmp_path: Path) -> None:
    records = read_hcpe(ROOT / "models" / "data" / "fsf_20261121a.hcpe.xz")[:15_000]
    path = tmp_path / "small.games"
    with GameWriter(path) as writer:
        for game in games_from_hcpe(records):
            writer.write([game])
    assert 4.0 < path.stat().st_size / len(records) < 4.5
    pack_games(path)
    assert path.stat().st_size / len(records) < 3.0
    assert np.array_equal(np.concatenate([hcpe_records(game) for game in read_games(path)]), records)


def test_a_source_of_games_gives_the_positions_of_its_records(tmp_path: Path) -> None:
    games = [training_game(seed) for seed in range(6)]
    write_games(tmp_path / "a.games", games)
    np.concatenate([hcpe_records(game) for game in games]).tofile(tmp_path / "a.hcpe")
    ours, our_test = load_datasets([Source(tmp_path / "a.games", 600.0)], held_out=0.5, seed=3)
    theirs, their_test = load_datasets([Source(tmp_path / "a.hcpe", 600.0)], held_out=0.5, seed=3)
    assert np.array_equal(ours.records, theirs.records)
    assert np.array_equal(ours.value, theirs.value)
    assert np.array_equal(our_test["a"].records, their_test["a"].records)
    assert 0 < len(our_test["a"]) < len(ours) + len(our_test["a"])


@pytest.mark.parametrize("ending", ["games", "hcpe"])
def test_games_held_out_of_one_source_are_not_trained_on_in_another(ending: str, tmp_path: Path) -> None:
    """Two files of the same games with different scores."""
    games = [training_game(seed) for seed in range(12)]
    again = [replace(g, evals=tuple(s and -s for s in g.evals), teacher="another") for g in games]
    sources = [Source(tmp_path / f"{name}.{ending}", 600.0) for name in "ab"]
    for source, written in zip(sources, (games, again), strict=True):
        if ending == "games":
            write_games(source.path, written)
        else:
            np.concatenate([hcpe_records(game) for game in written]).tofile(source.path)
    training, testing = load_datasets(sources, held_out=0.3, seed=0)
    learned = {hcp.tobytes() for hcp in training.records["hcp"]}
    assert learned
    for source in sources:
        held_out = testing[source.name].records
        assert len(held_out) > 0
        assert not learned & {hcp.tobytes() for hcp in held_out["hcp"]}
        alone = load_datasets([source], held_out=0.3, seed=0)[1][source.name]
        assert np.array_equal(held_out, alone.records)


def test_soft_targets_reach_the_batch_and_its_mirror_image(tmp_path: Path) -> None:
    game = training_game(8, policies=True)
    write_games(tmp_path / "a.games", [game])
    dataset, _ = load_datasets([Source(tmp_path / "a.games", 600.0)], held_out=0.0, seed=0)
    chosen = np.arange(len(dataset))
    batch = make_batch(dataset, chosen, np.zeros(len(chosen), bool))
    assert game.policies is not None
    positions = list(zip(boards_of(game), game.policies, game.evals, strict=True))
    for i, (board, policy, _) in enumerate(p for p in positions if p[2] is not None):
        expected = np.zeros(2187)
        for move, probability in policy or ():
            expected[dlshogi_label(move, board.turn)] += probability
        if policy is None:
            expected[batch.label[i]] = 1.0
        assert batch.policy[i] == pytest.approx(expected, abs=1e-4)
        assert batch.legal[i][batch.policy[i] > 0].all()
    mirrored = make_batch(dataset, chosen, np.ones(len(chosen), bool))
    assert np.array_equal(mirrored.policy, batch.policy[:, mirror_labels()])


def test_equal_positions_are_merged_and_their_targets_averaged(tmp_path: Path) -> None:
    pawn, rook, king = (move_from_usi(usi) for usi in ("7g7f", "2h7h", "5i5h"))
    first = GameRecord((pawn,), (0,), BLACK_WON, number=0)
    second = GameRecord((pawn,), (0,), WHITE_WON, (((pawn, 0.5), (rook, 0.5)),), number=1)
    third = GameRecord((king,), (0,), DRAW, number=2)
    write_games(tmp_path / "a.games", [first, second, third])
    write_games(tmp_path / "b.games", [GameRecord((pawn, move_from_usi("3c3d")), (0, 0), BLACK_WON)])
    sources = [
        Source(tmp_path / "a.games", 600.0, result_weight=1.0),
        Source(tmp_path / "b.games", 600.0, result_weight=1.0, repeat=3),
    ]
    dataset, _ = load_datasets(sources, held_out=0.0, seed=0, merge=True)
    assert len(dataset) == 2 * 3, "a position counts as often as its most repeated record"
    assert dataset.value[0] == pytest.approx((1.0 + 0.0 + 0.5 + 3 * 1.0) / 6)
    assert dataset.policies is not None
    assert dict(dataset.policies.entries(0)) == pytest.approx(
        {pawn: (1 + 0.5 + 3) / 6, rook: 0.5 / 6, king: 1 / 6}
    )
    assert dataset.policies.entries(3) == [(move_from_usi("3c3d"), 1.0)]
    assert len(load_datasets(sources, held_out=0.0, seed=0)[0]) == 3 + 2 * 3


def test_the_policy_loss_is_the_cross_entropy_with_the_soft_target(tmp_path: Path) -> None:
    torch: Any = pytest.importorskip("torch")
    from goryu_lab.training.batch_loader import on_device
    from goryu_lab.training.config import TrainingConfig
    from goryu_lab.training.losses import losses

    game = training_game(8, policies=True)
    write_games(tmp_path / "a.games", [game])
    dataset, _ = load_datasets([Source(tmp_path / "a.games", 600.0)], held_out=0.0, seed=0)
    batch = make_batch(dataset, np.arange(len(dataset)), np.zeros(len(dataset), bool))

    class Indifferent(torch.nn.Module):  # type: ignore[misc]
        def forward(self, input1: Any, input2: Any) -> tuple[Any, Any]:
            return torch.arange(2187.0).expand(len(input1), -1) / 500, torch.zeros(len(input1), 1)

    policy_loss, value_loss = losses(Indifferent(), on_device(batch), TrainingConfig(smoothing=0.1))
    logits = np.where(batch.legal, np.arange(2187) / 500, -np.inf)
    log_policy = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    target = 0.9 * batch.policy + 0.1 * batch.legal / batch.legal.sum(axis=1, keepdims=True)
    expected = -np.where(batch.legal, target * np.where(batch.legal, log_policy, 0.0), 0.0).sum(axis=1).mean()
    assert policy_loss.item() == pytest.approx(expected, rel=1e-4)
    assert value_loss.item() == pytest.approx(np.log(2.0), rel=1e-4)
