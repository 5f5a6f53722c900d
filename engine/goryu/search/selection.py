"""The PUCT formula: which move a playout takes at a node.

    score(a) = Q(a) + c(N) * P(a) * sqrt(N) / (1 + N(a))
    c(N) = c_init + c_factor * ln((N + c_base + 1) / c_base)

N is the visit count of the node and N(a) that of the move; both include playouts in flight, which still wait
for their evaluation. Q(a) includes only completed playouts. A move without any is assumed to have a lower
value than the node, the lower the more prior mass has been visited (first play urgency):

    Q(unvisited) = max(-1, Q - fpu_reduction * sqrt(sum of P over the visited moves))

Two variations are off unless the formula asks for them. `stdev_factor` multiplies c(N): where the values
behind Q differ much, a few visits say little, and the search should look wider. And the value of an untried
move may start from V, the evaluation of the node, instead of Q. The more prior mass the search has
visited, the more Q counts.

AlphaZero's c_init = 1.25 and c_factor = 1 are for values in [0, 1]. In [-1, +1] differences of Q are twice
as large, so the factors are 2.5 and 2.
Sources: Rosin, 2011; Silver et al., 2018 (c grows with N); Gelly and Wang, 2006 (first play urgency); lc0
(its reduction by the prior mass); KataGo (both variations: `parentUtilityStdevFactor`,
`fpuParentWeightByVisitedPolicy`).
"""

from collections.abc import Set
from math import inf, log, sqrt

from goryu.search.config import Formula
from goryu.search.node import Node
from goryu.search.node_table import NodeTable

__all__ = ["exploration", "select", "stdev_factor", "untried_value"]

STDEV_PRIOR = 0.22
"""The standard deviation that needs no scaling: the mean of our network, weighted by visits (0.20 to 0.24).
For KataGo's network it is 0.40. Another number would mostly change what C_init and the scale mean."""

STDEV_PRIOR_VISITS = 2.0
"""How many visits the prior counts as."""


def select(table: NodeTable, node: Node, formula: Formula, closed: Set[int] = frozenset()) -> int:
    """Returns the index of the move with the greatest score, the first of equals; -1 if no move is open.

    closed: indices of moves that must not be selected. Moves proven to lose are closed, too.
    """
    untried = untried_value(node, formula)
    explore = exploration(node.total_visits + node.in_flight, formula) * stdev_factor(node, formula)
    best, best_score = -1, -inf
    for i in range(len(node.moves)):
        if i in closed or table.is_lost(node, i):
            continue
        q = table.edge_value(node, i) if node.visits[i] else untried
        score = q + explore * node.priors[i] / (1 + node.visits[i] + node.pending[i])
        if score > best_score:
            best, best_score = i, score
        if i >= node.tried:
            break  # Moves are sorted by prior, so no later untried move has a greater score.
    return best


def untried_value(node: Node, formula: Formula) -> float:
    """Returns the value that is assumed of a move without a completed playout."""
    prior_mass = 0.0
    for i in range(node.tried):
        if node.visits[i] + node.pending[i]:
            prior_mass += node.priors[i]
    own_share = formula.fpu_own_share * (1.0 - min(1.0, prior_mass * prior_mass))
    value = node.value + own_share * (node.raw_value - node.value)
    return max(-1.0, value - formula.fpu_reduction * sqrt(prior_mass))


def exploration(visits: int, formula: Formula) -> float:
    """Returns c(N) * sqrt(N)."""
    c = formula.c_init + formula.c_factor * log((visits + formula.c_base + 1.0) / formula.c_base)
    return c * sqrt(visits)


def stdev_factor(node: Node, formula: Formula) -> float:
    """Returns by what the spread of the values behind Q scales c(N); 1 for a node without visited moves."""
    visits = node.total_visits
    if formula.stdev_scale == 0.0 or visits <= 1:
        return 1.0
    square = node.value * node.value
    prior = STDEV_PRIOR_VISITS * (square + STDEV_PRIOR * STDEV_PRIOR)
    mean_square = (prior + visits * max(node.mean_square, square)) / (STDEV_PRIOR_VISITS + visits - 1.0)
    stdev = sqrt(max(0.0, mean_square - square))
    return 1.0 + formula.stdev_scale * (stdev / STDEV_PRIOR - 1.0)
