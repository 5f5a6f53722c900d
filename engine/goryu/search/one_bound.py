"""Minimax with one bound: the step between minimax and alpha-beta.

While it searches the replies to a move, the search knows what the side that played the move has secured with
its other moves. A reply that holds it to no more than that refutes the move, and the remaining replies are
left out. Alpha-beta hands the same bound on to every later ply, too; here it reaches one ply only.

Weakness: it forgets what was secured two, four, ... plies above, and so misses the "deep" cuts of alpha-beta.
Source: D. E. Knuth, R. W. Moore, "An Analysis of Alpha-Beta Pruning", 1975 (the procedure F1).
"""

from goryu.games.state import Move, State

__all__ = ["best_move", "one_bound"]


def one_bound(state: State, bound: float = +1.0) -> float:
    """Returns the value of the game for the side to move: exact below `bound`, else a lower bound of it."""
    outcome = state.outcome()
    if outcome is not None:
        return outcome.value
    best = -1.0
    for move in state.legal_moves():
        state.push(move)
        best = max(best, -one_bound(state, -best))
        state.pop()
        if best >= bound:
            break  # The opponent has a move that is no worse for it, so it will not let the game come here.
    return best


def best_move(state: State) -> Move:
    """Returns the move of greatest value, the first one if several tie; there must be one."""
    best, chosen = -1.0, None
    for move in state.legal_moves():
        state.push(move)
        value = -one_bound(state, -best)
        state.pop()
        if chosen is None or value > best:
            best, chosen = value, move
    assert chosen is not None, "there is no legal move"
    return chosen
