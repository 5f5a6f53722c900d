"""Minimax: search the whole game, one side maximising and the other minimising.

If both sides play their best, the value of a position is the greatest (for the one side) or the smallest (for
the other) of the values of the positions that its moves lead to. Because one side's win is the other's loss,
the smallest value is the negated greatest of the negated values; `negamax` writes that down once and serves
both sides.

Weakness: it visits everything. Tic-tac-toe has 549,946 nodes; larger games never finish.
Source: C. E. Shannon, "Programming a Computer for Playing Chess", Philosophical Magazine, 1950; the theorem
is J. von Neumann's, 1928.
"""

from goryu.games.state import Move, State

__all__ = ["best_move", "minimax", "negamax"]


def minimax(state: State, is_maximising: bool = True) -> float:
    """Returns the value of the game under best play, seen from the maximising side.

    The side to move is the maximising side if `is_maximising`, else the other one.
    """
    outcome = state.outcome()
    if outcome is not None:
        return outcome.value if is_maximising else -outcome.value
    values = []
    for move in state.legal_moves():
        state.push(move)
        values.append(minimax(state, not is_maximising))
        state.pop()
    return max(values) if is_maximising else min(values)


def negamax(state: State) -> float:
    """Returns the value of the game under best play, seen from the side to move."""
    outcome = state.outcome()
    if outcome is not None:
        return outcome.value
    best = -1.0
    for move in state.legal_moves():
        state.push(move)
        best = max(best, -negamax(state))
        state.pop()
    return best


def best_move(state: State) -> Move:
    """Returns the move of greatest value, the first one if several tie; there must be one."""

    def value(move: Move) -> float:
        state.push(move)
        result = -negamax(state)
        state.pop()
        return result

    return max(state.legal_moves(), key=value)
