"""Tic-tac-toe: rules and known numbers."""

from collections.abc import Iterator
from random import Random

from goryu.games.state import Move, Outcome
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


def test_equal_positions_have_equal_keys_whatever_the_order_of_moves() -> None:
    assert TicTacToe([0, 1, 2]).key == TicTacToe([2, 1, 0]).key
    assert TicTacToe([0, 1, 2]).key != TicTacToe([1, 0, 2]).key


def test_pop_undoes_push_exactly() -> None:
    rng = Random(1)
    for _ in range(200):
        state, seen = TicTacToe(), []
        while state.outcome() is None:
            seen.append((state.own, state.opponent, state.key, state.ply, state.turn, state.legal_moves()))
            state.push(rng.choice(state.legal_moves()))
        while seen:
            state.pop()
            assert seen.pop() == (
                state.own, state.opponent, state.key, state.ply, state.turn, state.legal_moves()
            )  # fmt: skip


def test_a_copy_goes_its_own_way() -> None:
    state = TicTacToe([4, 0])
    copy = state.copy()
    copy.push(Move(8))
    assert (state.ply, state.legal_moves()) == (2, [1, 2, 3, 5, 6, 7, 8])
    assert copy.pop() == 8
    assert copy.key == state.key


def test_only_the_player_who_has_just_moved_can_have_won() -> None:
    for state in reachable(TicTacToe(), set()):
        assert state.outcome() in (None, Outcome(-1.0, "three in a row"), Outcome(0.0, "full board"))
        assert (state.outcome() is None) == bool(state.legal_moves())
