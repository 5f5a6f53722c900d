"""The native planes and labels of every format against the Python ones, and games of the native search."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boards import played
from goryu.evaluators.formats.aobazero import AobaZeroFormat
from goryu.evaluators.formats.base import ModelFormat, ValueScale
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.miniosl import MinioslFormat
from goryu.evaluators.formats.nshogi import NshogiFormat
from goryu.evaluators.formats.python_dlshogi import PythonDlshogiFormat
from goryu.evaluators.formats.python_dlshogi2 import PythonDlshogi2Format
from goryu.evaluators.formats.value_scale import from_logit, from_probability, from_tanh
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.shogi import Board, Rules
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.puct import Puct
from goryu_lab.benchmark.random_network import TENSORS

Array = npt.NDArray[Any]

FORMATS: list[ModelFormat] = [
    DlshogiFormat(from_probability),
    DlshogiFormat(from_probability, sees_nyugyoku=True),
    PythonDlshogi2Format("planes", "policy", "value", from_logit),
    PythonDlshogiFormat("planes", "policy", "value", from_logit),
    NshogiFormat(86, draw_value=-0.3),
    NshogiFormat(93, draw_value=0.7),
    AobaZeroFormat("planes", "policy", "value", from_tanh),
    MinioslFormat("planes", "policy", "value", from_tanh),
]

every_format = pytest.mark.parametrize("model_format", FORMATS, ids=lambda each: each.name)

ENTERING_KINGS = "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180"
LIMITS = (0, 100, 256, 320, 513)


def random_boards(native: ModuleType, count: int, seed: int) -> Iterator[Any]:
    """Yields positions of random games; some shuffle pieces and so repeat positions, some limit the moves."""
    rng = Random(seed)
    while True:
        rules = Rules(max_ply=rng.choice(LIMITS))
        board = native.Board(ENTERING_KINGS, rules) if rng.random() < 0.2 else native.Board(rules=rules)
        if rng.random() < 0.3:
            for usi in ("2h3h", "8b7b", "3h2h", "7b8b") * rng.randrange(1, 5):
                if board.ply < 40:
                    board.push_usi(usi)
        while board.ply < 330 and (moves := board.legal_moves()):
            board.push(rng.choice(moves))
            if rng.random() < 0.1:
                if count == 0:
                    return
                count -= 1
                yield board.copy()


def native_planes(
    native: ModuleType, model_format: ModelFormat, boards: list[Any], element: Any
) -> list[Array]:
    """The planes of a batch, written over garbage into arrays one row too long."""
    inputs = [np.full((len(boards) + 1, *spec.shape), 7, element) for spec in model_format.inputs]
    native.fill_planes(model_format, boards, inputs)
    assert all((rows[-1] == 7).all() for rows in inputs)
    return [rows[:-1] for rows in inputs]


def python_planes(model_format: ModelFormat, board: Any) -> list[Array]:
    rows: list[Array] = [np.zeros(spec.shape, np.float32) for spec in model_format.inputs]
    model_format.fill(board, rows)
    return rows


def check_planes(native: ModuleType, model_format: ModelFormat, boards: list[Any]) -> None:
    floats = native_planes(native, model_format, boards, np.float32)
    halves = native_planes(native, model_format, boards, np.float16)
    for i, board in enumerate(boards):
        for n, expected in enumerate(python_planes(model_format, board)):
            assert np.array_equal(floats[n][i], expected), board.sfen()
            assert np.array_equal(halves[n][i], expected.astype(np.float16)), board.sfen()


@every_format
def test_planes_of_random_games_are_those_of_python(native: ModuleType, model_format: ModelFormat) -> None:
    check_planes(native, model_format, list(random_boards(native, 60, seed=1)))


@pytest.mark.slow
@every_format
def test_planes_of_many_positions_are_those_of_python(native: ModuleType, model_format: ModelFormat) -> None:
    boards = random_boards(native, 400, seed=2)
    while batch := list(islice(boards, 200)):
        check_planes(native, model_format, batch)


@every_format
def test_labels_of_random_games_are_those_of_python(native: ModuleType, model_format: ModelFormat) -> None:
    for board in random_boards(native, 300, seed=3):
        moves = board.legal_moves()
        labels = [native.policy_label(model_format, move, board.turn) for move in moves]
        assert labels == [model_format.label(move, board.turn) for move in moves]


NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(value=NUMBERS, draw=NUMBERS, turn=st.integers(0, 1), draw_value=st.floats(-1, 1))
@pytest.mark.parametrize("scale", [from_probability, from_logit, from_tanh])
def test_values_are_those_of_python_to_the_bit(
    native: ModuleType, scale: ValueScale, value: float, draw: float, turn: int, draw_value: float
) -> None:
    planes = np.zeros((1, 86, 9, 9), np.float32)
    planes[0, 80 + turn] = 1
    outputs = [np.array([[number]], np.float32) for number in (0.0, value, draw)]
    for draw_scale in (from_probability, from_logit):
        nshogi = NshogiFormat(value_scale=scale, draw_scale=draw_scale, draw_value=draw_value)
        _, (expected,) = nshogi.interpret(outputs, [planes])
        assert native.read_value(nshogi, value, draw, turn) == expected
    book = PythonDlshogi2Format("planes", "policy", "value", scale)
    _, (expected,) = book.interpret(outputs[:2], [planes])
    assert native.read_value(book, value, 0.0, turn) == expected


def test_a_value_of_another_scale_is_refused(native: ModuleType) -> None:
    book = PythonDlshogi2Format("planes", "policy", "value", lambda output: from_tanh(output))
    with pytest.raises(ValueError, match="expected a function of value_scale"):
        native.read_value(book, 0.0, 0.0, 0)


@every_format
def test_arrays_of_another_shape_are_refused(native: ModuleType, model_format: ModelFormat) -> None:
    inputs = [np.zeros((1, spec.shape[0] - 1, 9, 9), np.float32) for spec in model_format.inputs]
    with pytest.raises(ValueError, match="expected an array of shape"):
        native.fill_planes(model_format, [native.Board()], inputs)


def test_a_format_of_somebody_else_has_no_native_twin(native: ModuleType) -> None:
    class OtherFormat(DlshogiFormat):
        """Perhaps with other planes."""

    with pytest.raises(ValueError, match="native twin"):
        native.fill_planes(OtherFormat(from_probability), [native.Board()], [])


@pytest.mark.parametrize("packs", [False, True], ids=["planes", "bits"])
@pytest.mark.parametrize("is_half", [False, True], ids=["float", "half"])
@pytest.mark.parametrize("kind", TENSORS)
def test_the_native_search_with_a_network_is_that_of_python(
    native: ModuleType, format_models: dict[tuple[str, bool], Path], kind: str, is_half: bool, packs: bool
) -> None:
    network = NetworkEvaluator(format_models[kind, is_half], backend="onnxruntime", batch_size=3, packs=packs)
    assert bool(network.packed) == packs, network.note
    network.set_draw_value(-0.2)
    config, found = PuctConfig(batch_size=3, draw_value=-0.2), []
    rules = Rules(max_ply=40)
    for puct, board in ((Puct, Board(rules=rules)), (native.Puct, native.Board(rules=rules))):
        played(board, "2g2f 8c8d 2f2e 8d8e 6i7h")
        found.append(puct(network, config).search(board, lambda stats: False, max_playouts=30))
    python, twin = found
    assert [(move.move, move.visits, move.value, move.prior) for move in twin.moves] == [
        (move.move, move.visits, move.value, move.prior) for move in python.moves
    ]


@pytest.mark.parametrize("kind", TENSORS)
def test_a_network_of_every_format_plays_a_game_without_python(
    native: ModuleType,
    format_models: dict[tuple[str, bool], Path],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = NetworkEvaluator(format_models[kind, False], backend="onnxruntime", batch_size=4)
    monkeypatch.setattr(network, "evaluate", None)  # What the search calls where there is no native twin.
    puct = native.Puct(network, PuctConfig(batch_size=4))
    board = native.Board(rules=Rules(max_ply=24))
    while board.outcome() is None:
        result = puct.search(board, lambda stats: False, max_playouts=16)
        assert result.moves[0].move in board.legal_moves()
        board.push(result.moves[0].move)
    assert board.ply == 24 or board.repetition() is not None or not board.legal_moves()


@pytest.mark.parametrize("kind", TENSORS)
def test_the_format_is_recognised_by_the_file(format_models: dict[tuple[str, bool], Path], kind: str) -> None:
    for is_half in (False, True):
        network = NetworkEvaluator(format_models[kind, is_half], backend="onnxruntime")
        planes = sum(spec.shape[0] for spec in network.format.inputs)
        assert network.format.name.split()[0] == TENSORS[kind].format
        assert planes == sum(TENSORS[kind].inputs.values())


def test_the_user_decides_between_the_two_books(
    tmp_path: Path, format_models: dict[tuple[str, bool], Path]
) -> None:
    onnx: Any = pytest.importorskip("onnx")
    model = onnx.load(format_models["python-dlshogi", False])
    del model.metadata_props[:]
    nameless = tmp_path / "nameless.onnx"
    onnx.save(model, nameless)
    for wanted, expected in (
        ("auto", "python-dlshogi2 104"),
        ("python-dlshogi2", "python-dlshogi2 104"),
        ("python-dlshogi", "python-dlshogi 104"),
    ):
        network = NetworkEvaluator(nameless, backend="onnxruntime", model_format=wanted)
        assert network.format.name == expected
    named = format_models["python-dlshogi", False]
    overruled = NetworkEvaluator(named, backend="onnxruntime", model_format="python-dlshogi2")
    assert overruled.format.name == "python-dlshogi2 104"


@pytest.mark.parametrize("backend", ["cpu", "onnxruntime"])
def test_a_format_that_the_file_does_not_have_is_refused(
    format_models: dict[tuple[str, bool], Path], backend: str
) -> None:
    with pytest.raises(ModelError, match="expected the format nshogi"):
        NetworkEvaluator(format_models["dlshogi", False], backend=backend, model_format="nshogi")


def test_unknown_metadata_is_refused_with_the_known_names(
    tmp_path: Path, format_models: dict[tuple[str, bool], Path]
) -> None:
    onnx: Any = pytest.importorskip("onnx")
    model = onnx.load(format_models["nshogi", False])
    onnx.helper.set_model_props(model, {"goryu.format": "gps"})
    onnx.save(model, tmp_path / "gps.onnx")
    with pytest.raises(ModelError, match=r"one of dlshogi, .*; found gps"):
        NetworkEvaluator(tmp_path / "gps.onnx", backend="cpu")
