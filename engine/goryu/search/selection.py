"""The PUCT formula: which move a playout takes at a node.

    score(a) = Q(a) + c(N) * P(a) * sqrt(N) / (1 + N(a))
    c(N) = c_init + c_factor * ln((N + c_base + 1) / c_base)
N counts the node's visits and N(a) the move's, both with those that still await their
evaluation; Q(a) knows only the completed ones. A move that has none is assumed to be worth
less than the node, by more the more prior mass has been tried (first play urgency):
    Q(untried) = max(-1, Q - reduction * sqrt(sum of P over the moves with N(a) > 0))
AlphaZero's numbers, 1.25 for c_init and 1 for c_factor, are for values in [0, 1]; in [-1, +1],
where Q differs by twice as much, they are 2.5 and 2.
Sources: Rosin, 2011; Silver et al., 2018 (c growing with N); Gelly and Wang, 2006 (first play
urgency), lc0 (its reduction by the prior mass).
"""

from collections.abc import Set
from math import inf, log, sqrt

from goryu.search.config import PuctConfig
from goryu.search.node_table import Node, NodeTable

__all__ = ["exploration", "select", "untried_value"]


def select(
    table: NodeTable, node: Node, config: PuctConfig, is_root: bool, masked: Set[int] = frozenset()
) -> int:
    """Returns the index of the move with the greatest score, the first if tied, or -1 if none is open.

    Closed are the `masked` moves and those proven to lose, at the root also those proven to
    win: there is nothing left to learn from them.
    """
    untried = untried_value(node, config.fpu_reduction_root if is_root else config.fpu_reduction)
    explore = exploration(node.total_visits + node.in_flight, config, is_root)
    best, best_score = -1, -inf
    for i in range(len(node.moves)):
        if i in masked or table.is_lost(node, i) or (is_root and table.is_won(node, i)):
            continue
        q = table.edge_value(node, i) if node.visits[i] else untried
        score = q + explore * node.priors[i] / (1 + node.visits[i] + node.pending[i])
        if score > best_score:
            best, best_score = i, score
        if i >= node.tried:
            break  # The first move that was never tried: the others have no greater prior.
    return best


def untried_value(node: Node, reduction: float) -> float:
    """Returns the value that is assumed of a move without a completed visit."""
    prior_mass = 0.0
    for i in range(node.tried):
        if node.visits[i] + node.pending[i]:
            prior_mass += node.priors[i]
    return max(-1.0, node.value - reduction * sqrt(prior_mass))


def exploration(visits: int, config: PuctConfig, is_root: bool) -> float:
    """Returns c(N) * sqrt(N)."""
    c_init = config.c_init_root if is_root else config.c_init
    c_base = config.c_base_root if is_root else config.c_base
    return (c_init + config.c_factor * log((visits + c_base + 1.0) / c_base)) * sqrt(visits)
