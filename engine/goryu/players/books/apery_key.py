"""The key of a position in Apery's books.

It is a Zobrist key whose random words come from the 64-bit Mersenne Twister with its default seed, so that
every program has the same ones. They are drawn for each piece code (0 to 30, the empty square too) and
square, then for each place of a hand and each count from 0 to 18, then one for white to move. The key is
the exclusive or of the words of all pieces, of the seven counts in the hand *of the side to move*, and
of the last word if that side is white.
Sources: Apery's `book.cpp` for the order, checked against cshogi's `Board.book_key`; Nishimura, "Tables
of 64-bit Mersenne Twisters", 2000.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from goryu.games.shogi import SfenFields
from goryu.games.shogi.pieces import EMPTY

PIECE_CODES, SQUARES, HAND_PLACES, HAND_COUNTS = 31, 81, 7, 19

DEFAULT_SEED = 5489

# The constants of MT19937-64, named as in the paper.
N, M = 312, 156
MATRIX_A = 0xB5026F5AA96619E9
UPPER_MASK, LOWER_MASK = 0xFFFFFFFF80000000, 0x7FFFFFFF
INITIALIZER = 6364136223846793005
WORD = (1 << 64) - 1


def mersenne_twister_64(seed: int = DEFAULT_SEED) -> Iterator[int]:
    """Yields the words of C++'s `std::mt19937_64`.

    >>> next(islice(mersenne_twister_64(), 9_999, None))  # The C++ standard's own example.
    9981545732273789042
    """
    state = [seed]
    for i in range(1, N):
        state.append((INITIALIZER * (state[-1] ^ (state[-1] >> 62)) + i) & WORD)
    while True:
        for i in range(N):
            x = (state[i] & UPPER_MASK) | (state[(i + 1) % N] & LOWER_MASK)
            state[i] = state[(i + M) % N] ^ (x >> 1) ^ (MATRIX_A if x & 1 else 0)
        for x in state:
            x ^= (x >> 29) & 0x5555555555555555
            x ^= (x << 17) & 0x71D67FFFEDA60000
            x ^= (x << 37) & 0xFFF7EEE000000000
            yield x ^ (x >> 43)


@dataclass(frozen=True, slots=True)
class _Words:
    """The random words: by piece code and square, by place in the hand and count, and for white."""

    pieces: list[list[int]]
    hands: list[list[int]]
    white: int


@cache
def _words() -> _Words:
    words = mersenne_twister_64()
    return _Words(
        pieces=[list(islice(words, SQUARES)) for _ in range(PIECE_CODES)],
        hands=[list(islice(words, HAND_COUNTS)) for _ in range(HAND_PLACES)],
        white=next(words),
    )


def apery_key(position: SfenFields) -> int:
    """Returns the key of a position: 64 bits."""
    words = _words()
    key = words.white if position.turn else 0
    for square, piece in enumerate(position.pieces):
        if piece != EMPTY:
            key ^= words.pieces[piece][square]
    for place, count in enumerate(position.hands[position.turn]):
        key ^= words.hands[place][count]
    return key
