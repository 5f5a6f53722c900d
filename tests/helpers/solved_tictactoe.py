"""Tic-tac-toe, solved by plain minimax with a memory."""

from collections.abc import Iterator
from functools import cache

from goryu.games.state import Move
from goryu.games.tictactoe import TicTacToe


class CountingTicTacToe(TicTacToe):
    pushes = 0

    def push(self, move: Move) -> None:
        CountingTicTacToe.pushes += 1
        super().push(move)


@cache
def solved() -> dict[tuple[int, int], float]:
    """The value of every reachable position that is not over."""
    values: dict[tuple[int, int], float] = {}

    def solve(state: TicTacToe) -> float:
        outcome = state.outcome()
        if outcome is not None:
            return outcome.value
        key = (state.own, state.opponent)
        if key not in values:
            best = -1.0
            for move in state.legal_moves():
                state.push(move)
                best = max(best, -solve(state))
                state.pop()
            values[key] = best
        return values[key]

    solve(TicTacToe())
    return values


def positions(from_ply: int = 0) -> Iterator[TicTacToe]:
    for own, opponent in solved():
        state = TicTacToe()
        state.own, state.opponent = own, opponent
        state.move_stack = [Move(0)] * (own | opponent).bit_count()
        if state.ply >= from_ply:
            yield state
