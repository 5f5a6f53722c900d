"""Writes YaneuraOu's book format; `yaneuraou.py` describes it."""

from collections.abc import Iterable, Mapping

from goryu.games.shogi import move_to_usi
from goryu.players.books.book import BookMove
from goryu.players.books.yaneuraou import HEADER, NOTHING


def yaneuraou_text(entries: Mapping[str, Iterable[BookMove]], comment: str = "") -> str:
    """Returns the text of a book.

    entries: position (SFEN with its move number) -> its moves, the best first. Positions without moves are
        left out. comment: goes behind the first line, where YaneuraOu expects and skips comments.

    The positions are in the ascending order of their text, in which YaneuraOu searches a book on the disk.
    """
    lines = [HEADER.decode(), *(f"# {line}" for line in comment.splitlines())]
    for sfen, moves in sorted(entries.items()):
        written = [_line(move) for move in moves]
        if written:
            lines += [f"sfen {sfen}", *written]
    return "\n".join(lines) + "\n"


def _line(move: BookMove) -> str:
    words = [
        move_to_usi(move.move),
        NOTHING[0] if move.reply is None else move_to_usi(move.reply),
        *(NOTHING[0] if number is None else str(number) for number in (move.eval_cp, move.depth)),
        str(move.count),
    ]
    return " ".join(words)
