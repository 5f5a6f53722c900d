"""Tic-tac-toe: rules and known numbers."""

from collections.abc import Iterator

from goryu.games.state import Outcome
from goryu.games.tictactoe import TicTacToe


def reachable(state: TicTacToe, seen: set[tuple[int, int]]) -> Iterator[TicTacToe]:
    if (state.own, state.opponent) in seen:
        return
    seen.add((state.own, state.opponent))
    yield state
    for move in state.legal_moves():
        state.push(move)
        yield from reachable(state, seen)
        state.pop()


def count_games(state: TicTacToe) -> int:
    moves = state.legal_moves()
    total = 0 if moves else 1
    for move in moves:
        state.push(move)
        total += count_games(state)
        state.pop()
    return total


def test_there_are_5478_reachable_positions() -> None:
    assert sum(1 for _ in reachable(TicTacToe(), set())) == 5478


def test_there_are_255168_games() -> None:
    assert count_games(TicTacToe()) == 255_168


def test_different_positions_have_different_keys() -> None:
    keys = [state.key for state in reachable(TicTacToe(), set())]
    assert len(set(keys)) == len(keys)


def test_only_the_player_who_has_just_moved_can_have_won() -> None:
    for state in reachable(TicTacToe(), set()):
        assert state.outcome() in (None, Outcome(-1.0, "three in a row"), Outcome(0.0, "full board"))
        assert (state.outcome() is None) == bool(state.legal_moves())
