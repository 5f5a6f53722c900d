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
    names: list[str] = []
    children: dict[int, tuple[int, ...]] = {}
    values: dict[int, float] = {}
    numbers: dict[str, int] = {}  # Of the positions by their names.
    first_line: list[int] = []  # Where each position is named first.

    def add(name: str, line: int) -> int:
        numbers[name] = len(names)
        names.append(name)
        first_line.append(line)
        if len(names) > MOST_POSITIONS:
            raise _wrong(line, tr("expected at most {most} positions", most=MOST_POSITIONS))
        return numbers[name]

    for line, name, words in _statements(text):
        if not names:
            add(name, line)
        if name not in numbers:
            problem = tr("{name} is after no position; expected the root {root} or one of a line above",
                         name=name, root=names[0])  # fmt: skip
            raise _wrong(line, problem)
        parent = numbers[name]
        if parent in children or parent in values:
            known = tr("a value") if parent in values else tr("positions after it")
            raise _wrong(line, tr("{name} has {known} already", name=name, known=known))
        below = []
        for word in words:
            child, equals, number = word.partition("=")
            if child in numbers:
                raise _wrong(line, tr("{name} is in the tree already", name=child))
            below.append(add(child, line))
            if equals:
                values[below[-1]] = _number(number, child, line)
        children[parent] = tuple(below)
    if not names:
        raise TreeError(tr("the tree is empty: expected lines such as A: B C=5"))
    for number, name in enumerate(names):
        if number not in children and number not in values:
            problem = tr("{name} has neither a value nor positions after it", name=name)
            raise _wrong(first_line[number], problem)
    _check_depth(children, names, first_line)
    greatest = max(map(abs, values.values()))
    positions = range(len(names))
    return Tree(
        tuple(names), tuple(children.get(i, ()) for i in positions), values, 2.0 ** max(0, frexp(greatest)[1])
    )


def _statements(text: str) -> "list[tuple[int, str, list[str]]]":
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


def _check_depth(children: dict[int, tuple[int, ...]], names: list[str], first_line: list[int]) -> None:
    """Raises TreeError if a game is too long for a recursive search."""
    plies = {0: 0}
    for parent in range(len(names)):  # A child has a higher number than its parent.
        for child in children.get(parent, ()):
            plies[child] = plies[parent] + 1
            if plies[child] > MOST_PLIES:
                raise _wrong(first_line[child], tr("expected at most {most} plies", most=MOST_PLIES))


def _wrong(line: int, problem: str) -> TreeError:
    return TreeError(tr("line {line}: {problem}", line=line, problem=problem))
