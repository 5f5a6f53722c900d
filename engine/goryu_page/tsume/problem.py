"""Mate problems, and the text files that keep them: one SFEN on each line, what is known of it after a #.

4k4/9/4P4/9/9/9/9/9/9 b G - 1 # 1 left=0 second=no first=G*5b line=G*5b
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.shogi import MoveError, SfenError, move_from_usi, parse_sfen

__all__ = ["Tsume", "read_problems", "starter_set"]

_SECOND = {True: "yes", False: "no", None: "?"}


@dataclass(frozen=True, slots=True)
class Tsume:
    """A mate problem; the side to move mates. Moves are in USI.

    length: plies of the shortest mate, see `length.py`.
    solution: the main line: the longest defence, and of these the one that leaves the attacker fewest pieces.
    first_moves: all first moves that mate, that of the solution first.
    has_second_solution: does another move than that of the solution mate too (余詰), before the last move?
        Whether the piece promotes makes no other move. None: not decided within the nodes.
    pieces_left: pieces in the attacker's hand at the end (駒余り); None: not decided within the nodes.
    """

    sfen: str
    length: int
    solution: tuple[str, ...]
    first_moves: tuple[str, ...]
    has_second_solution: bool | None
    pieces_left: int | None

    def line(self) -> str:
        """Returns the problem as a line of a file."""
        left = "?" if self.pieces_left is None else self.pieces_left
        return (
            f"{self.sfen} # {self.length} left={left} second={_SECOND[self.has_second_solution]} "
            f"first={','.join(self.first_moves)} line={','.join(self.solution)}"
        )


def read_problems(text: str, name: str = "") -> Iterator[Tsume]:
    """Yields the problems of lines that `Tsume.line` wrote; empty lines and comments may stand between.

    Raises InputError: names the line that cannot be read.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                yield _read(line)
            except (KeyError, ValueError, SfenError, MoveError):
                raise InputError(
                    tr("{name}:{line}: expected a mate problem, received {text!r}", name=name, line=number,
                       text=line[:120])
                ) from None  # fmt: skip


def _read(line: str) -> Tsume:
    sfen, _, facts = line.partition("#")
    length, *words = facts.split()
    values = dict(word.split("=", 1) for word in words)
    moves = _moves(values["line"])
    if len(moves) != int(length):
        raise ValueError(line)
    return Tsume(
        sfen=str(parse_sfen(sfen, allow_missing_king=True)),
        length=int(length),
        solution=moves,
        first_moves=_moves(values["first"]),
        has_second_solution={text: known for known, text in _SECOND.items()}[values["second"]],
        pieces_left=None if values["left"] == "?" else int(values["left"]),
    )


def _moves(text: str) -> tuple[str, ...]:
    moves = tuple(text.split(","))
    for move in moves:
        move_from_usi(move)
    return moves


@cache
def starter_set() -> tuple[Tsume, ...]:
    """Returns the problems that come with Goryu, the shortest first."""
    text = files("goryu_page.tsume").joinpath("starter.sfen").read_text("utf-8")
    return by_length(read_problems(text, "starter.sfen"))


def by_length(problems: Iterable[Tsume]) -> tuple[Tsume, ...]:
    """Returns the problems, the shortest first."""
    return tuple(sorted(problems, key=lambda problem: problem.length))
