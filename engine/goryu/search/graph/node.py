"""Nodes: what the search knows of one position.

Read first: moves, priors, visits, children, value. An *edge* is a node's move with its statistics. A playout
is *in flight*, and *pending* on the edges of its path, until its evaluation has come (`batch.py`). `values`
and `proofs` repeat what the children say, so that selection need not visit them. The three `raw_` numbers are
what the node knows without its children: one evaluation, or in a folded node the mean of all that it has
forgotten (`forgetting.py`). Most numbers are rounded, because the nodes of the C++ search are packed, and
both searches must choose alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from struct import pack, unpack

from goryu.games.state import Move, State
from goryu.search.evaluator import Evaluation

__all__ = ["DRAW", "LOSS", "UNKNOWN", "WIN", "Node", "RepetitionStats", "half", "new_node", "single"]

UNKNOWN, WIN, LOSS, DRAW = range(4)
"""The proven result of a node for its side to move, on every path to it; only UNKNOWN is falsy."""


def half(x: float) -> float:
    """Returns `x` rounded to half precision, in which nodes store priors."""
    return float(unpack("<e", pack("<e", x))[0])


def single(x: float) -> float:
    """Returns `x` rounded to single precision, in which nodes store V, variances and `values`."""
    return float(unpack("<f", pack("<f", x))[0])


@dataclass(slots=True)
class RepetitionStats:
    """Playouts that ended on an edge by repetition; values for the side that moved there."""

    visits: int = 0
    value_sum: float = 0.0
    square_sum: float = 0.0

    def add(self, value: float) -> None:
        """Counts one more playout."""
        self.visits += 1
        self.value_sum += value
        self.square_sum += value * value


class Node:
    """One position: its evaluation, and statistics of each of its moves.

    Values are for the side to move here. Moves are sorted by falling prior, ties by the move: all untried
    moves share one assumed value, so the first of them always has the greatest score.
    """

    __slots__ = (
        "children", "distance", "in_flight", "is_complete", "key", "moves", "pending", "ply", "priors",
        "proof", "proofs", "raw_value", "raw_variance", "raw_visits", "repetitions", "total_visits", "tried",
        "tried_prior", "value", "values", "variance", "visits",
    )  # fmt: skip

    def __init__(
        self, key: int, ply: int, moves: Sequence[Move], policy: Sequence[float], value: float
    ) -> None:
        priors = [half(p) for p in policy]
        order = sorted(range(len(moves)), key=lambda i: (-priors[i], moves[i]))
        self.key = key
        self.ply = ply
        self.raw_value = single(value)  # V
        self.raw_visits = 1  # The visits that V stands for.
        self.raw_variance = 0.0  # The variance of the values behind V.
        self.proof = UNKNOWN
        self.distance = 0  # Plies to the proven end.
        self.set_moves([moves[i] for i in order], [priors[i] for i in order])
        self.total_visits = 1  # N
        self.value = self.raw_value  # Q
        self.variance = 0.0  # The variance of the values behind Q.

    def set_moves(self, moves: list[Move], priors: list[float]) -> None:
        """Sets the moves, all of them untried."""
        self.moves = moves
        self.priors = priors
        self.visits = [0] * len(moves)  # N(a): completed playouts through each move.
        self.pending = [0] * len(moves)  # Playouts through each move that wait for their evaluation.
        self.children: list[Node | None] = [None] * len(moves)
        self.repetitions: dict[int, RepetitionStats] = {}  # By the index of the move.
        self.values = [0.0] * len(moves)  # Q(a) of each visited move when the node was last recomputed.
        self.proofs = [UNKNOWN] * len(moves)  # What was proven of each child then, for its side to move.
        self.tried = 0  # No playout ever took a move at this index or beyond; a root may mask some before.
        self.tried_prior = 0.0  # The sum of the priors of the tried moves.
        self.in_flight = 0  # The sum of `pending`.
        self.is_complete = True  # False: `moves` is the line that proves the node, not its legal moves.

    def edge_value(self, i: int) -> float:
        """Returns Q(a) of a visited move, for the side to move here."""
        child, repeated = self.children[i], self.repetitions.get(i)
        if repeated is None:
            assert child is not None, "a visited edge without repetition has a child"
            return -child.value
        if child is None:
            return repeated.value_sum / self.visits[i]
        return (repeated.value_sum + (self.visits[i] - repeated.visits) * -child.value) / self.visits[i]

    def child_visits(self, i: int) -> int:
        """Returns how many playouts through move `i` went on into its child."""
        return self.visits[i] - self.repetitions[i].visits if i in self.repetitions else self.visits[i]

    def set_proof(self, proof: int, distance: int, value: float) -> None:
        """Marks the node as proven."""
        self.proof, self.distance = proof, distance
        self.value, self.variance = value, 0.0

    def keep_line(self, line: Sequence[Move]) -> None:
        """Keeps no other moves of a proven node than the line that proves it."""
        self.set_moves(list(line), [1.0] * len(line))
        self.is_complete = False


def new_node(state: State, evaluation: Evaluation) -> Node:
    """Returns the node of an evaluated position."""
    return Node(state.key, state.ply, state.legal_moves(), evaluation.policy, evaluation.value)
