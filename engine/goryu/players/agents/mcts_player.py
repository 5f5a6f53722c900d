"""MCTS_player, the search of python-dlshogi, with its order of moves and its table.

PUCT on one position at a time. It differs from `search/puct_tree.py`: N is the number of playouts through a
node, without the node's own evaluation, so the first of them, with N = 0, takes the first move of the list;
an untried move has a win rate of a half; and positions that two move orders reach are one node, whose value
the second way takes over when it gets there first. The list is in the order of python-shogi. Nothing is
proven, repetitions and limits of moves are not seen, and a search ends when the table is full.

Weakness: the first playout of each node is spent on a pawn at the edge.
Source: 山岡忠夫『将棋AIで学ぶディープラーニング』, 2018, `pydlshogi/player/mcts_player.py`.
"""

from collections.abc import Callable, Container
from heapq import nlargest
from math import sqrt

from goryu.games.shogi import move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.agents.searcher import TextbookSearcher
from goryu.search.evaluator import Evaluator
from goryu.search.result import RootMove, SearchResult, SearchStats

C_PUCT = 2.0
"""The program's 1 is for win rates; in [-1, +1] differences of Q are twice as large."""

FULL = 0.9
"""The share of the table at which a search ends."""


class Node:
    """A position: P, N and the sum of values of each of its moves, for the side to move here."""

    __slots__ = ("children", "moves", "playouts", "priors", "value", "value_sums", "visits")

    def __init__(self, moves: list[Move], priors: list[float], value: float) -> None:
        self.moves = moves
        self.priors = priors
        self.value = value  # V, or -1 if there is no move.
        self.playouts = 0  # N
        self.visits = [0] * len(moves)  # N(a)
        self.value_sums = [0.0] * len(moves)  # N(a) * Q(a)
        self.children: list[Node | None] = [None] * len(moves)

    def select(self, closed: Container[int] = ()) -> int:
        """Returns the index of the move with the greatest score, the first of equals.

        closed: indices of moves that must not be played.
        """
        explore = C_PUCT * sqrt(self.playouts)
        return max(
            (i for i in range(len(self.moves)) if i not in closed),
            key=lambda i: self.mean(i) + explore * self.priors[i] / (1 + self.visits[i]),
        )

    def mean(self, i: int) -> float:
        """Returns Q(a) of move `i`, 0 if it is untried."""
        return self.value_sums[i] / self.visits[i] if self.visits[i] else 0.0


def in_order(board: Board) -> list[Move]:
    """Returns the legal moves in the order in which python-shogi generates them."""
    import shogi  # A quarter of a second, which the answer to `usi` has not got.

    places = {move.usi(): i for i, move in enumerate(shogi.Board(board.sfen()).pseudo_legal_moves)}
    return sorted(board.legal_moves(), key=lambda move: places[move_to_usi(move)])


class MctsPlayerSearcher(TextbookSearcher):
    """Keeps its table of nodes between moves: `kept` is that of the search before, by key of position.

    capacity: nodes of the table.
    """

    def __init__(self, evaluator: Evaluator, capacity: int, kept: "MctsPlayerSearcher | None" = None) -> None:
        self.evaluator = evaluator
        self._capacity = capacity
        self._nodes: dict[int, Node] = dict(kept._nodes) if kept and kept.evaluator is evaluator else {}
        self._root = Node([], [], 0.0)
        self._closed: set[int] = set()  # Indices of root moves that must not be played.
        self._playouts = self._evaluations = self._depth_sum = self._max_depth = 0

    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        self._forget_all_but(self._nodes.get(state.key))
        self._root = self._node(state)
        self._closed = {i for i, move in enumerate(self._root.moves) if move not in moves}
        while self._playouts < most and len(self._nodes) <= FULL * self._capacity and not should_stop():
            self._simulate(state.copy())

    def _simulate(self, state: Board) -> None:
        """Runs one playout; `state` ends up at its leaf."""
        path: list[tuple[Node, int]] = []
        node, is_new = self._root, False
        while node.moves and not is_new:
            i = node.select(() if path else self._closed)
            path.append((node, i))
            state.push(node.moves[i])
            child = node.children[i]
            is_new = child is None
            child = child or self._node(state)
            node.children[i] = node = child
        self._playouts += 1
        self._depth_sum += len(path)
        self._max_depth = max(self._max_depth, len(path))
        value = node.value
        for parent, i in reversed(path):
            value = -value
            parent.playouts += 1
            parent.visits[i] += 1
            parent.value_sums[i] += value

    def _node(self, state: Board) -> Node:
        """Returns the node of a position, which the table may know by another order of moves."""
        node = self._nodes.get(state.key)
        if node is None:
            node = self._nodes[state.key] = self._evaluated(state)
        return node

    def _evaluated(self, state: Board) -> Node:
        if not (moves := state.legal_moves()):
            return Node([], [], -1.0)
        evaluation = self.evaluator.evaluate([state])[0]
        self._evaluations += 1
        priors, order = dict(zip(moves, evaluation.policy, strict=True)), in_order(state)
        return Node(order, [priors[move] for move in order], evaluation.value)

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
        """Returns the moves that may be played, the most visited first."""
        root = self._root
        order = sorted({*range(len(root.moves))} - self._closed, key=lambda i: (-root.visits[i], i))
        moves = tuple(
            RootMove(
                root.moves[i], root.priors[i], root.visits[i], root.mean(i), None,
                (root.moves[i], *_line(root.children[i])),
            )
            for i in order
        )  # fmt: skip
        return SearchResult(moves, moves[0].value, self.stats())

    def stats(self) -> SearchStats:
        """Returns the counters."""
        best, second = nlargest(2, [*self._root.visits, 0, 0])
        return SearchStats(
            playouts=self._playouts,
            evaluations=self._evaluations,
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
    while node is not None and node.playouts:
        i = node.visits.index(max(node.visits))
        line.append(node.moves[i])
        node = node.children[i]
    return line
