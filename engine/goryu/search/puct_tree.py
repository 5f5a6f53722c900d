"""PUCT on a tree: Monte Carlo tree search guided by a policy and a value (AlphaZero).

UCT tries every move before it prefers any, and plays a random game to evaluate a position. An evaluator
replaces both: its policy P rates the moves, and its value V replaces the random game. Each playout walks down
the tree by the move with the greatest score

    Q(a) + c * P(a) * sqrt(N) / (1 + N(a))

where N(a) counts the visits of a move and N those of its node, until it reaches a position that is not in the
tree. It evaluates this position (or takes the result, if the game is over) and adds the value to every move
on the way back, with the sign changed at each step. A move without a visit has the Q of its node, and N
counts the evaluation of the node. OJIMA Ryoji's article on AlphaZero has 0 for such a move and counts only
the visits of the moves (`untried_is_zero`).

Weakness: the evaluator evaluates one position at a time, though networks are fastest on batches; and a
position that two move orders reach is searched twice. `graph/puct.py` cures both.
Sources: Rosin, "Multi-armed Bandits with Episode Context", 2011; Silver et al., "A General Reinforcement
Learning Algorithm that Masters Chess, Shogi and Go", 2018.
"""

from math import sqrt

from goryu.games.state import Move, State
from goryu.search.evaluator import Evaluation, Evaluator

__all__ = ["Node", "best_move", "search"]

EXPLORATION = 2.5
"""c. AlphaZero's 1.25 is for values in [0, 1]; in [-1, +1] differences of Q are twice as large."""


class Node:
    """One position: P, N and the sum of values of each of its moves, for the side to move here.

    UCT's node has the statistics of the move that leads to it, this one those of its own moves. A playout is
    one walk down the tree; no random game follows it, as in UCT.
    """

    __slots__ = ("children", "moves", "priors", "value", "value_sums", "visits")

    def __init__(self, moves: list[Move], evaluation: Evaluation) -> None:
        self.moves = moves
        self.priors = evaluation.policy
        self.value = evaluation.value  # V
        self.visits = [0] * len(moves)  # N(a)
        self.value_sums = [0.0] * len(moves)  # N(a) * Q(a)
        self.children: list[Node | None] = [None] * len(moves)

    def untried(self, *, is_zero: bool) -> tuple[int, float]:
        """Returns N and the Q of a move without a visit.

        is_zero: is this Q 0, and N without the node's own evaluation?
        """
        n = sum(self.visits)
        if is_zero:
            return n, 0.0
        q_node = self.value
        for value_sum in self.value_sums:
            q_node += value_sum
        return 1 + n, q_node / (1 + n)

    def select(self, c: float, *, untried_is_zero: bool = False) -> int:
        """Returns the index of the move with the greatest score, the first of equals."""
        n, q_untried = self.untried(is_zero=untried_is_zero)

        def score(i: int) -> float:
            visits = self.visits[i]
            q = self.value_sums[i] / visits if visits else q_untried
            return q + c * self.priors[i] * sqrt(n) / (1 + visits)

        return max(range(len(self.moves)), key=score)


def search(
    state: State,
    evaluator: Evaluator,
    playouts: int,
    c: float = EXPLORATION,
    *,
    untried_is_zero: bool = False,
) -> Node:
    """Returns the root after `playouts` playouts; `state` must have a legal move and is left as it was."""
    root = Node(state.legal_moves(), evaluator.evaluate([state])[0])
    for _ in range(playouts):
        simulate(root, state.copy(), evaluator, c, untried_is_zero=untried_is_zero)
    return root


def simulate(
    root: Node, state: State, evaluator: Evaluator, c: float, *, untried_is_zero: bool = False
) -> None:
    """Runs one playout; `state` ends up at its leaf."""
    path: list[tuple[Node, int]] = []
    node: Node | None = root
    while node is not None:  # 1. Select.
        i = node.select(c, untried_is_zero=untried_is_zero)
        path.append((node, i))
        state.push(node.moves[i])
        outcome = state.outcome() or state.repetition()
        node = node.children[i] if outcome is None else None
    if outcome is not None:
        value = outcome.value
    else:  # 2. Expand and evaluate.
        evaluation = evaluator.evaluate([state])[0]
        parent, i = path[-1]
        parent.children[i] = Node(state.legal_moves(), evaluation)
        value = evaluation.value
    for parent, i in reversed(path):  # 3. Back up.
        value = -value
        parent.visits[i] += 1
        parent.value_sums[i] += value


def best_move(state: State, evaluator: Evaluator, playouts: int) -> Move:
    """Returns the most visited move, the first of equals; `state` must have a legal move.

    >>> from goryu.evaluators.uniform import UniformEvaluator
    >>> from goryu.games.tictactoe import TicTacToe
    >>> best_move(TicTacToe([0, 3, 1, 4]), UniformEvaluator(), playouts=50)
    2
    """
    root = search(state, evaluator, playouts)
    return root.moves[root.visits.index(max(root.visits))]
