"""Observes PUCT on a tree: its `simulate` runs on a tree that the observer holds."""

from collections.abc import Sequence
from functools import partial
from math import sqrt

from goryu.games.state import Move, State
from goryu.search import puct_tree
from goryu.search.evaluator import Evaluator
from goryu_page.microscope.model import Edge, Edges, Event, Node
from goryu_page.microscope.trees import TreeObserver, tree_id


class PuctTreeObserver(TreeObserver):
    """Observes `puct_tree.search`."""

    def __init__(
        self,
        state: State,
        evaluator: Evaluator,
        c: float = puct_tree.EXPLORATION,
        *,
        untried_is_zero: bool = False,
    ) -> None:
        super().__init__(state)
        self.root = puct_tree.search(state, evaluator, 0, c)
        self._evaluator, self._c = evaluator, c
        self._untried_is_zero = untried_is_zero
        self._untried: dict[str, tuple[list[int], list[tuple[Move, float]]]] = {}  # Shared by versions.
        self._record_root(self._node((), self.root), self.root.value)

    def advance(self, most_playouts: int = 1) -> bool:
        """Runs one playout."""
        leaf = self._state.copy()
        puct_tree.simulate(self.root, leaf, self._evaluator, self._c, untried_is_zero=self._untried_is_zero)
        self._record_playout(leaf, sum(self.root.visits), self._nodes)
        return True

    def _nodes(self, moves: Sequence[Move], events: Sequence[Event]) -> tuple[list[Node], float]:
        """Returns the positions on a path and the value of its leaf, where the game may be over."""
        nodes: list[Node] = []
        node: puct_tree.Node | None = self.root
        visits = 0
        for i, move in enumerate(moves):
            assert node is not None, "only the last position may be missing"
            nodes.append(self._node(moves[:i], node))
            index = node.moves.index(move)
            visits = node.visits[index]
            node = node.children[index]
        if node is not None:
            return [*nodes, self._node(moves, node)], node.value
        value, ply = events[0].value, self._state.ply + len(moves)
        assert value is not None, "the search keeps no node where the game is over"
        return [*nodes, Node(tree_id(moves), ply, visits, value=value, end=events[0].text)], value

    def _node(self, moves: Sequence[Move], node: puct_tree.Node) -> Node:
        visits = 1 + sum(node.visits)
        value = (node.value + sum(node.value_sums)) / visits
        n, q_untried = node.untried(is_zero=self._untried_is_zero)
        chosen = node.select(self._c, untried_is_zero=self._untried_is_zero)
        return Node(
            tree_id(moves),
            self._state.ply + len(moves),
            visits,
            value=value,
            evaluation=node.value,
            terms={"c": self._c, "N": n, "sqrt N": sqrt(n), "Q": value},
            edges=self._edges(moves, node, n, q_untried, chosen),
        )

    def _edges(
        self, moves: Sequence[Move], node: puct_tree.Node, n: int, q_untried: float, chosen: int
    ) -> Edges:
        shown = [i for i in range(len(node.moves)) if node.visits[i] or i == chosen]
        edges = [self._edge(moves, node, i, n, q_untried, "chosen" if i == chosen else "") for i in shown]
        key = tree_id(moves)
        if self._untried.get(key, (None, ()))[0] != shown:
            rest = [(node.moves[i], node.priors[i]) for i in range(len(node.moves)) if i not in shown]
            self._untried[key] = shown, rest
        rest = self._untried[key][1]
        return Edges(edges, rest, partial(_untried_edge, self._c, n, q_untried))

    def _edge(
        self, moves: Sequence[Move], node: puct_tree.Node, i: int, n: int, q_untried: float, mark: str
    ) -> Edge:
        visits, move = node.visits[i], node.moves[i]
        q = node.value_sums[i] / visits if visits else q_untried
        u = self._c * node.priors[i] * sqrt(n) / (1 + visits)
        terms: dict[str, float | None] = {"P": node.priors[i], "N": visits, "Q": q, "U": u, "score": q + u}
        if not visits:
            return Edge(move, terms=terms, mark=mark)
        return Edge(move, tree_id([*moves, move]), visits, value=q, terms=terms, mark=mark)


def _untried_edge(c: float, n: int, q_untried: float, move: Move, prior: float) -> Edge:
    u = c * prior * sqrt(n) / 1
    return Edge(move, terms={"P": prior, "N": 0, "Q": q_untried, "U": u, "score": q_untried + u})
