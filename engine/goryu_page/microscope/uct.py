"""Observes UCT: its `simulate` runs on a tree that the observer holds."""

from collections.abc import Sequence
from math import inf, log, sqrt
from random import Random

from goryu.games.state import Move, State
from goryu.search import uct
from goryu.search.flat_monte_carlo import playout
from goryu.search.random_move import random_move
from goryu_page.microscope.model import Edge, Edges, Event, Node
from goryu_page.microscope.rewiring import rewired
from goryu_page.microscope.trees import TreeObserver, tree_id

UNTRIED: dict[str, float | None] = {"N": 0, "Q": None, "U": None, "score": None}
"""The terms of an untried move, which comes before all others."""


class UctObserver(TreeObserver):
    """Observes `uct.search`; with an `expand_at` above the number of playouts, flat Monte Carlo with UCB1."""

    def __init__(self, state: State, rng: Random, c: float = uct.UCB1_CONSTANT, expand_at: int = 1) -> None:
        super().__init__(state)
        self.root = uct.search(state, 0, rng, c, expand_at)
        self._rng, self._c, self._expand_at = rng, c, expand_at
        self._rollout: list[Move] = []
        self._value = 0.0
        self._playout = rewired(playout, random_move=self._random_move)
        self._simulate = rewired(uct.simulate, playout=self._note_playout)
        self._record_root(self._node((), self.root, ""))

    def advance(self, most_playouts: int = 1) -> bool:
        """Runs one playout."""
        leaf = self._state.copy()
        self._simulate(self.root, leaf, self._rng, self._c, self._expand_at)
        self._record_playout(leaf, self.root.visits, self._nodes, rollout=self._rollout)
        return True

    def _note_playout(self, state: State, rng: Random) -> float:
        self._rollout = []
        self._value = self._playout(state, rng)
        return self._value

    def _random_move(self, state: State, rng: Random) -> Move:
        move = random_move(state, rng)
        self._rollout.append(move)
        return move

    def _nodes(self, moves: Sequence[Move], events: Sequence[Event]) -> tuple[list[Node], float]:
        """Returns the positions on a path and the value of its leaf, where the game may be over."""
        end = events[0].text if events else ""
        node, nodes = self.root, [self._node((), self.root, "" if moves else end)]
        for i, move in enumerate(moves, 1):
            node = node.children[move]
            nodes.append(self._node(moves[:i], node, end if i == len(moves) else ""))
        return nodes, self._value

    def _node(self, moves: Sequence[Move], node: uct.Node, end: str) -> Node:
        log_visits = log(max(1, node.visits))
        chosen = node.select(self._c) if node.children else None
        edges = [
            self._edge(tree_id([*moves, move]), move, child, log_visits, "chosen" if move == chosen else "")
            for move, child in node.children.items()
            if child.visits or move == chosen
        ]
        untried = [
            (move, 0.0) for move, child in node.children.items() if not child.visits and move != chosen
        ]
        return Node(
            tree_id(moves),
            self._state.ply + len(moves),
            node.visits,
            value=-node.value_sum / node.visits if node.visits else None,
            end=end,
            terms={"c": self._c, "t": node.visits, "ln t": log_visits},
            edges=Edges(edges, untried, _untried_edge),
        )

    def _edge(self, key: str, move: Move, child: uct.Node, log_visits: float, mark: str) -> Edge:
        score = child.ucb1(log_visits, self._c)
        if score == inf:
            return Edge(move, terms=UNTRIED, mark=mark)
        q, u = child.value_sum / child.visits, self._c * sqrt(log_visits / child.visits)
        terms: dict[str, float | None] = {"N": child.visits, "Q": q, "U": u, "score": score}
        return Edge(move, key, child.visits, value=q, terms=terms, mark=mark)


def _untried_edge(move: Move, _prior: float) -> Edge:
    return Edge(move, terms=UNTRIED)
