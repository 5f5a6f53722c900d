"""Observes Gumbel search: its generator runs with observed rounds, playouts and noise."""

from collections.abc import Generator, Iterator, Sequence
from random import Random

from goryu.games.state import Move, State
from goryu.search import gumbel
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.gumbel import GumbelConfig, GumbelResult
from goryu_page.microscope.model import ROOT, Edge, Edges, Event, Node
from goryu_page.microscope.rewiring import rewired
from goryu_page.microscope.trees import TreeObserver, tree_id

GumbelPath = list[tuple[gumbel.Node, int]]


class GumbelObserver(TreeObserver):
    """Observes `search_steps`. result: after the last playout.

    The leaves of a round are evaluated together, but its playouts are in different subtrees: each is a step.
    """

    def __init__(
        self,
        state: State,
        evaluator: Evaluator,
        playouts: int,
        config: GumbelConfig | None = None,
        rng: Random | None = None,
    ) -> None:
        super().__init__(state)
        self.config = config or GumbelConfig()
        self.result: GumbelResult | None = None
        self.root: gumbel.Node | None = None
        self._evaluator = evaluator
        self._noise: list[float] = []
        self._candidates: list[int] = []
        self._events: list[Event] = []  # Of the next step.
        self._leaves: dict[int, State] = {}  # By the first move of their path.
        self._round = rewired(gumbel._round, _descend=self._note_descent, back_up=self._note_back_up)
        steps = rewired(
            gumbel.search_steps, Node=self._note_root, gumbel_noise=self._note_noise, _round=self._note_round
        )
        self._steps = steps(state, playouts, self.config, rng)
        self._asked = next(self._steps)
        self.advance()

    def advance(self, most_playouts: int = 1) -> bool:
        """Runs one round of sequential halving; returns False if the search has ended."""
        if self.result is None:
            try:
                self._asked = self._steps.send(self._evaluator.evaluate(self._asked))
            except StopIteration as finished:
                self.result = finished.value
        return self.result is None

    def _note_root(self, moves: list[Move], evaluation: Evaluation) -> gumbel.Node:
        self.root = gumbel.Node(moves, evaluation)
        return self.root

    def _note_noise(self, count: int, rng: Random | None) -> list[float]:
        self._noise = gumbel.gumbel_noise(count, rng)
        assert self.root is not None
        self._record_root(self._node((), self.root), self.root.value)
        return self._noise

    def _note_round(
        self, root: gumbel.Node, state: State, candidates: Sequence[int], config: GumbelConfig
    ) -> Generator[list[State], list[Evaluation], None]:
        if set(candidates) != set(self._candidates):
            self._events.append(Event("round", ROOT, text=str(len(candidates))))
        self._candidates = list(candidates)
        yield from self._round(root, state, candidates, config)

    def _note_descent(
        self, root: gumbel.Node, i: int, state: State, config: GumbelConfig
    ) -> tuple[State, GumbelPath]:
        leaf, path = gumbel._descend(root, i, state, config)
        self._leaves[i] = leaf
        return leaf, path

    def _note_back_up(self, path: GumbelPath, value: float) -> None:
        gumbel.back_up(path, value)
        leaf = self._leaves.pop(path[0][1])
        parent, i = path[-1]

        def nodes_of(moves: Sequence[Move], events: Sequence[Event]) -> tuple[list[Node], float]:
            nodes = [self._node(moves[:ply], node) for ply, (node, _) in enumerate(path)]
            evaluation, end = (None, events[0].text) if events else (value, "")
            key, visits = tree_id(moves), parent.visits[i]
            return [*nodes, Node(key, leaf.ply, visits, value=value, evaluation=evaluation, end=end)], value

        self._record_playout(leaf, self.recording.playouts + 1, nodes_of, before=self._events)
        self._events.clear()

    def _node(self, moves: Sequence[Move], node: gumbel.Node) -> Node:
        mixed = node.mixed_value()
        return Node(
            tree_id(moves),
            self._state.ply + len(moves),
            1 + sum(node.visits),
            value=mixed,
            evaluation=node.value,
            terms={"V": node.value, "V mixed": mixed, "N": sum(node.visits)},
            edges=Edges(list(self._edges(moves, node))),
        )

    def _edges(self, moves: Sequence[Move], node: gumbel.Node) -> Iterator[Edge]:
        is_root = node is self.root
        terms = self._root_terms(node) if is_root else self._inner_terms(node)
        chosen = self._candidates if is_root else [node.select(self.config)]
        for i, move in enumerate(node.moves):
            visits = node.visits[i]
            yield Edge(
                move,
                tree_id([*moves, move]) if visits else None,
                visits,
                value=node.value_sums[i] / visits if visits else None,
                terms=terms[i],
                mark="chosen" if i in chosen else "",
            )

    def _root_terms(self, node: gumbel.Node) -> list[dict[str, float | None]]:
        values = node.completed_values()
        sigmas = gumbel.sigma(values, node.visits, self.config)
        scores = node.scores(self._noise, self.config)
        names = ("N", "Q", "g", "logit", "sigma", "score")
        columns = (node.visits, values, self._noise, node.logits, sigmas, scores)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def _inner_terms(self, node: gumbel.Node) -> list[dict[str, float | None]]:
        values, total = node.completed_values(), 1 + sum(node.visits)
        policy = node.improved_policy(self.config)
        rows = zip(node.visits, values, node.logits, policy, strict=True)
        return [
            {"N": n, "Q": q, "logit": logit, "policy": share, "share": n / total, "score": share - n / total}
            for n, q, logit, share in rows
        ]
