"""Positions that travel as bits give the answers that their planes give."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from boards import random_games
from goryu.evaluators.formats.base import LEVELS, ModelFormat
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.onnx_edit import GraphEdit, UneditableError, edited
from goryu.evaluators.formats.value_scale import from_probability
from goryu.evaluators.network.model_files import models_folder
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.network_group import NetworkGroup
from goryu.evaluators.network.packed_input import pack, packed_layout, packed_model
from goryu.evaluators.network.packed_network import WIDTHS
from goryu.evaluators.network.runners import PlanesRunner
from goryu.games.shogi import Board as PythonBoard
from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, Board, make_puct
from goryu.search.graph.config import PuctConfig
from goryu_lab.benchmark.random_network import TENSORS
from goryu_lab.records.conversion import games_from_hcpe
from goryu_lab.records.hcpe import read_hcpe
from linear_network import write_model
from playing import never

onnx: Any = pytest.importorskip("onnx")
native: Any = pytest.importorskip("goryu._native") if IMPLEMENTATION == "native" else None
needs_native = pytest.mark.skipif(native is None, reason="no native code")

SHIPPED = models_folder() / "goryu-5x64.onnx"
every_kind = pytest.mark.parametrize("kind", list(TENSORS))

SFENS = (
    "lr5nl/6k2/6bpp/p1p1S1R2/1P1np2P1/P1P1P3P/3K5/1S3G3/LN5NL b 2G6Pbg2sp 95",
    "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180",
)
"""Test vectors of the formats: many pieces in hand, and two kings that have entered."""


def random_boards(count: int, seed: int, board_type: Any = Board) -> list[Any]:
    """Positions from all parts of random games."""
    games = random_games(Random(seed), count, 250, board_type)
    return [board.copy() for board in islice(games, 0, 5 * count, 5)]


def boards_of_games(path: Path, count: int) -> list[Any]:
    """Positions of recorded games, with their past."""
    found: list[Any] = []
    for game in games_from_hcpe(read_hcpe(path)):
        board = Board(game.start_sfen)
        for move in game.moves:
            if len(found) == count:
                return found
            found.append(board.copy())
            board.push(Move(move))
    raise AssertionError(f"{path} has {len(found)} positions only")


def planes_of(model_format: ModelFormat, boards: list[Any]) -> list[Any]:
    planes = [np.zeros((len(boards), *spec.shape), spec.dtype) for spec in model_format.inputs]
    for i, board in enumerate(boards):
        model_format.fill(board, [rows[i] for rows in planes])
    return planes


def check_answers(packed: NetworkEvaluator, planes: NetworkEvaluator, boards: list[Any]) -> None:
    """Checks all logits, values and evaluations."""
    rows = planes_of(planes.format, boards)
    answers = planes.run(rows)
    is_half = answers[0].dtype == np.float16
    for found, expected in zip(packed.run(rows), answers, strict=True):
        if is_half:  # The packed network need not round its answers to 16 bits.
            assert np.allclose(found, expected.astype(np.float32), rtol=2e-3, atol=2e-3)
        else:
            assert np.array_equal(found, expected)


@every_kind
def test_no_plane_is_lost_in_the_rows(format_models: dict[tuple[str, bool], Path], kind: str) -> None:
    """Each plane is where `places` says: as 81 bits, one bit or a float."""
    model_format = NetworkEvaluator(format_models[kind, False], backend="onnxruntime").format
    boards = [*random_boards(30, seed=2, board_type=PythonBoard), *map(PythonBoard, SFENS)]
    planes = np.concatenate(planes_of(model_format, boards), axis=1).reshape(len(boards), -1, 81)
    rows, numbers = pack(model_format, planes_of(model_format, boards))
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    layout = packed_layout(model_format)
    assert rows.shape[1] == layout.bytes
    for plane, place in enumerate(layout.places):
        found: Any
        if place < 0:
            found = numbers[:, [-1 - place] * 81]
        elif plane in layout.counts:
            places = [place + level * layout.level_bits for level in range(LEVELS)]
            found = sum(bits[:, at : at + 81] for at in places) / np.float32(LEVELS)
        else:
            found = bits[:, place : place + 81] if plane in layout.squares else bits[:, [place] * 81]
        assert np.array_equal(found, planes[:, plane]), plane
    assert len(layout.places) == planes.shape[1]


@needs_native
@every_kind
def test_native_code_writes_the_same_rows(format_models: dict[tuple[str, bool], Path], kind: str) -> None:
    model_format = NetworkEvaluator(format_models[kind, False], backend="onnxruntime").format
    layout = packed_layout(model_format)
    boards = [*random_boards(60, seed=3), *map(Board, SFENS)]
    rows = np.full((len(boards) + 2, layout.bytes), 0xA5, np.uint8)
    numbers = np.full((len(boards) + 2, len(layout.numbers)), 7, np.float32)
    native.pack_planes(model_format, boards, rows, numbers)
    expected = pack(model_format, planes_of(model_format, boards))
    assert np.array_equal(rows[:-2], expected[0])
    assert np.array_equal(numbers[:-2], expected[1])
    assert (rows[-2:] == 0xA5).all()
    assert (numbers[-2:] == 7).all()


@needs_native
def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="expected an array of shape"):
        native.pack_planes(
            DlshogiFormat(from_probability),
            [Board()],
            np.zeros((1, 643), np.uint8),
            np.zeros((1, 0), np.float32),
        )


@pytest.mark.parametrize("opset", [9, 10, 13, 17])
@pytest.mark.parametrize("element", ["FLOAT", "FLOAT16"])
def test_a_packed_model_is_valid_and_answers_as_the_one_it_was_made_from(
    tmp_path: Path, opset: int, element: str
) -> None:
    path = write_model(tmp_path / "small.onnx", opset=opset, dtype=element, batch="n")
    planes = NetworkEvaluator(path, backend="onnxruntime", batch_size=8)
    packed = NetworkEvaluator(path, backend="onnxruntime", batch_size=8, packs=True)
    assert packed.packed
    assert packed.note == ""
    numpy_type = np.float32 if element == "FLOAT" else np.float16
    content = packed_model(path.read_bytes(), planes.format, "n", numpy_type)
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    check_answers(packed, planes, random_boards(30, seed=4))


def test_the_variant_with_119_hand_planes_can_be_packed(tmp_path: Path) -> None:
    path = write_model(tmp_path / "small.onnx", hand_planes=119)
    planes = NetworkEvaluator(path, backend="onnxruntime", batch_size=8)
    packed = NetworkEvaluator(path, backend="onnxruntime", batch_size=8, packs=True)
    assert packed.packed
    assert packed.packed.layout.bytes == 643
    check_answers(packed, planes, random_boards(30, seed=5))


def test_a_graph_that_unpacks_wrongly_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong_pack(model_format: ModelFormat, planes: list[Any]) -> tuple[Any, Any]:
        rows, numbers = pack(model_format, planes)
        return rows ^ 1, numbers

    monkeypatch.setattr("goryu.evaluators.network.packing_check.pack", wrong_pack)
    path = write_model(tmp_path / "small.onnx")
    network = NetworkEvaluator(path, backend="onnxruntime", batch_size=4, packs=True)
    assert network.packed is None
    assert "answers differ" in network.note


def test_bytes_that_are_no_model_cannot_be_edited() -> None:
    with pytest.raises(UneditableError):
        edited(b"\x3a\xff\xff\xff\x0f truncated", GraphEdit(removed=frozenset()))


def test_the_shipped_network_answers_bits_as_planes() -> None:
    planes, packed = (
        NetworkEvaluator(SHIPPED, backend="onnxruntime", batch_size=50, packs=packs)
        for packs in (False, True)
    )
    boards = random_boards(100, seed=6)
    for first in range(0, len(boards), 50):
        part = boards[first : first + 50]
        assert packed.evaluate(part) == planes.evaluate(part)


@pytest.fixture(scope="module")
def positions_of_three_sets() -> list[tuple[Any, list[int]]]:
    """600 positions of three sets, with their legal moves: random games, and games of two engines."""
    data = models_folder() / "data"
    boards = [
        *map(Board, SFENS),
        *random_boards(298, seed=8),
        *boards_of_games(data / "fsf_20261121a.hcpe.xz", 150),
        *boards_of_games(data / "gps_openings.hcpe.xz", 150),
    ]
    return [(board, board.legal_moves()) for board in boards]


def legal_answers(network: NetworkEvaluator, positions: list[tuple[Any, Any]]) -> tuple[list[Any], Any]:
    """Returns the logits for the labels of each position, and the value outputs, by native code."""
    logits: list[Any] = []
    values: list[Any] = []
    for first in range(0, len(positions), network.batch_size):
        batch = positions[first : first + network.batch_size]
        boards = [board for board, _ in batch]
        if network.packed:
            call = network.packed.call()
            native.pack_planes(network.format, boards, call.rows, call.numbers)
            width = WIDTHS[0] if max(len(row) for _, row in batch) <= WIDTHS[0] else WIDTHS[-1]
            for i, (_, row) in enumerate(batch):
                call.labels_of(width)[i, : len(row)] = row + i * network.format.labels
            call.run(len(batch), width)
            logits += [call.logits_of(width)[i, : len(row)].copy() for i, (_, row) in enumerate(batch)]
            values.append(np.stack([rows[: len(batch)] for rows in call.values]))
        else:
            planes = network.new_inputs(len(batch))
            native.fill_planes(network.format, boards, planes)
            assert isinstance(network.runner, PlanesRunner)
            every, *outputs = [rows.astype(np.float32) for rows in network.runner.answer(planes)]
            logits += [every[i][row] for i, (_, row) in enumerate(batch)]
            values.append(np.stack([rows.reshape(-1) for rows in outputs]))
    return logits, np.concatenate(values, axis=1)


def check_near(found: tuple[list[Any], Any], expected: tuple[list[Any], Any], allowed: float) -> None:
    """Checks logits and values. allowed: a share of the largest logit, and an absolute error of values."""
    ours, theirs = np.concatenate(found[0]), np.concatenate(expected[0])
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed * np.abs(theirs).max())
    np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=allowed)


@pytest.mark.slow
@needs_native
@every_kind
def test_bits_halves_legal_logits_and_several_devices_keep_the_answers_on_600_positions(
    format_models: dict[tuple[str, bool], Path],
    positions_of_three_sets: list[tuple[Any, list[int]]],
    kind: str,
) -> None:
    """Bits give the answers of planes, but for the order of some sums; halves have a precision of 2^-11."""

    def network(*, packs: bool, is_half: bool = False) -> NetworkEvaluator:
        found = NetworkEvaluator(
            format_models[kind, is_half], backend="onnxruntime", batch_size=100, packs=packs
        )
        assert bool(found.packed) == packs, found.note
        return found

    model_format = network(packs=False).format
    positions = [
        (board, np.array([native.policy_label(model_format, move, board.turn) for move in moves]))
        for board, moves in positions_of_three_sets
    ]
    logits, values = exact = legal_answers(network(packs=False), positions)
    check_near(legal_answers(network(packs=True), positions), exact, 1e-6)
    check_near(legal_answers(network(packs=False, is_half=True), positions), exact, 0.005)
    check_near(legal_answers(network(packs=True, is_half=True), positions), exact, 0.005)
    group = NetworkGroup([network(packs=True) for _ in range(3)], [1, 1, 1])
    with ThreadPoolExecutor(3) as threads:
        parts = threads.map(lambda i: legal_answers(group.network_of(i), positions[i::3]), range(3))
        for i, part in enumerate(parts):
            check_near(part, (logits[i::3], values[:, i::3]), 1e-6)


@needs_native
def test_positions_with_many_moves_get_all_their_logits() -> None:
    """593 moves, the most that a position has."""
    board = Board("R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1")
    assert len(board.legal_moves()) == 593
    results = []
    for packs in (False, True):
        network = NetworkEvaluator(SHIPPED, backend="onnxruntime", batch_size=2, packs=packs)
        puct = make_puct(network, PuctConfig(batch_size=2))
        results.append(puct.search(board, never, max_playouts=20))
    assert results[0] == results[1]


def test_buffers_are_used_again_and_never_by_two_threads_at_once() -> None:
    packed = NetworkEvaluator(SHIPPED, backend="onnxruntime", batch_size=2, packs=True, streams=2).packed
    assert packed
    first, second = packed.call(), packed.call()
    assert not np.shares_memory(first.rows, second.rows)
    rows = first.rows
    del first
    assert packed.call().rows is rows


def test_a_network_that_is_dropped_gives_its_memory_back_at_once() -> None:
    gc.collect()
    gc.disable()
    try:
        network = NetworkEvaluator(SHIPPED, backend="onnxruntime", batch_size=2, packs=True, streams=2)
        network.evaluate([Board()])
        packed = weakref.ref(network.packed)
        assert packed() is not None
        del network
        assert packed() is None
    finally:
        gc.enable()


@needs_native
def test_a_search_with_larger_batches_than_the_network_has_room_for() -> None:
    network = NetworkEvaluator(SHIPPED, backend="onnxruntime", batch_size=2, packs=True)
    puct = make_puct(network, PuctConfig(batch_size=64))
    assert puct.search(Board(), never, max_playouts=600).stats.playouts >= 600
