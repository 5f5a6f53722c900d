"""Observes PUCT on a graph: a subclass that notes when a playout walks down and when it is backed up."""

from collections.abc import Container, Iterable, Iterator
from functools import partial

from goryu.games.state import Move, State
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.graph import node as nodes
from goryu.search.graph.batch import Descent, Path
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import Solver, is_certain, no_solver
from goryu.search.graph.puct import Puct
from goryu.search.graph.selection import exploration, untried_value
from goryu_page.microscope.model import Edge, Edges, Event, Hop, Node, StepKind
from goryu_page.microscope.recording import Recording
from goryu_page.microscope.trees import moves_since

PROOFS = {nodes.UNKNOWN: "", nodes.WIN: "win", nodes.LOSS: "loss", nodes.DRAW: "draw"}


class PuctObserver(Puct):
    """A `Puct` that records its steps. Observe it by `start`, `advance` and `move_root`, not by `search`.

    A batch of one position makes one step a playout. In a larger batch each descent and each evaluation is a
    step.
    """

    def __init__(
        self, evaluator: Evaluator, config: PuctConfig | None = None, solver: Solver = no_solver
    ) -> None:
        super().__init__(evaluator, config, solver)
        self.recording = Recording()
        self.playouts = 0  # Completed, by all searches.
        self._descent: tuple[Path, State] | None = None  # The last descent, if it is not recorded yet.
        self._waiting: dict[tuple[int, int], str] = {}  # Edge -> id of the position that waits behind it.
        self._ends: dict[str, str] = {}  # Id -> why the game is over there.
        self._untried: dict[int, tuple[tuple[Move, float], ...]] = {}  # By key; versions of a node share it.
        self._changed: set[nodes.Node] = set()  # Nodes that the next step must show, too.
        self._shows_all = False  # Must the next step show all nodes?
        self._first_ply = 0

    def start(self, state: State) -> None:
        """Makes a position the root, without a playout."""
        self.search(state, lambda _: True)
        assert self.root is not None
        self._first_ply = state.ply
        self.recording.first_path[node_id(self.root)] = ()
        self._record("start", [], node_id(self.root), value=self.root.value)

    def advance(self, most_playouts: int = 1 << 30) -> bool:
        """Runs one batch of at most this many playouts; returns False if no move is worth a playout."""
        assert self._state is not None
        stops = iter((False, True))
        self.search(self._state, lambda _: next(stops), max_playouts=most_playouts)
        return not self._progress.is_exhausted

    def move_root(self, move: Move) -> None:
        """Plays a move: its position becomes the root, and what it cannot reach is deleted."""
        assert self._state is not None
        assert self.root is not None
        state, old = self._state.copy(), node_id(self.root)
        state.push(move)
        self.search(state, lambda _: True)
        self.recording.first_path.setdefault(node_id(self.root), (*self.recording.first_path[old], move))
        self._shows_all = True  # Repetitions are forgotten.
        self._record("root", [], node_id(self.root), value=self.root.value, hops=[Hop(old, move)])

    def state_at_root(self) -> State:
        """Returns a copy of the position at the root."""
        assert self._state is not None
        return self._state.copy()

    # The hooks.

    def _gather(self, root: nodes.Node, state: State) -> list[tuple[State, Path]]:
        self._shows_all = self.table.memory.is_full  # It makes room now.
        leaves = super()._gather(root, state)
        if len(leaves) > 1 or self._changed:
            self._record_descent()
        return leaves

    def _descend(self, root: nodes.Node, state: State, path: Path, waiting: Container[int]) -> Descent:
        self._record_descent()
        descent = super()._descend(root, state, path, waiting)
        if descent is Descent.NEW:
            self._descent = path, state.copy()
        elif descent is Descent.COLLISION:
            self._record_path("collision", path, state)
            self._changed |= {node for node, _ in path}  # The batch will take it back.
        elif descent is Descent.FREE:
            self.playouts += 1
            self._record_path("playout", path, state)
        return descent

    def _expand(self, state: State, path: Path, evaluation: Evaluation) -> None:
        super()._expand(state, path, evaluation)
        self.playouts += 1
        is_alone, self._descent = self._descent is not None, None
        self._record_path("playout" if is_alone else "evaluation", path, state)

    # The recording.

    def _record_descent(self) -> None:
        """Records the last descent, which waits for its evaluation, as a step."""
        if self._descent is not None:
            path, state = self._descent
            self._descent = None
            self._record_path("descent", path, state)

    def _record_path(self, kind: StepKind, path: Path, state: State) -> None:
        assert self._state is not None
        parent, i = path[-1]
        key, hops = f"{state.key:016x}", [Hop(node_id(node), node.moves[i]) for node, i in path]
        if (repetition := state.repetition()) is not None:
            value = repetition.value or self._draw_value(state)
            events = [Event("repetition", node_id(parent), hops[-1].move, value, repetition.reason)]
            self._record(kind, path, None, value=value, hops=hops, events=events)
            return
        start = self.recording.first_path[hops[0].node]
        self.recording.first_path.setdefault(key, (*start, *moves_since(state, self._state.ply)))
        leaf = self.table.find(state.key)
        if leaf is None:
            self._waiting[parent.key, i] = key
        else:
            self._waiting.pop((parent.key, i), None)
        events = list(self._events(kind, key, leaf, state))
        self._record(kind, path, key, value=leaf.value if leaf else None, hops=hops, events=events)

    def _events(self, kind: StepKind, key: str, leaf: nodes.Node | None, state: State) -> Iterator[Event]:
        if (outcome := state.outcome()) is not None:
            self._ends[key] = outcome.reason
            yield Event("result", key, value=leaf.value if leaf else None, text=outcome.reason)
        elif leaf is not None and kind == "playout" and key in self.recording.current and not leaf.proof:
            yield Event("ahead", key)

    def _record(
        self,
        kind: StepKind,
        path: Path,
        leaf: str | None,
        *,
        value: float | None = None,
        hops: Iterable[Hop] = (),
        events: Iterable[Event] = (),
    ) -> None:
        """Adds a step with the positions of its path, and their other parents: values change there, too."""
        assert self.root is not None
        recording = self.recording
        touched = self.table if self._shows_all else [*self._changed, *(node for node, _ in path)]
        ids = dict.fromkeys([*map(node_id, touched), *([leaf] if leaf else [])])
        deleted: list[str] = []
        if self._shows_all:
            deleted = [key for key in recording.current if key not in ids]
        else:
            ids |= {parent: None for key in [*ids] for parent in recording.parents(key)}
        self._shows_all = False
        self._changed.clear()
        recording.add(
            kind,
            node_id(self.root),
            self.playouts,
            [self._node(key) for key in ids],
            path=tuple(hops),
            leaf=leaf,
            value=value,
            events=tuple(events),
            deleted=deleted,
        )

    def _node(self, key: str) -> Node:
        node = self.table.find(int(key, 16))
        if node is None:  # It waits for its evaluation.
            return Node(key, self._first_ply + len(self.recording.first_path[key]), in_flight=1)
        is_root = node is self.root
        formula = self.config.root_formula if is_root else self.config.formula
        n = node.total_visits + node.in_flight
        untried = untried_value(node, formula)
        explore = exploration(n, formula)
        chosen = self._select(node) if node.moves and node.is_complete else -1
        return Node(
            key,
            node.ply,
            node.total_visits,
            node.in_flight,
            node.value,
            evaluation=node.raw_value,
            proof=PROOFS[node.proof],
            distance=node.distance if node.proof else None,
            end=self._ends.get(key, ""),
            terms={"N": n, "Q": node.value, "Q untried": untried, "c sqrt N": explore},
            edges=self._edges(node, untried, explore, chosen),
        )

    def _edges(self, node: nodes.Node, untried: float, explore: float, chosen: int) -> Edges:
        if not node.is_complete:  # Its moves are the line that proves it.
            return Edges(())
        count = max(node.tried, chosen + 1)
        tried = [self._edge(node, i, untried, explore, i == chosen) for i in range(count)]
        rest = self._untried.get(node.key, ())
        if len(rest) != len(node.moves) - count:
            rest = tuple(zip(node.moves[count:], node.priors[count:], strict=True))
            self._untried[node.key] = rest
        return Edges(tried, rest, partial(_untried_edge, untried, explore))

    def _edge(self, node: nodes.Node, i: int, untried: float, explore: float, is_chosen: bool) -> Edge:
        visits, pending, child = node.visits[i], node.pending[i], node.children[i]
        q = node.values[i] if visits else untried
        u = explore * node.priors[i] / (1 + visits + pending)
        repeated = node.repetitions.get(i)
        return Edge(
            node.moves[i],
            node_id(child) if child is not None else self._waiting.get((node.key, i)) if pending else None,
            visits,
            pending,
            value=q if visits else None,
            terms={"P": node.priors[i], "N": visits, "in flight": pending, "Q": q, "U": u, "score": q + u},
            repetitions=repeated.visits if repeated is not None else 0,
            mark=self._mark(node, i, is_chosen),
        )

    def _mark(self, node: nodes.Node, i: int, is_chosen: bool) -> str:
        if node.proofs[i] == nodes.WIN:
            return "lost"
        if is_chosen:
            return "chosen"
        if node.proofs[i] == nodes.LOSS:
            return "won"
        return "closed" if node is self.root and is_certain(node, i) else ""


def _untried_edge(untried: float, explore: float, move: Move, prior: float) -> Edge:
    u = explore * prior / 1
    terms = {"P": prior, "N": 0, "in flight": 0, "Q": untried, "U": u, "score": untried + u}
    return Edge(move, terms=terms)


def node_id(node: nodes.Node) -> str:
    """Returns the id of a position of the graph."""
    return f"{node.key:016x}"
