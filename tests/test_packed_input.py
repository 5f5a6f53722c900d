"""Positions that travel as bits give the answers that their planes give."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.onnx_edit import GraphEdit, UneditableError, edited, node
from goryu.evaluators.formats.value_scale import from_probability
from goryu.evaluators.model_files import models_folder
from goryu.evaluators.network import NetworkEvaluator
from goryu.evaluators.packed_input import pack, packed_bytes, packed_model
from goryu.games.shogi import Board as PythonBoard
from goryu.implementation import IMPLEMENTATION, Board, make_puct
from goryu.search.config import PuctConfig
from goryu.search.result import SearchStats

onnx: Any = pytest.importorskip("onnx")
native: Any = pytest.importorskip("goryu._native") if IMPLEMENTATION == "native" else None
needs_native = pytest.mark.skipif(native is None, reason="no native code")

SHIPPED = models_folder() / "goryu-5x64.onnx"


def never(stats: SearchStats) -> bool:
    return False


def random_boards(count: int, seed: int, board_type: Any = Board) -> list[Any]:
    """Positions of random games that are not over, from all parts of the games."""
    rng = Random(seed)
    found: list[Any] = []
    while len(found) < count:
        board = board_type()
        while len(found) < count and board.outcome() is None and board.repetition() is None:
            if rng.random() < 0.2:
                found.append(board.copy())
            board.push(rng.choice(board.legal_moves()))
    return found


def planes_of(model_format: DlshogiFormat, boards: list[Any]) -> list[Any]:
    planes = [np.zeros((len(boards), *spec.shape), spec.dtype) for spec in model_format.inputs]
    for i, board in enumerate(boards):
        model_format.fill(board, [rows[i] for rows in planes])
    return planes


def small_model(path: Path, *, opset: int = 17, element: str = "FLOAT", hand_planes: int = 57) -> Path:
    """Writes a linear network with both inputs, whose answers depend on every plane and square."""
    rng = np.random.default_rng(7)
    numpy_type = {"FLOAT": np.float32, "FLOAT16": np.float16}[element]
    make, tensor = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    kind = getattr(onnx.TensorProto, element)
    weights = {
        "board_weights": rng.normal(0, 0.1, (27, 62, 1, 1)),
        "hand_weights": rng.normal(0, 0.1, (27, hand_planes, 1, 1)),
        "value_weights": rng.normal(0, 0.01, (81 * (62 + hand_planes), 1)),
    }
    nodes = [
        make("Conv", ["input1", "board_weights"], ["from_board"]),
        make("Conv", ["input2", "hand_weights"], ["from_hands"]),
        make("Add", ["from_board", "from_hands"], ["both"]),
        make("Flatten", ["both"], ["output_policy"]),
        make("Flatten", ["input1"], ["board"]),
        make("Flatten", ["input2"], ["hands"]),
        make("Concat", ["board", "hands"], ["all"], axis=1),
        make("MatMul", ["all", "value_weights"], ["sum"]),
        make("Sigmoid", ["sum"], ["output_value"]),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "small",
        [tensor("input1", kind, ["n", 62, 9, 9]), tensor("input2", kind, ["n", hand_planes, 9, 9])],
        [tensor("output_policy", kind, ["n", 2187]), tensor("output_value", kind, ["n", 1])],
        [onnx.numpy_helper.from_array(w.astype(numpy_type), name) for name, w in weights.items()],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, path)
    return path


def check_answers(packed: NetworkEvaluator, planes: NetworkEvaluator, boards: list[Any]) -> None:
    """Checks all logits, values and evaluations."""
    rows = planes_of(planes.format, boards)  # type: ignore[arg-type]
    answers = planes.run(rows)
    is_half = answers[0].dtype == np.float16
    for found, expected in zip(packed.run(rows), answers, strict=True):
        if is_half:  # The packed network need not round its answers to 16 bits.
            assert np.allclose(found, expected.astype(np.float32), rtol=2e-3, atol=2e-3)
        else:
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("sees_nyugyoku", [False, True])
def test_bits_are_the_planes(sees_nyugyoku: bool) -> None:
    model_format = DlshogiFormat(from_probability, sees_nyugyoku=sees_nyugyoku)
    boards = random_boards(100, seed=2, board_type=PythonBoard)
    planes = planes_of(model_format, boards)
    rows = pack(model_format, planes)
    assert rows.shape == (100, 643 if sees_nyugyoku else 636) == (100, packed_bytes(model_format))
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    assert np.array_equal(bits[:, : 62 * 81], planes[0].reshape(100, -1))
    hands = bits[:, 628 * 8 : 628 * 8 + planes[1].shape[1]]
    assert np.array_equal(np.repeat(hands, 81, axis=1), planes[1].reshape(100, -1))


@needs_native
@pytest.mark.parametrize("sees_nyugyoku", [False, True])
def test_native_code_writes_the_same_bytes(sees_nyugyoku: bool) -> None:
    model_format = DlshogiFormat(from_probability, sees_nyugyoku=sees_nyugyoku)
    boards = random_boards(400, seed=3)
    rows = np.full((402, packed_bytes(model_format)), 0xA5, np.uint8)
    native.pack_dlshogi(boards, rows)
    assert np.array_equal(rows[:400], pack(model_format, planes_of(model_format, boards)))
    assert (rows[400:] == 0xA5).all()


@pytest.mark.parametrize("opset", [9, 10, 13, 17])
@pytest.mark.parametrize("element", ["FLOAT", "FLOAT16"])
def test_a_packed_model_is_valid_and_answers_as_the_one_it_was_made_from(
    tmp_path: Path, opset: int, element: str
) -> None:
    path = small_model(tmp_path / "small.onnx", opset=opset, element=element)
    planes = NetworkEvaluator(path, backend="onnxruntime", batch_size=8)
    packed = NetworkEvaluator(path, backend="onnxruntime", batch_size=8, packs=True)
    assert packed.packed
    assert packed.note == ""
    numpy_type = np.float32 if element == "FLOAT" else np.float16
    content = packed_model(path.read_bytes(), planes.format, "n", numpy_type)
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    check_answers(packed, planes, random_boards(30, seed=4))


def test_the_variant_with_119_hand_planes_can_be_packed(tmp_path: Path) -> None:
    path = small_model(tmp_path / "small.onnx", hand_planes=119)
    planes = NetworkEvaluator(path, backend="onnxruntime", batch_size=8)
    packed = NetworkEvaluator(path, backend="onnxruntime", batch_size=8, packs=True)
    assert packed.packed
    assert packed.packed.row_bytes == 643
    check_answers(packed, planes, random_boards(30, seed=5))


def test_a_model_with_constants_in_another_file_receives_planes_and_says_so(tmp_path: Path) -> None:
    path = small_model(tmp_path / "small.onnx")
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    network = NetworkEvaluator(path, backend="onnxruntime", batch_size=4, packs=True)
    assert network.packed is None
    assert "in another file" in network.note
    assert len(network.evaluate(random_boards(3, seed=1))) == 3


def test_a_graph_that_unpacks_wrongly_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goryu.evaluators.packing_check.pack", lambda f, planes: pack(f, planes) ^ 1)
    path = small_model(tmp_path / "small.onnx")
    network = NetworkEvaluator(path, backend="onnxruntime", batch_size=4, packs=True)
    assert network.packed is None
    assert "answers differ" in network.note


def test_bytes_that_are_no_model_cannot_be_edited() -> None:
    with pytest.raises(UneditableError):
        edited(b"\x3a\xff\xff\xff\x0f truncated", GraphEdit(removed=frozenset()))


def test_a_node_that_we_write_is_read_by_onnx_as_it_was_meant() -> None:
    found = onnx.NodeProto()
    found.ParseFromString(node("Slice", ["a", "b"], "c", starts=[-1, 3], axis=2))
    assert (found.op_type, list(found.input), list(found.output)) == ("Slice", ["a", "b"], ["c"])
    values = {each.name: onnx.helper.get_attribute_value(each) for each in found.attribute}
    assert values == {"starts": [-1, 3], "axis": 2}


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_the_shipped_network_answers_bits_as_planes(count: int) -> None:
    planes = NetworkEvaluator(SHIPPED, backend="onnxruntime", batch_size=50)
    packed = NetworkEvaluator(SHIPPED, backend="onnxruntime", batch_size=50, packs=True)
    boards = random_boards(count, seed=6)
    for first in range(0, count, 50):
        part = boards[first : first + 50]
        assert packed.evaluate(part) == planes.evaluate(part)


@needs_native
@pytest.mark.parametrize("batch_size", [1, 16])
def test_the_native_search_with_bits_is_the_search_with_planes(batch_size: int) -> None:
    results = []
    for packs in (False, True):
        network = NetworkEvaluator(SHIPPED, backend="onnxruntime", batch_size=batch_size, packs=packs)
        puct = make_puct(network, PuctConfig(batch_size=batch_size))
        results.append(puct.search(Board(), never, max_playouts=400))
    assert results[0] == results[1]


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


@needs_native
def test_a_search_with_larger_batches_than_the_network_has_room_for() -> None:
    network = NetworkEvaluator(SHIPPED, backend="onnxruntime", batch_size=2, packs=True)
    puct = make_puct(network, PuctConfig(batch_size=64))
    assert puct.search(Board(), never, max_playouts=600).stats.playouts >= 600
