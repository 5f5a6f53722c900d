"""Zobrist keys of shogi positions; this text defines them for every implementation.

The words come from SplitMix64 (see `goryu.games.splitmix`): word n is
splitmix64(SEED + n * GOLDEN_GAMMA mod 2^64). They are used in this order, from n = 0:

1. board words, 2 * 14 * 81: for colour 0 (black), 1 (white); for kind 1..14 (P L N S
   B R G K +P +L +N +S +B +R); for square 0..80 (1a 1b ... 9i);
2. hand words, 2 * 7 * 18: for colour 0, 1; for place P L N S G B R; for count 1..18;
3. one side word.

The keys, all made with exclusive or:

board_key     the board word of every piece on the board
position_key  board_key; for each colour and place of the hands the one word of its count
              (none for count 0); the side word if white is to move
key           position_key and splitmix64(PLY_SEED + ply)

The key of the start position (ply 0) is 0x33EC15716F9BB8D1.
Source: A. L. Zobrist, "A New Hashing Method with Application for Game Playing", 1970.
"""

from functools import cache

from goryu.games.splitmix import GOLDEN_GAMMA, splitmix64

__all__ = ["BOARD", "HAND", "PLY_SEED", "SEED", "SIDE", "ply_word"]

SEED = 0x676F727975  # "goryu" in ASCII
PLY_SEED = 0x706C79  # "ply" in ASCII


def _words(first: int, count: int) -> tuple[int, ...]:
    return tuple(splitmix64(SEED + n * GOLDEN_GAMMA) for n in range(first, first + count))


def _board_words() -> tuple[tuple[int, ...], ...]:
    """Returns words indexed [piece code 0..30][square]; codes that are no piece have zeros."""
    table: list[tuple[int, ...]] = [(0,) * 81] * 31
    for colour in (0, 1):
        for kind in range(1, 15):
            table[16 * colour + kind] = _words((14 * colour + kind - 1) * 81, 81)
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
    """Returns the word that distinguishes equal positions at different plies."""
    return splitmix64(PLY_SEED + ply)
