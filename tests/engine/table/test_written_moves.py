"""Moves of shogi as persons write them."""

import pytest

from boards import played
from goryu.base.errors import InputError
from goryu.games.shogi import MoveError, move_to_usi
from goryu.table.game import new_board
from goryu.table.written_moves import read_move

OWN_PAWN = "4k4/9/9/9/9/9/4P4/9/4K4 b P 1"
IN_CHECK = "4k4/9/9/9/9/9/4r4/9/4K3P b - 1"


@pytest.mark.parametrize("text", ["7g7f", "７六歩", "▲７六歩", "7六歩", "7六歩(77)", "P-7f", "+7776FU"])
def test_a_move_may_be_written_in_any_notation(text: str) -> None:
    assert move_to_usi(read_move(new_board(), text)) == "7g7f"


@pytest.mark.parametrize(
    ("sfen", "text", "expected"),
    [
        (OWN_PAWN, "5五歩", "5五歩 is not legal here: a second pawn on the file (nifu)"),
        (OWN_PAWN, "P*5e", "P*5e is not legal here: a second pawn on the file (nifu)"),
        (OWN_PAWN, "3三歩不成", "3三歩不成 is not legal here"),
        (IN_CHECK, "1八歩", "1八歩 is not legal here: your king is in check"),
        ("", "5八金", "5八金 may be G4i-5h (4i5h), G6i-5h (6i5h)"),
    ],
)
def test_a_move_that_cannot_be_played_is_explained(sfen: str, text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read_move(new_board(sfen), text)
    assert str(caught.value) == expected


@pytest.mark.parametrize("text", ["2二角", "Bx2b"])
def test_a_move_must_say_whether_it_promotes(text: str) -> None:
    board = played(new_board(), "7g7f 3c3d")
    with pytest.raises(InputError, match=r"may be Bx2b= \(8h2b\), Bx2b\+ \(8h2b\+\)"):
        read_move(board, text)
    assert move_to_usi(read_move(board, "２二角不成")) == "8h2b"


def test_other_texts_are_no_moves() -> None:
    with pytest.raises(MoveError):
        read_move(new_board(), "hello")
