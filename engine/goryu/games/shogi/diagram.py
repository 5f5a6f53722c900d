"""A shogi position as a text board."""

from collections.abc import Sequence
from typing import Protocol

from goryu.games.shogi.pieces import HAND_LETTERS, piece_letters

__all__ = ["diagram"]


class Drawable(Protocol):
    """The members of `Board` that are used here."""

    @property
    def pieces(self) -> Sequence[int]: ...
    @property
    def hands(self) -> Sequence[Sequence[int]]: ...
    @property
    def key(self) -> int: ...
    def sfen(self) -> str: ...


def diagram(board: Drawable) -> str:
    """Returns the position as a text board in ASCII, SFEN and key below."""
    pieces = board.pieces
    lines = ["   9  8  7  6  5  4  3  2  1"]
    for rank in range(9):
        row = (piece_letters(pieces[9 * file + rank]).strip() or "." for file in range(8, -1, -1))
        lines.append(" " + "".join(f"{letters:>3}" for letters in row) + f"  {'abcdefghi'[rank]}")
    for name, hand in zip(("black", "white"), board.hands, strict=True):
        held = " ".join(f"{HAND_LETTERS[place]}{n}" for place, n in enumerate(hand) if n)
        lines.append(f"{name} in hand: {held or '-'}")
    lines.append(f"sfen {board.sfen()}")
    lines.append(f"key {board.key:016x}")
    return "\n".join(lines)
