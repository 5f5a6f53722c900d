"""Stored positions as planes and labels: those of cshogi, and the same from both implementations."""

from random import Random
from typing import Any

import numpy as np
import pytest

from goryu.base.errors import GoryuError, InputError
from goryu.games.shogi import move_from_usi
from goryu.games.shogi.packed_position import PackedPositionError
from goryu.implementation import Board
from goryu_lab.records.hcpe import packed
from goryu_lab.training.stored_planes import fill_records

Filled = tuple[list[Any], Any, Any]


def random_positions(games: int) -> tuple[list[str], Any, Any, Any]:
    """Returns SFENs, their packed forms, and two moves for each position with the number of the position."""
    rng, sfens, hcp, moves = Random(4), [], [], []
    for _ in range(games):
        board = Board()
        while len(board.move_stack) < 150 and (legal := board.all_legal_moves()):
            sfens.append(board.sfen())
            hcp.append(packed(board))
            moves += rng.choices(legal, k=2)
            board.push(rng.choice(legal))
    return sfens, np.array(hcp), np.repeat(np.arange(len(hcp)), 2), np.array(moves, np.uint16)


def fill(hcp: Any, place: Any, moves: Any) -> Filled:
    planes = tuple(np.full((len(hcp), count, 9, 9), 7.0, np.float32) for count in (62, 57))
    legal = np.zeros((len(hcp), 2187), np.bool_)
    return list(planes), legal, fill_records(hcp, place, moves, (planes[0], planes[1]), legal)


@pytest.fixture(params=["python", "native"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both implementations in turn."""
    if request.param == "native":
        request.getfixturevalue("native")
    for module in ("training.stored_planes", "records.hcpe"):
        monkeypatch.setattr(f"goryu_lab.{module}.IMPLEMENTATION", request.param)


@pytest.mark.usefixtures("implementation")
def test_planes_and_labels_are_those_of_cshogi() -> None:
    cshogi: Any = pytest.importorskip("cshogi")
    dlshogi: Any = pytest.importorskip("cshogi.dlshogi")
    sfens, hcp, place, moves = random_positions(games=3)
    (board_planes, hand_planes), legal, labels = fill(hcp, place, moves)
    for i, sfen in enumerate(sfens):
        board = cshogi.Board(sfen)
        planes = np.zeros((62, 9, 9), np.float32), np.zeros((57, 9, 9), np.float32)
        dlshogi.make_input_features(board, *planes)
        assert np.array_equal(board_planes[i], planes[0])
        assert np.array_equal(hand_planes[i], planes[1])
        listed = sorted(dlshogi.make_move_label(move, board.turn) for move in board.legal_moves)
        assert np.flatnonzero(legal[i]).tolist() == listed
        for j in np.flatnonzero(place == i):
            label = dlshogi.make_move_label(board.move_from_move16(int(moves[j])), board.turn)
            assert labels[j] in (label, label + 810)


@pytest.mark.usefixtures("native")
def test_native_code_writes_what_python_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    _, hcp, place, moves = random_positions(games=3)
    found = []
    for name in ("python", "native"):
        monkeypatch.setattr("goryu_lab.training.stored_planes.IMPLEMENTATION", name)
        planes, legal, labels = fill(hcp, place, moves)
        found.append([*planes, legal, labels])
    for ours, theirs in zip(*found, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize(
    ("usi", "is_damaged", "error", "words"),
    [
        ("7g7e", False, InputError, "expected a move that is legal in lnsgkgsnl"),
        ("7g7f", True, PackedPositionError, "expected a packed position"),
    ],
)
def test_an_illegal_move_and_a_damaged_position_are_refused(
    usi: str, is_damaged: bool, error: type[GoryuError], words: str
) -> None:
    hcp = np.array([packed(Board()), packed(Board())])
    hcp[1, 5] ^= 255 if is_damaged else 0
    with pytest.raises(error, match=words):
        fill(hcp, np.array([0, 1]), np.array([move_from_usi("7g7f"), move_from_usi(usi)], np.uint16))
