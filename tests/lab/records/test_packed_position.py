"""Packed positions: those of cshogi, and bytes that are none."""

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from goryu.games.shogi import START_SFEN, SfenError, parse_sfen
from goryu.games.shogi.packed_position import (
    BYTES,
    YANEURAOU,
    PackedPositionError,
    PieceCode,
    move_of_yaneuraou,
    pack,
)
from goryu.games.shogi.pieces import KING, PAWN
from goryu.implementation import Board
from goryu_lab.records.packed_position import APERY, unpack, yaneuraou_move

CODES = {"hcp": APERY, "psfen": YANEURAOU}
STARTS = (
    START_SFEN,
    "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1",
    "4k4/9/9/9/9/9/9/9/4K4 w R2b4gs4n4l9Pp 1",
    "4k4/9/9/9/9/9/9/9/4K4 b - 1",
)
"""Even, handicaps, all pieces in hand, and kings alone."""


def positions(games: int, plies: int = 120) -> Iterator[Board]:
    """Yields the positions of random games; the board goes on."""
    rng = Random(1)
    for number in range(games):
        board = Board(STARTS[number % len(STARTS)])
        while len(board.move_stack) < plies and (legal := board.all_legal_moves()):
            yield board
            board.push(rng.choice(legal))


def check_against_cshogi(games: int) -> None:
    cshogi: Any = pytest.importorskip("cshogi")
    theirs, data = cshogi.Board(), np.zeros(BYTES, np.uint8)
    for board in positions(games):
        theirs.set_sfen(board.sfen())
        for name, code in CODES.items():
            getattr(theirs, f"to_{name}")(data)
            assert pack(board, code) == data.tobytes(), board.sfen()
            assert str(unpack(data.tobytes(), code)).split()[:3] == board.sfen().split()[:3]
        for move in board.all_legal_moves():
            number = cshogi.move16_to_psv(int(move))
            assert (yaneuraou_move(move), move_of_yaneuraou(number)) == (number, move)


def test_positions_and_moves_are_those_of_cshogi() -> None:
    check_against_cshogi(games=12)


@pytest.mark.slow
def test_positions_and_moves_of_many_games_are_those_of_cshogi() -> None:
    check_against_cshogi(games=80)


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_random_and_damaged_bytes_are_refused_or_hold_the_pieces_of_one_set(code: PieceCode) -> None:
    rng = Random(2)
    good = [pack(board, code) for board in positions(6, plies=40)]
    accepted = 0
    for number in range(4000):
        data = bytearray(rng.choice(good))
        if number % 4 == 0:
            data = bytearray(rng.randbytes(BYTES))
        elif number % 4 == 1:  # As if a byte had been lost, or one inserted.
            place = rng.randrange(BYTES)
            data = data[:place] + rng.randbytes(1) + data[place:-1]
        else:
            data[rng.randrange(BYTES)] ^= 1 << rng.randrange(8)
        try:
            position = unpack(bytes(data), code)
        except PackedPositionError:
            continue
        accepted += 1
        assert unpack(pack(position, code), code) == position
    assert accepted


def test_every_fault_of_the_bits_is_named() -> None:
    bits = int.from_bytes(pack(Board(), APERY), "little")
    white_king, last = 0x7F << 8, 0x3F << 250  # The last six bits of the start position are a lance.
    for wrong, words in (
        (bits | 0x7F << 1, "kings on the squares 127 and 36"),
        (bits & ~white_king | (bits >> 1 & 0x7F) << 8, "kings on the squares 44 and 44"),
        (bits & ~last | 0b001100 << 250, "no piece in hand at bit 251"),
        (bits & ~last | 0b000111 << 250, "3 pieces of kind L, of 4"),
        (bits | last, "beyond the last bit"),
    ):
        with pytest.raises(PackedPositionError, match=f"expected a packed position, .*{words}"):
            unpack(wrong.to_bytes(BYTES, "little"), APERY)


def test_a_position_without_a_king_has_no_packed_form() -> None:
    position = parse_sfen("4k4/9/9/9/9/9/9/9/9 b R 1", allow_missing_king=True)
    with pytest.raises(PackedPositionError, match="expected a position with both kings"):
        pack(position, APERY)


def test_a_number_that_is_no_move_of_yaneuraou_gives_none() -> None:
    drop, promotion = 1 << 14, 1 << 15
    for number in (81, 81 << 7, 40 | 40 << 7, drop, drop | KING << 7, drop | promotion | PAWN << 7 | 40):
        assert move_of_yaneuraou(number) is None


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_native_code_reads_and_writes_what_python_does(code: PieceCode, native: Any) -> None:
    def python_board(data: bytes) -> Any:
        try:
            return native.Board(str(unpack(data, code)))
        except (PackedPositionError, SfenError):
            return None

    rng, good = Random(5), []
    for board in positions(6, plies=40):
        there = native.Board(board.sfen())
        good.append(pack(board, code))
        assert native.pack_board(there, code) == good[-1]
        found = native.unpack_board(good[-1], code)
        assert (found.position_key, found.hands) == (there.position_key, there.hands)
    accepted = 0
    for _ in range(2000):
        data = bytearray(rng.choice(good))
        data[rng.randrange(BYTES)] ^= 1 << rng.randrange(8)
        found, expected = native.unpack_board(bytes(data), code), python_board(bytes(data))
        assert (found and found.sfen()) == (expected and expected.sfen())
        accepted += found is not None
    assert 0 < accepted < 2000
