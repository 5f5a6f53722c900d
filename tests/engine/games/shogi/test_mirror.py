"""Mirror images of shogi positions."""

from random import Random
from typing import Any

import pytest

from goryu.games.shogi.mirror import mirrored, mirrored_move
from goryu.implementation import Board

cshogi: Any = pytest.importorskip("cshogi")


def random_boards(count: int) -> list[Any]:
    rng = Random(8)
    found: list[Any] = []
    while len(found) < count:
        board = Board()
        for _ in range(rng.randrange(120)):
            if board.outcome() is not None:
                break
            board.push(rng.choice(board.legal_moves()))
        if board.outcome() is None:
            found.append(board)
    return found


def test_the_legal_moves_of_the_mirror_image_are_the_mirrored_moves() -> None:
    for board in random_boards(40):
        image = mirrored(board)
        assert sorted(map(mirrored_move, board.legal_moves())) == sorted(image.legal_moves())
        assert mirrored(image).sfen().split()[:3] == board.sfen().split()[:3]
        assert image.is_check() == board.is_check()


def test_the_mirror_image_has_the_mirrored_past() -> None:
    for board in random_boards(10):
        image = mirrored(board)
        assert list(image.move_stack) == [mirrored_move(move) for move in board.move_stack]
        assert image.ply == board.ply


def test_the_mirror_image_has_the_pieces_of_cshogis_board_on_the_other_files() -> None:
    for board in random_boards(20):
        ours, image = cshogi.Board(board.sfen()), cshogi.Board(mirrored(board).sfen())
        for file in range(9):
            for rank in range(9):
                assert ours.piece(9 * file + rank) == image.piece(9 * (8 - file) + rank)
        assert ours.pieces_in_hand == image.pieces_in_hand
