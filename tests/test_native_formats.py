"""The native planes and labels of every format against the Python ones, and games of the native search."""

from collections.abc import Iterator
from itertools import islice
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from goryu.evaluators.formats.aobazero import AobaZeroFormat
from goryu.evaluators.formats.base import ModelFormat
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.nshogi import NshogiFormat
from goryu.evaluators.formats.python_dlshogi import PythonDlshogiFormat
from goryu.evaluators.formats.python_dlshogi2 import PythonDlshogi2Format
from goryu.evaluators.formats.value_scale import from_logit, from_probability, from_tanh
from goryu.games.shogi import Rules

Array = npt.NDArray[Any]

FORMATS: list[ModelFormat] = [
    DlshogiFormat(from_probability),
    DlshogiFormat(from_probability, sees_nyugyoku=True),
    PythonDlshogi2Format("planes", "policy", "value", from_logit),
    PythonDlshogiFormat("planes", "policy", "value", from_logit),
    NshogiFormat(86, draw_value=-0.3),
    NshogiFormat(93, draw_value=0.7),
    AobaZeroFormat("planes", "policy", "value", from_tanh),
]

every_format = pytest.mark.parametrize("model_format", FORMATS, ids=lambda each: each.name)

ENTERING_KINGS = "lnsg1k2l/1r3+P1b1/p1pp+Ppppp/9/9/9/PPPP1PPPP/1B1+p3R1/LNS2KGNL b G2S2P2g2sn 40"
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
def test_planes_of_10000_positions_are_those_of_python(native: ModuleType, model_format: ModelFormat) -> None:
    boards = random_boards(native, 10_000, seed=2)
    while batch := list(islice(boards, 200)):
        check_planes(native, model_format, batch)


@every_format
def test_labels_of_random_games_are_those_of_python(native: ModuleType, model_format: ModelFormat) -> None:
    for board in random_boards(native, 300, seed=3):
        moves = board.legal_moves()
        labels = [native.policy_label(model_format, move, board.turn) for move in moves]
        assert labels == [model_format.label(move, board.turn) for move in moves]


@pytest.mark.slow
@every_format
def test_labels_of_10000_positions_are_those_of_python(native: ModuleType, model_format: ModelFormat) -> None:
    for board in random_boards(native, 10_000, seed=4):
        moves = board.legal_moves()
        labels = [native.policy_label(model_format, move, board.turn) for move in moves]
        assert labels == [model_format.label(move, board.turn) for move in moves]


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
