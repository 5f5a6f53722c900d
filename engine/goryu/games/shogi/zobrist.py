"""Zobrist keys of shogi positions: the specification that every twin must reproduce.

All arithmetic is modulo 2**64. `splitmix64(x)` is Vigna's generator: one step from
the state x, its output function applied. The n-th word of the tables (n = 0, 1, ...)
is splitmix64(SEED + n * 0x9E3779B97F4A7C15), the n-th output of the generator
started at SEED. Words are used in this order:

1. board words, 2 * 14 * 81: for colour 0 (black), 1 (white); for kind 1..14 (P L N S
   B R G K +P +L +N +S +B +R); for square 0..80 (1a 1b ... 9i);
2. hand words, 2 * 7 * 18: for colour 0, 1; for piece P L N S G B R; for count 1..18;
3. one side word.

board_key     XOR of the board word of every piece on the board
position_key  board_key, XOR for each colour and piece in hand the one word of its
              count (nothing for count 0), XOR the side word if white is to move
key           position_key XOR splitmix64(PLY_SEED + ply)

Source: Zobrist, "A New Hashing Method with Application for Game Playing", 1970;
Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
"""

from functools import cache

__all__ = ["BOARD", "HAND", "PLY_SEED", "SEED", "SIDE", "ply_word", "splitmix64"]

SEED = 0x676F727975  # "goryu" in ASCII.
PLY_SEED = 0x706C79  # "ply" in ASCII.

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15


def splitmix64(x: int) -> int:
    """Returns the output of splitmix64 for the state x.

    >>> hex(splitmix64(0))
    '0xe220a8397b1dcdaf'
    """
    z = (x + _GAMMA) & _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def _words(first: int, count: int) -> list[int]:
    return [splitmix64(SEED + n * _GAMMA & _MASK) for n in range(first, first + count)]


def _board_words() -> tuple[tuple[int, ...], ...]:
    """Returns words indexed [piece code 0..30][square]; codes that are no piece have zeros."""
    table: list[tuple[int, ...]] = [(0,) * 81] * 31
    for colour in (0, 1):
        for kind in range(1, 15):
            table[16 * colour + kind] = tuple(_words((14 * colour + kind - 1) * 81, 81))
    return tuple(table)


def _hand_words() -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Returns words indexed [colour][place in P L N S G B R][count 0..18]."""
    first = 2 * 14 * 81
    return tuple(
        tuple((0, *_words(first + (7 * colour + place) * 18, 18)) for place in range(7)) for colour in (0, 1)
    )


BOARD = _board_words()
HAND = _hand_words()
SIDE = _words(2 * 14 * 81 + 2 * 7 * 18, 1)[0]


@cache
def ply_word(ply: int) -> int:
    """Returns the word that tells equal positions at different plies apart."""
    return splitmix64(PLY_SEED + ply)
