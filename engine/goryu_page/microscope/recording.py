"""A recording: every step of a search, and every position as it was after each step.

Only the positions that a step touches are stored with it, so a recording grows with the paths, not with the
graph. The graph after any step is put together from the latest version of each position.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Protocol

from goryu.games.state import Move
from goryu_page.microscope.model import Edge, Event, Graph, Hop, Node, Step, StepKind


class Observer(Protocol):
    """A search that is observed."""

    recording: "Recording"

    def advance(self, most_playouts: int = 1) -> bool:
        """Runs the search a little further; returns False if it has ended.

        most_playouts: the most playouts of a batch. Gumbel search completes its round, minimax its search.
        """
        ...


def run(observer: Observer, playouts: int) -> None:
    """Runs a search until it has completed `playouts` playouts, or until it ends."""
    while (left := playouts - observer.recording.playouts) > 0 and observer.advance(left):
        pass


class Recording:
    """The steps of one search, from 0. first_path: how each position was reached first, for its name."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.first_path: dict[str, tuple[Move, ...]] = {}
        self.current: dict[str, Node] = {}  # After the last step.
        self._versions: dict[str, list[tuple[int, Node | None]]] = {}  # None: deleted.
        self._parents: dict[str, dict[str, None]] = {}  # Id -> all parents, the first discovered first.

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def playouts(self) -> int:
        """The completed playouts so far."""
        return self.steps[-1].playouts if self.steps else 0

    def add(
        self,
        kind: StepKind,
        root: str,
        playouts: int,
        nodes: Iterable[Node],
        *,
        path: Sequence[Hop] = (),
        leaf: str | None = None,
        value: float | None = None,
        rollout: Sequence[Move] = (),
        events: Sequence[Event] = (),
        deleted: Collection[str] = (),
    ) -> Step:
        """Appends a step.

        nodes: the positions that it touched, as they are now. Events that a comparison with the previous
        versions shows are added: new positions, merges, proofs, forgotten moves, deletions.
        """
        number, found = len(self.steps), list(events)
        before = {hop.node: self.current.get(hop.node) for hop in path}
        for node in nodes:
            found += self._compare(node)
            if self.current.get(node.id) != node:
                self._versions.setdefault(node.id, []).append((number, node))
                self.current[node.id] = node
        for key in deleted:
            self._versions[key].append((number, None))
            del self.current[key]
            found.append(Event("deleted", key))
        hops = tuple(
            Hop(hop.node, hop.move, hop.backed_up, _value(before[hop.node]), self._value_now(hop))
            for hop in path
        )
        step = Step(kind, root, playouts, hops, leaf, value, tuple(rollout), tuple(found))
        self.steps.append(step)
        return step

    def _value_now(self, hop: Hop) -> float | None:
        return _value(self.current.get(hop.node))

    def _compare(self, node: Node) -> Iterable[Event]:
        old = self.current.get(node.id)
        if old is None:
            yield Event("new", node.id, value=node.value)
        if node.proof and (old is None or old.proof != node.proof):
            yield Event("proof", node.id, value=node.value, text=node.proof)
        if old is not None and _tried(old) > _tried(node):
            yield Event("forgotten", node.id)
        for edge in node.edges.tried:
            if edge.child is None:
                continue
            parents = self._parents.setdefault(edge.child, {})
            if node.id not in parents:
                if any(parent in self.current for parent in parents):
                    yield Event("merge", edge.child, edge.move, text=node.id)
                parents[node.id] = None

    def node(self, key: str, step: int) -> Node | None:
        """Returns a position as it was after a step; None if it was not known or deleted."""
        versions = self._versions.get(key, [])
        index = bisect_right(versions, step, key=itemgetter(0))
        return versions[index - 1][1] if index else None

    def graph(self, step: int) -> Graph:
        """Returns all positions as they were after a step."""
        nodes = {key: node for key in self._versions if (node := self.node(key, step)) is not None}
        return Graph(self.steps[step].root, nodes, self._parents_of(nodes))

    def _parents_of(self, nodes: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
        found: dict[str, set[str]] = {}
        for node in nodes.values():
            for edge in node.edges.tried:
                if edge.child is not None and edge.child in nodes:
                    found.setdefault(edge.child, set()).add(node.id)
        return {
            key: tuple(parent for parent in self._parents.get(key, ()) if parent in found.get(key, ()))
            for key in nodes
        }

    def parents(self, key: str) -> Iterable[str]:
        """Returns the known positions that lead to this one now."""
        return (parent for parent in self._parents.get(key, {}) if parent in self.current)

    def step_of_playout(self, playouts: int) -> int:
        """Returns the first step after which `playouts` playouts are complete, or else the last step."""
        completed = [step.playouts for step in self.steps]
        return min((i for i, n in enumerate(completed) if n >= playouts), default=len(self.steps) - 1)


def _value(node: Node | None) -> float | None:
    return None if node is None else node.value


def _tried(node: Node) -> int:
    return sum(map(_is_tried, node.edges.tried))


def _is_tried(edge: Edge) -> bool:
    return bool(edge.visits or edge.in_flight)
