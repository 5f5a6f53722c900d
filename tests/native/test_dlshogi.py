"""The native planes and labels against the published test vectors and against the Python dlshogi format."""

import zlib
from importlib.machinery import EXTENSION_SUFFIXES
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from goryu.evaluators.formats.dlshogi import DlshogiFormat, dlshogi_label, fill_dlshogi
from goryu.evaluators.formats.value_scale import from_probability
from goryu.games.shogi import START_SFEN, move_from_usi

T3 = "lr5nl/6k2/6bpp/p1p1S1R2/1P1np2P1/P1P1P3P/3K5/1S3G3/LN5NL b 2G6Pbg2sp 95"
T4 = "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180"

Array = npt.NDArray[Any]


def native_planes(native: ModuleType, boards: list[Any], sees_nyugyoku: bool) -> tuple[Array, Array]:
    """The planes of a batch, written over garbage into arrays one row too long."""
    hand_planes = 119 if sees_nyugyoku else 57
    rows = len(boards) + 1
    board, hands = (np.full((rows, n, 9, 9), 7, np.float32) for n in (62, hand_planes))
    native.fill_dlshogi(boards, board, hands)
    assert (board[-1] == 7).all()
    assert (hands[-1] == 7).all()
    return board[:-1], hands[:-1]


def python_planes(board: Any, sees_nyugyoku: bool) -> list[Array]:
    model_format = DlshogiFormat(from_probability, sees_nyugyoku=sees_nyugyoku)
    rows: list[Array] = [np.zeros(spec.shape, np.float32) for spec in model_format.inputs]
    model_format.fill(board, rows)
    return rows


def random_boards(native: ModuleType, seed: int, games: int) -> list[Any]:
    rng = Random(seed)
    boards = []
    for _ in range(games):
        board = native.Board()
        while board.ply < 250 and (moves := board.legal_moves()):
            board.push(rng.choice(moves))
            if rng.random() < 0.2:
                boards.append(board.copy())
    return boards


def test_the_module_under_test_is_compiled(native: ModuleType) -> None:
    assert native.__file__ is not None
    assert native.__file__.endswith(tuple(EXTENSION_SUFFIXES))


@pytest.mark.parametrize(
    ("sfen", "sees_nyugyoku", "crcs"),
    [
        (START_SFEN, False, (0x902DAF0D, 0x477DA44B)),
        (T3, False, (0x4D74AB41, 0x76F3EA64)),
        (T4, False, (0x13B1A349, 0xB31A9686)),
        (START_SFEN, True, (0x902DAF0D, 0xB3BD85F1)),
        (T3, True, (0x4D74AB41, 0xE47FA838)),
        (T4, True, (0x13B1A349, 0x8577B124)),
    ],
)
def test_planes_of_the_test_vectors(
    native: ModuleType, sfen: str, sees_nyugyoku: bool, crcs: tuple[int, int]
) -> None:
    planes = native_planes(native, [native.Board(sfen)], sees_nyugyoku)
    assert tuple(zlib.crc32(part[0].astype(np.uint8).tobytes()) for part in planes) == crcs


@pytest.mark.parametrize("sees_nyugyoku", [False, True])
def test_planes_of_random_games_are_those_of_python(native: ModuleType, sees_nyugyoku: bool) -> None:
    boards = random_boards(native, seed=1, games=4)
    assert len(boards) > 100
    planes = native_planes(native, boards, sees_nyugyoku)
    for i, board in enumerate(boards):
        for ours, theirs in zip(planes, python_planes(board, sees_nyugyoku), strict=True):
            assert np.array_equal(ours[i], theirs), board.sfen()


@pytest.mark.parametrize("sees_nyugyoku", [False, True])
def test_a_batch_in_python_is_the_native_one(native: ModuleType, sees_nyugyoku: bool) -> None:
    boards = random_boards(native, seed=3, games=1)[:8]
    batch = [
        np.full((len(boards) + 1, *rows.shape[1:]), 7, np.float32)
        for rows in native_planes(native, boards, sees_nyugyoku)
    ]
    fill_dlshogi(boards, *batch)
    for ours, theirs in zip(native_planes(native, boards, sees_nyugyoku), batch, strict=True):
        assert np.array_equal(ours, theirs[:-1])
        assert (theirs[-1] == 7).all()


@pytest.mark.parametrize("shapes", [((1, 61, 9, 9), (1, 57, 9, 9)), ((0, 62, 9, 9), (1, 57, 9, 9))])
def test_arrays_of_another_shape_are_refused(native: ModuleType, shapes: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match="expected an array of shape"):
        native.fill_dlshogi([native.Board()], *(np.zeros(shape, np.float32) for shape in shapes))


@pytest.mark.parametrize(
    ("turn", "labels"),
    [
        (0, {"7g7f": 59, "2g2f": 14, "6i7h": 142, "3d3c+": 830, "5d4c+": 1001, "G*4c": 2135}),
        (1, {"8b8h": 10, "P*2g": 1685, "3c7g+": 992, "5a4b": 133, "N*5e": 1822, "L*1a": 1781, "1i2h+": 1441}),
    ],
)
def test_labels_of_the_test_vectors(native: ModuleType, turn: int, labels: dict[str, int]) -> None:
    assert {usi: native.dlshogi_label(move_from_usi(usi), turn) for usi in labels} == labels


def test_labels_of_random_games_are_those_of_the_python_format(native: ModuleType) -> None:
    for board in random_boards(native, seed=3, games=5):
        for move in board.legal_moves():
            assert native.dlshogi_label(move, board.turn) == dlshogi_label(move, board.turn)
