"""Mirror images of shogi positions."""

from itertools import islice
from random import Random
from typing import Any

import pytest

from boards import random_games
from goryu.games.shogi.mirror import mirrored, mirrored_move
from goryu.implementation import Board

cshogi: Any = pytest.importorskip("cshogi")


def test_the_mirror_image_has_the_mirrored_moves_past_and_pieces() -> None:
    for board in islice(random_games(Random(8), 40, 120, Board), 0, None, 30):
        image = mirrored(board)
        assert sorted(map(mirrored_move, board.legal_moves())) == sorted(image.legal_moves())
        assert mirrored(image).sfen().split()[:3] == board.sfen().split()[:3]
        assert image.is_check() == board.is_check()
        assert list(image.move_stack) == [mirrored_move(move) for move in board.move_stack]
        assert image.ply == board.ply
        ours, theirs = cshogi.Board(board.sfen()), cshogi.Board(image.sfen())
        for file in range(9):
            for rank in range(9):
                assert ours.piece(9 * file + rank) == theirs.piece(9 * (8 - file) + rank)
        assert ours.pieces_in_hand == theirs.pieces_in_hand
