"""Observes the searches of the whole tree: minimax, alpha-beta and depth-limited minimax.

Each is one recursive function, from a position to its value for the side to move. The observer is called in
its place, calls it, and so sees every position with its window and its value.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import signature
from itertools import pairwise
from typing import Any

from goryu.games.state import Move, State
from goryu_page.microscope.model import ROOT, Edge, Edges, Event, Hop, Node
from goryu_page.microscope.recording import Recording
from goryu_page.microscope.rewiring import rewired


class EnoughError(Exception):
    """The recording is as long as it may be."""


@dataclass(slots=True)
class Visit:
    """A position that the search has entered. values: of its first moves, for the side to move."""

    id: str
    ply: int
    moves: list[Move]
    window: tuple[float, float] | None
    end: str
    is_horizon: bool
    visited: int = 1
    values: list[float] = field(default_factory=list)
    children: list["Visit"] = field(default_factory=list)
    value: float | None = None
    greatest: float = 1.0

    @property
    def bound(self) -> str:
        """Returns "lower" or "upper" if the value is a bound; the greatest and the least result are exact."""
        if self.value is None or self.window is None or not self.moves:
            return ""
        alpha, beta = self.window
        if self.value >= beta and self.value < self.greatest:
            return "lower"
        return "upper" if self.value <= alpha and self.value > -self.greatest else ""


class MinimaxObserver:
    """Observes `negamax`, `one_bound`, `alpha_beta` or `depth_limited.search` on one position.

    most_steps: the recording ends after this many; `is_complete` then stays False.
    scale: the recorded values are those of the search times this, such as those of a given tree.
    arguments: of the function, after the state.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        state: State,
        most_steps: int = 10_000,
        scale: float = 1.0,
        **arguments: Any,
    ) -> None:
        self.recording = Recording()
        self.is_complete = False
        self._state = state
        self._arguments = arguments
        self._most_steps = most_steps
        self._scale = scale
        self._signature = signature(function)
        self._function = rewired(function, **{function.__name__: self._visit})
        self._path: list[Visit] = []
        self._visited = 0

    def advance(self, most_playouts: int = 1) -> bool:
        """Runs the whole search, or as much of it as may be recorded; returns False: nothing is left."""
        if not self.recording.steps:
            with suppress(EnoughError):
                self._visit(self._state.copy(), **self._arguments)
                self.is_complete = True
        return False

    def _visit(self, state: State, *args: Any, **kwargs: Any) -> Any:
        if len(self.recording) >= self._most_steps:
            raise EnoughError
        visit = self._enter(state, self._signature.bind(state, *args, **kwargs).arguments)
        result = self._function(state, *args, **kwargs)
        value = result[0] if isinstance(result, tuple) else result
        self._leave(visit, value * self._scale)
        return result

    def _enter(self, state: State, given: dict[str, Any]) -> Visit:
        parent = self._path[-1] if self._path else None
        outcome = state.outcome()
        is_horizon = outcome is None and given.get("depth") == 0
        visit = Visit(
            id=ROOT if parent is None else f"{parent.id}/{parent.moves[len(parent.values)]}",
            ply=state.ply,
            moves=[] if outcome or is_horizon else state.legal_moves(),
            window=self._window(given),
            end=outcome.reason if outcome else "",
            is_horizon=is_horizon,
            greatest=self._scale,
        )
        if parent is not None:
            parent.children.append(visit)
        self._visited += 1
        for ancestor in self._path:
            ancestor.visited += 1
        self._path.append(visit)
        self.recording.first_path[visit.id] = tuple(hop.move for hop in self._hops())
        if visit.moves:
            nodes = [_node(v) for v in self._path[-2:]]
            self.recording.add(
                "enter" if parent else "start", ROOT, self._visited, nodes, path=self._hops(), leaf=visit.id
            )
        return visit

    def _window(self, given: dict[str, Any]) -> tuple[float, float] | None:
        defaults = {name: p.default for name, p in self._signature.parameters.items()}
        given = defaults | given
        if "bound" in given:
            return -self._scale, given["bound"] * self._scale
        if "alpha" not in given or not given.get("prunes", True):
            return None
        return given["alpha"] * self._scale, given["beta"] * self._scale

    def _leave(self, visit: Visit, value: float) -> None:
        visit.value = value
        hops = self._hops()
        self._path.pop()
        if self._path:
            self._path[-1].values.append(-value)
            hops[-1] = Hop(hops[-1].node, hops[-1].move, backed_up=-value)
        nodes = [_node(v) for v in (*self._path[-1:], visit)]
        self.recording.add(
            "return",
            ROOT,
            self._visited,
            nodes,
            path=hops,
            leaf=visit.id,
            value=value,
            events=[*_events(visit)],
        )

    def _hops(self) -> list[Hop]:
        """Returns the path from the root to the position that was entered last."""
        return [Hop(v.id, v.moves[len(v.values)]) for v, _ in pairwise(self._path)]


def _events(visit: Visit) -> Iterator[Event]:
    if visit.end:
        yield Event("result", visit.id, value=visit.value, text=visit.end)
    for move in visit.moves[len(visit.values) :]:
        yield Event("cut", visit.id, move)


def _node(visit: Visit) -> Node:
    best = max(visit.values, default=None)
    terms: dict[str, float | None] = {}
    if visit.window is not None:
        alpha, beta = visit.window
        terms = {"alpha": alpha if best is None else max(alpha, best), "beta": beta}
    return Node(
        id=visit.id,
        ply=visit.ply,
        visits=visit.visited,
        value=best if visit.value is None else visit.value,
        evaluation=visit.value if visit.is_horizon else None,
        end=visit.end,
        window=visit.window,
        bound=visit.bound,
        terms=terms,
        edges=Edges([_edge(visit, i, best) for i in range(len(visit.moves))]),
    )


def _edge(visit: Visit, i: int, best: float | None) -> Edge:
    if i >= len(visit.children):
        return Edge(visit.moves[i], mark="" if visit.value is None else "cut")
    child = visit.children[i]
    value = visit.values[i] if i < len(visit.values) else None
    terms: dict[str, float | None] = {}
    if child.window is not None:
        terms = {"alpha": -child.window[1], "beta": -child.window[0]}
    if value is not None:
        terms["value"] = value
    mark = "best" if value is not None and visit.values[i] == best and best not in visit.values[:i] else ""
    return Edge(visit.moves[i], child.id, child.visited, value=value, terms=terms, mark=mark)
