"""UCT: Monte Carlo tree search whose moves are chosen by UCB1.

Flat Monte Carlo spends as much on bad moves as on good ones and never learns the opponent's replies. UCT
cures both. In every position it treats the moves as the arms of a bandit: it prefers the best average so far,
plus a bonus that shrinks as a move is tried. A leaf that has been visited often enough gets children, so the
tree grows where both sides want to go, and the values tend to those of minimax.

The four phases of an iteration are those of the survey by Browne et al., but a leaf is expanded last: it gets
its children at the end of its visit number `expand_at`, so that every iteration simulates one game.

Weakness: every move must be tried before any is preferred, and a random game says little about a quiet
position. PUCT replaces the first by a policy and the second by a value.
Sources: L. Kocsis, C. Szepesvari, "Bandit Based Monte-Carlo Planning", 2006; UCB1: P. Auer, N. Cesa-Bianchi,
P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", 2002; C. Browne et al., "A Survey of
Monte Carlo Tree Search Methods", 2012.
"""

from math import inf, log, sqrt
from random import Random

from goryu.games.state import Move, State
from goryu.search.flat_monte_carlo import Playout, playout

__all__ = ["UCB1_CONSTANT", "Node", "best_move", "search"]

UCB1_CONSTANT = 2.0 * sqrt(2.0)
"""UCB1's bonus is sqrt(2 ln t / n) for rewards in [0, 1]; results in [-1, +1] have twice that range."""


class Node:
    """Statistics of one position, seen from the player who moved into it.

    children: the positions after each move; empty as long as the node is a leaf, and where the game is over.
    """

    __slots__ = ("children", "value_sum", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.value_sum = 0.0
        self.children: dict[Move, Node] = {}

    def expand(self, state: State) -> None:
        self.children = {move: Node() for move in state.legal_moves()}

    def ucb1(self, log_parent_visits: float, c: float) -> float:
        """Returns the mean value plus the exploration bonus; an untried move comes first."""
        if self.visits == 0:
            return inf
        return self.value_sum / self.visits + c * sqrt(log_parent_visits / self.visits)

    def select(self, c: float) -> Move:
        """Returns the move of greatest UCB1, the first one if several tie."""
        log_visits = log(max(1, self.visits))  # The root has no visit at first.
        return max(self.children, key=lambda move: self.children[move].ucb1(log_visits, c))


def search(
    state: State,
    iterations: int,
    rng: Random,
    c: float = UCB1_CONSTANT,
    expand_at: int = 1,
    play: Playout | None = None,
) -> Node:
    """Returns the root of the tree after `iterations` random games; `state` is left as it is.

    expand_at: visits at which a leaf gets children; more than 1 saves memory and costs strength. With more
        than `iterations` the tree stays one ply deep: flat Monte Carlo with a better choice of games.
    play: plays the games from the leaves; None: at random.
    """
    root = Node()
    root.expand(state)
    for _ in range(iterations):
        simulate(root, state.copy(), rng, c, expand_at, play)
    return root


def simulate(
    root: Node, state: State, rng: Random, c: float, expand_at: int, play: Playout | None = None
) -> None:
    """Runs one iteration; `state` ends up at the leaf."""
    path = [root]
    while path[-1].children:  # 1. Select.
        move = path[-1].select(c)
        state.push(move)
        path.append(path[-1].children[move])
    leaf = path[-1]
    value = -(play or playout)(state, rng)  # 2. Simulate; for the player who moved into the leaf.
    for node in reversed(path):  # 3. Back up.
        node.visits += 1
        node.value_sum += value
        value = -value
    if leaf.visits >= expand_at and not is_over(state):  # 4. Expand.
        leaf.expand(state)


def is_over(state: State) -> bool:
    """Does a playout end here? Shogi has legal moves even then: a repetition takes none away."""
    return state.outcome() is not None or state.repetition() is not None


def best_move(
    state: State,
    iterations: int,
    rng: Random,
    c: float = UCB1_CONSTANT,
    expand_at: int = 1,
) -> Move:
    """Returns the most visited move, the first one if several tie; there must be a legal move.

    The count is steadier than the mean: a move tried twice may have a mean of +1.
    """
    children = search(state, iterations, rng, c, expand_at).children
    return max(children, key=lambda move: children[move].visits)
