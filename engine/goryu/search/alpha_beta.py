"""Alpha-beta: minimax that leaves out what cannot matter.

While it searches the moves of a position, the search carries two bounds along: alpha, the value that the side
to move has already secured elsewhere, and beta, the value above which the opponent will not let the game come
here at all. As soon as one reply reaches beta, the remaining replies are of no interest, and the answer at
the root is still that of minimax.

Weakness: how much is left out depends on the order of the moves. With the best move always first, about the
square root of the nodes remain; with the worst first, all of them.
Source: D. E. Knuth, R. W. Moore, "An Analysis of Alpha-Beta Pruning", 1975; fail-soft is J. P. Fishburn's,
1983.
"""

from math import inf

from goryu.games.state import Move, State

__all__ = ["alpha_beta", "best_move"]


def alpha_beta(state: State, alpha: float = -1.0, beta: float = +1.0) -> float:
    """Returns the value of the game for the side to move, fail-soft.

    The value is exact if it lies strictly between alpha and beta. Otherwise it is a bound, as tight as the
    search could make it: an upper bound if it is <= alpha, a lower bound if it is >= beta. With the default
    window these are exact too: no result is worse than -1 or better than +1.
    """
    outcome = state.outcome()
    if outcome is not None:
        return outcome.value
    best = -inf
    for move in state.legal_moves():
        state.push(move)
        value = -alpha_beta(state, -beta, -max(alpha, best))
        state.pop()
        best = max(best, value)
        if best >= beta:
            break  # The opponent has something better earlier: this position is refuted.
    return best


def best_move(state: State) -> Move:
    """Returns the move of greatest value, the first one if several tie; there must be one.

    Each move is searched once, with the best value so far as its alpha. A later move whose bound only equals
    that value may be worse, so only a strictly greater value replaces it.
    """
    best, chosen = -inf, None
    for move in state.legal_moves():
        state.push(move)
        value = -alpha_beta(state, -1.0, -max(best, -1.0))
        state.pop()
        if value > best:
            best, chosen = value, move
        if best >= 1.0:
            break
    assert chosen is not None, "there is no legal move"
    return chosen
