"""Zobrist keys of shogi: the definition in `zobrist.py`, computed a second time from the SFEN."""

from random import Random

from goryu.games.shogi import Board
from goryu.games.shogi.zobrist import PLY_SEED, SEED

MASK = (1 << 64) - 1


def word(n: int, seed: int = SEED) -> int:
    """Word n of the generator, as its authors write it."""
    z = (seed + (n + 1) * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def position_key(board: Board) -> int:
    key = 0
    for square, piece in enumerate(board.pieces):
        if piece:
            key ^= word((piece // 16 * 14 + piece % 16 - 1) * 81 + square)
    for colour, hand in enumerate(board.hands):
        for place, count in enumerate(hand):
            if count:
                key ^= word(2 * 14 * 81 + (7 * colour + place) * 18 + count - 1)
    return key ^ (word(2 * 14 * 81 + 2 * 7 * 18) if board.turn else 0)


def test_keys_follow_the_definition_all_through_a_game() -> None:
    rng = Random(11)
    for _ in range(4):
        board = Board()
        for ply in range(200):
            assert board.position_key == position_key(board)
            assert board.key == board.position_key ^ word(0, PLY_SEED + ply)
            moves = board.legal_moves()
            if not moves:
                break
            board.push(rng.choice(moves))


def test_the_key_of_the_start_position_is_the_published_one() -> None:
    assert Board().key == 0x33EC15716F9BB8D1


def test_a_position_has_the_same_key_when_set_up_and_when_reached_by_moves() -> None:
    rng, board = Random(12), Board()
    for _ in range(300):
        board.push(rng.choice(board.legal_moves()))
        assert Board(board.sfen()).key == board.key
