"""What an observer records: steps, their events, and the positions as they are after a step.

All numbers are the search's own. Values are in [-1, +1]. A position's `id` is a text: its path from the root
in a tree ("root/4/0", moves as numbers), its key in a graph, where equal positions are one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, overload

from goryu.games.state import Move

ROOT = "root"
"""The id of the root of a tree."""

StepKind = Literal["start", "playout", "descent", "collision", "evaluation", "enter", "return", "root"]
"""start: the search knows its root. playout: down, evaluated and back up. descent: down only, the position
waits for its evaluation. collision: down to a position that waits already. evaluation: such a position is
evaluated and backed up. enter, return: minimax enters a position and leaves it. root: the root moves."""

EventKind = Literal[
    "new", "merge", "ahead", "result", "repetition", "proof", "round", "cut", "forgotten", "deleted"
]
"""new: a position is added. merge: another path leads to a known position. ahead: a known position had more
visits than the move that led to it, so the playout needed no evaluation. result: the game is over.
repetition: the path repeats a position. proof: a value is certain. round: Gumbel's next round begins.
cut: moves are left out. forgotten: a position loses the statistics of its moves. deleted: it is removed."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a step, at the position `node`; `text` gives details in English."""

    kind: EventKind
    node: str
    move: Move | None = None
    value: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Hop:
    """One move of a path.

    backed_up: the value that the step adds to the move, for the side that plays it; None if it adds none.
    before, after: the value of the position before and after the step, for its side to move.
    """

    node: str
    move: Move
    backed_up: float | None = None
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a search.

    playouts: completed by the search so far; for minimax the positions visited so far.
    path: from the root down. leaf: the position at its end. value: of the leaf, for its side to move.
    rollout: the moves of the random game that evaluated the leaf, if one did.
    """

    kind: StepKind
    root: str
    playouts: int
    path: tuple[Hop, ...] = ()
    leaf: str | None = None
    value: float | None = None
    rollout: tuple[Move, ...] = ()
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """One move of a position.

    child: the position behind it, if the search keeps it.
    visits: completed playouts. in_flight: playouts that wait for their evaluation.
    value: Q of the move, for the side that plays it; None as long as it has none.
    terms: the formula's terms by name, in the order of the formula; None stands for infinity.
    repetitions: the completed playouts that ended on this move by repetition.
    mark: "chosen" (the next playout takes it), "best" (minimax plays it), "lost", "won", "closed" or "cut".
    """

    move: Move
    child: str | None = None
    visits: int = 0
    in_flight: int = 0
    value: float | None = None
    terms: Mapping[str, float | None] = field(default_factory=dict)
    repetitions: int = 0
    mark: str = ""


class Edges(Sequence[Edge]):
    """The edges of a position: those of its tried moves, and untried ones that are made when they are read.

    Most moves are never tried, and a recording has many versions of a position.
    """

    __slots__ = ("_make", "_tried", "_untried")

    def __init__(
        self,
        tried: Sequence[Edge],
        untried: Sequence[tuple[Move, float]] = (),
        make: Callable[[Move, float], Edge] = lambda move, _: Edge(move),
    ) -> None:
        """untried: moves and their priors, of which `make` makes edges."""
        self._tried = tuple(tried)
        self._untried = untried
        self._make = make

    def __len__(self) -> int:
        return len(self._tried) + len(self._untried)

    def __iter__(self) -> Iterator[Edge]:
        yield from self._tried
        for move, prior in self._untried:
            yield self._make(move, prior)

    @overload
    def __getitem__(self, index: int) -> Edge: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Edge]: ...
    def __getitem__(self, index: int | slice) -> Edge | Sequence[Edge]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edges) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def tried(self) -> tuple[Edge, ...]:
        """The edges that a playout has taken or takes next; the others have no child."""
        return self._tried


@dataclass(frozen=True, slots=True)
class Node:
    """One position after a step.

    ply: moves played in the game. visits: N. value: Q, for the side to move; None as long as it has none.
    evaluation: what the evaluator or the heuristic returned, for the side to move.
    proof: "win", "loss" or "draw" of the side to move, or "". distance: plies to the proven end.
    end: why the game is over, or "".
    window: alpha and beta when alpha-beta entered the position. bound: "lower", "upper" or "" (exact).
    terms: the numbers of the formula that belong to the position, by name.
    """

    id: str
    ply: int
    visits: int = 0
    in_flight: int = 0
    value: float | None = None
    evaluation: float | None = None
    proof: str = ""
    distance: int | None = None
    end: str = ""
    window: tuple[float, float] | None = None
    bound: str = ""
    terms: Mapping[str, float | None] = field(default_factory=dict)
    edges: Edges = field(default_factory=lambda: Edges(()))


@dataclass(frozen=True, slots=True)
class Graph:
    """All positions after a step. parents: the positions that lead to each, the first discovered first."""

    root: str
    nodes: Mapping[str, Node]
    parents: Mapping[str, tuple[str, ...]]
