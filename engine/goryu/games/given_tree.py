"""A game whose positions and values are given: the small trees by which a search is explained.

A text names the positions after each one; a position that ends the game has its value, for the player who
moves first ("max"; the other is "min"):

    A: B C          # A is the root: max chooses B or C
    B: D=5 E=10     # min chooses between the values 5 and 10
    C: F=3 G=7

A semicolon ends a line, too, and # begins a comment. A search knows results in [-1, +1] only, so values are
divided by `scale`, a power of two above them: nothing is rounded, and no value is a certain win that would
end a search early.
"""

import re
from dataclasses import dataclass
from math import frexp, isfinite
from typing import Self

from goryu.base.errors import GoryuError
from goryu.base.language import tr
from goryu.games.splitmix import GOLDEN_GAMMA, splitmix64
from goryu.games.state import Move, Outcome

__all__ = ["GivenTree", "Tree", "TreeError", "read_tree"]

MOST_PLIES = 100
MOST_POSITIONS = 10_000

ZOBRIST_SEED = 0x676976656E747265  # "giventre" in ASCII


class TreeError(GoryuError, ValueError):
    """The text describes no tree. The message has the number of the line."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Positions by their numbers; the root is 0.

    children: of each position, in the order of the text.
    values: of the leaves, for the player who moves first. scale: a power of two above every value.
    """

    names: tuple[str, ...]
    children: tuple[tuple[int, ...], ...]
    values: dict[int, float]
    scale: float


class GivenTree:
    """A position of a tree; a move is the index of a child.

    >>> game = GivenTree(read_tree("A: B C; B: D=5 E=10; C: F=3 G=7"))
    >>> game.push(Move(0))
    >>> game.push(Move(1))
    >>> print(game)
    E
    >>> game.outcome().value * game.tree.scale
    10.0
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.move_stack: list[Move] = []
        self._path = [0]

    @property
    def turn(self) -> int:
        return len(self.move_stack) % 2

    @property
    def ply(self) -> int:
        return len(self.move_stack)

    @property
    def key(self) -> int:
        return splitmix64(ZOBRIST_SEED + self._path[-1] * GOLDEN_GAMMA)

    def legal_moves(self) -> list[Move]:
        return [Move(index) for index in range(len(self.tree.children[self._path[-1]]))]

    def push(self, move: Move) -> None:
        self._path.append(self.tree.children[self._path[-1]][move])
        self.move_stack.append(move)

    def pop(self) -> Move:
        self._path.pop()
        return self.move_stack.pop()

    def outcome(self) -> Outcome | None:
        value = self.tree.values.get(self._path[-1])
        if value is None:
            return None
        share = value / self.tree.scale
        return Outcome(share if self.turn == 0 else -share, "given value")

    def repetition(self) -> Outcome | None:
        """Returns None: a position of a tree is reached in one way only."""
        return None

    def copy(self) -> Self:
        state = type(self)(self.tree)
        state.move_stack, state._path = self.move_stack[:], self._path[:]
        return state

    def move_name(self, move: Move) -> str:
        """Returns the name of the position after a move."""
        return self.tree.names[self.tree.children[self._path[-1]][move]]

    def __str__(self) -> str:
        return self.tree.names[self._path[-1]]


def read_tree(text: str) -> Tree:
    """Returns the tree of a text; raises TreeError with the line that is wrong."""
    reader = _Reader()
    for line, name, words in _statements(text):
        reader.read(line, name, words)
    return reader.tree()


class _Reader:
    """The positions that are known so far, by their numbers; a child has a higher number than its parent."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._first_line: list[int] = []  # Where each position is named first.
        self._plies: list[int] = []
        self._children: dict[int, tuple[int, ...]] = {}
        self._values: dict[int, float] = {}

    def read(self, line: int, name: str, words: list[str]) -> None:
        """Adds the positions after one. words: their names, with "=" and a value where the game ends."""
        if not self._numbers:
            self._add(name, line, 0)
        if name not in self._numbers:
            root = next(iter(self._numbers))
            problem = tr("{name} is after no position; expected the root {root} or one of a line above",
                         name=name, root=root)  # fmt: skip
            raise _wrong(line, problem)
        parent = self._numbers[name]
        if parent in self._children or parent in self._values:
            known = tr("a value") if parent in self._values else tr("positions after it")
            raise _wrong(line, tr("{name} has {known} already", name=name, known=known))
        below = []
        for word in words:
            child, equals, value = word.partition("=")
            below.append(self._add(child, line, self._plies[parent] + 1))
            if equals:
                self._values[below[-1]] = _number(value, child, line)
        self._children[parent] = tuple(below)

    def _add(self, name: str, line: int, plies: int) -> int:
        number = len(self._numbers)
        if name in self._numbers:
            raise _wrong(line, tr("{name} is in the tree already", name=name))
        if number == MOST_POSITIONS:
            raise _wrong(line, tr("expected at most {most} positions", most=MOST_POSITIONS))
        if plies > MOST_PLIES:  # Too deep for a recursive search.
            raise _wrong(line, tr("expected at most {most} plies", most=MOST_PLIES))
        self._numbers[name] = number
        self._first_line.append(line)
        self._plies.append(plies)
        return number

    def tree(self) -> Tree:
        """Returns the tree; raises TreeError if it is empty or a position has nothing after it."""
        if not self._numbers:
            raise TreeError(tr("the tree is empty: expected lines such as A: B C=5"))
        for name, number in self._numbers.items():
            if number not in self._children and number not in self._values:
                problem = tr("{name} has neither a value nor positions after it", name=name)
                raise _wrong(self._first_line[number], problem)
        children = tuple(self._children.get(number, ()) for number in range(len(self._numbers)))
        _, exponent = frexp(max(map(abs, self._values.values())))
        return Tree(tuple(self._numbers), children, self._values, 2.0 ** max(0, exponent))


def _statements(text: str) -> list[tuple[int, str, list[str]]]:
    """Returns the lines as (number, name, words after the colon)."""
    found = []
    for line, content in enumerate(text.splitlines(), 1):
        for statement in content.partition("#")[0].split(";"):
            if not statement.strip():
                continue
            name, colon, rest = statement.partition(":")
            name, words = name.strip(), re.sub(r"\s*=\s*", "=", rest).split()
            is_name = bool(name) and not re.search(r"[\s=]", name)
            if not colon or not is_name or not words or any(word.startswith("=") for word in words):
                expected = tr("expected a position and those after it, such as A: B C=5, received {text!r}",
                              text=statement.strip()[:80])  # fmt: skip
                raise _wrong(line, expected)
            found.append((line, name, words))
    return found


def _number(text: str, name: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value) or abs(value) > 1e9:
        expected = tr(
            "{name}: expected a number from -1e9 to 1e9, received {text!r}", name=name, text=text[:80]
        )
        raise _wrong(line, expected)
    return value


def _wrong(line: int, problem: str) -> TreeError:
    return TreeError(tr("line {line}: {problem}", line=line, problem=problem))
