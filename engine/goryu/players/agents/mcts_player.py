"""MCTS_player, the search of python-dlshogi: PUCT on one position at a time, in the program's order.

It differs from `search/puct_tree.py`: N does not count the node's own evaluation, so the first playout of a
node, with N = 0, takes the first move of the list, which is in the order of python-shogi; an untried move has
a win rate of a half; and positions that two move orders reach are one node, whose value the second way takes
over when it gets there first. Nothing is proven, repetitions are not seen, and a full table ends the search.

Weakness: the first playout of each node is spent on a pawn at the edge.
Source: 山岡忠夫『将棋AIで学ぶディープラーニング』, 2018, `pydlshogi/player/mcts_player.py`.
"""

from collections.abc import Callable
from heapq import nlargest

from goryu.games.shogi import move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.agents.searcher import TextbookSearcher
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.puct_tree import Node
from goryu.search.result import RootMove, SearchResult, SearchStats

C_PUCT = 2.0
"""The program's 1 is for win rates; in [-1, +1] differences of Q are twice as large."""

FULL = 0.9
"""The share of the table at which a search ends."""


def in_order(board: Board) -> list[Move]:
    """Returns the legal moves in the order in which python-shogi generates them."""
    import shogi  # A quarter of a second, which the answer to `usi` has not got.

    places = {move.usi(): i for i, move in enumerate(shogi.Board(board.sfen()).pseudo_legal_moves)}
    return sorted(board.legal_moves(), key=lambda move: places[move_to_usi(move)])


class MctsPlayerSearcher(TextbookSearcher):
    """Keeps its table of nodes between moves: `kept` is the search before.

    capacity: nodes of the table.
    """

    def __init__(self, evaluator: Evaluator, capacity: int, kept: "MctsPlayerSearcher | None" = None) -> None:
        self.evaluator = evaluator
        self._capacity = capacity
        self._nodes: dict[int, Node] = dict(kept._nodes) if kept and kept.evaluator is evaluator else {}
        self._root = Node([], Evaluation([], 0.0))
        self._playouts = self._depth_sum = self._max_depth = 0

    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        self._forget_all_but(self._nodes.get(state.key))
        self._root = self._node(state)
        if len(moves) < len(self._root.moves):  # Some may not be played: a root of its own.
            kept = [i for i, move in enumerate(self._root.moves) if move in moves]
            policy = [self._root.priors[i] for i in kept]
            self._root = Node([self._root.moves[i] for i in kept], Evaluation(policy, self._root.value))
        while self._playouts < most and len(self._nodes) <= FULL * self._capacity and not should_stop():
            self._simulate(state.copy())

    def _simulate(self, state: Board) -> None:
        """Runs one playout; `state` ends up at its leaf."""
        path: list[tuple[Node, int]] = []
        node, is_new = self._root, False
        while node.moves and not is_new:
            i = node.select(C_PUCT, untried_is_zero=True)
            path.append((node, i))
            state.push(node.moves[i])
            child = node.children[i]
            is_new = child is None
            node.children[i] = node = child or self._node(state)
        self._playouts += 1
        self._depth_sum += len(path)
        self._max_depth = max(self._max_depth, len(path))
        value = node.value
        for parent, i in reversed(path):
            value = -value
            parent.visits[i] += 1
            parent.value_sums[i] += value

    def _node(self, state: Board) -> Node:
        """Returns the node of a position, which the table may know by another order of moves."""
        node = self._nodes.get(state.key)
        if node is None:
            policy: dict[Move, float] = {}
            value = -1.0  # Of a position without a move.
            if moves := state.legal_moves():
                evaluation = self.evaluator.evaluate([state])[0]
                policy, value = dict(zip(moves, evaluation.policy, strict=True)), evaluation.value
            order = in_order(state) if moves else []
            node = Node(order, Evaluation([policy[move] for move in order], value))
            self._nodes[state.key] = node
        return node

    def _forget_all_but(self, root: Node | None) -> None:
        """Deletes the nodes that cannot be reached from the root."""
        reached, waiting = set(), [root] if root else []
        while waiting:
            node = waiting.pop()
            if id(node) not in reached:
                reached.add(id(node))
                waiting += [child for child in node.children if child]
        self._nodes = {key: node for key, node in self._nodes.items() if id(node) in reached}

    def result(self, lines: int = 1) -> SearchResult:
        """Returns all moves, the most visited first."""
        root = self._root
        moves = tuple(
            RootMove(move, prior, visits, value_sum / max(1, visits), None, (move, *_line(child)))
            for move, prior, visits, value_sum, child in zip(
                root.moves, root.priors, root.visits, root.value_sums, root.children, strict=True
            )
        )
        moves = tuple(sorted(moves, key=lambda move: -move.visits))
        return SearchResult(moves, moves[0].value, self.stats())

    def stats(self) -> SearchStats:
        """Returns the counters; every playout counts as an evaluation, also of a known position."""
        best, second = nlargest(2, [*self._root.visits, 0, 0])
        return SearchStats(
            playouts=self._playouts,
            evaluations=self._playouts,
            depth=round(self._depth_sum / max(1, self._playouts)),
            max_depth=self._max_depth,
            nodes=len(self._nodes),
            capacity=self._capacity,
            is_proven=False,
            is_exhausted=False,
            hashfull=min(1000, 1000 * len(self._nodes) // self._capacity),
            lead=best - second,
        )


def _line(node: Node | None) -> list[Move]:
    """Returns the most visited moves after a node."""
    line: list[Move] = []
    while node is not None and any(node.visits):
        i = node.visits.index(max(node.visits))
        line.append(node.moves[i])
        node = node.children[i]
    return line
