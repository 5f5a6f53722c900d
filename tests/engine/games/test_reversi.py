"""Reversi: known move counts, a known result, and the rules written a second time, square by square."""

from random import Random

import pytest

from goryu.games.perft import perft
from goryu.games.reversi import PASS, Reversi


@pytest.mark.parametrize("depth, count", list(enumerate((4, 12, 56, 244, 1396, 8200, 55092), start=1)))
def test_perft(depth: int, count: int) -> None:
    assert perft(Reversi(), depth) == count


def flipped(state: Reversi, square: int) -> set[int]:
    """Returns the discs that a move flips, by the rules: follow each of the eight directions."""
    n = state.size
    row, column = divmod(square, n)
    result: set[int] = set()
    if (state.own | state.opponent) >> square & 1:
        return result
    for dr, dc in ((a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)):
        run, r, c = [], row + dr, column + dc
        while 0 <= r < n and 0 <= c < n and state.opponent >> r * n + c & 1:
            run.append(r * n + c)
            r, c = r + dr, c + dc
        if 0 <= r < n and 0 <= c < n and state.own >> r * n + c & 1:
            result.update(run)
    return result


@pytest.mark.parametrize("size", [4, 6, 8])
def test_moves_and_flips_agree_with_the_rules_square_by_square(size: int) -> None:
    rng = Random(size)
    for _ in range(40):
        state = Reversi(size)
        while moves := state.legal_moves():
            expected = [square for square in range(size * size) if flipped(state, square)]
            assert moves == (expected or [PASS])
            move = rng.choice(moves)
            flips = sum(1 << s for s in flipped(state, move)) if move != PASS else 0
            placed = 1 << move if move != PASS else 0
            own, opponent = state.own, state.opponent
            state.push(move)
            assert (state.opponent, state.own) == (own | flips | placed, opponent ^ flips)
        assert state.outcome() is not None


def test_equal_positions_have_equal_keys_whatever_the_order_of_moves() -> None:
    by_position: dict[tuple[int, int, int], int] = {}
    keys = set()

    def visit(state: Reversi, depth: int) -> None:
        position = (state.own, state.opponent, state.ply)
        assert by_position.setdefault(position, state.key) == state.key
        keys.add(state.key)
        for move in state.legal_moves() if depth else ():
            state.push(move)
            visit(state, depth - 1)
            state.pop()

    visit(Reversi(), 5)
    assert len(by_position) == len(keys) < 1 + 4 + 12 + 56 + 244 + 1396


def solve(state: Reversi, alpha: int, beta: int) -> int:
    """Returns the final disc difference for the side to move under perfect play (fail-soft)."""
    moves = state.legal_moves()
    best = -64 if moves else state.disc_difference()
    for move in moves:
        state.push(move)
        best = max(best, -solve(state, -beta, -max(alpha, best)))
        state.pop()
        if best >= beta:
            break
    return best


def test_white_wins_4x4_by_eleven_discs_to_three() -> None:
    assert solve(Reversi(4), -64, 64) == 3 - 11


FEINSTEIN_6X6 = (
    "c2 b4 c5 d2 e4 e3 d1 c1 b1 d5 d6 f4 b3 b2 f3 f2 e2 b6 a4 c6 a6 a2 b5 a5 e6 e5 a3 a1 f5 f6 pass e1 f1"
)
"""The line of perfect play that J. Feinstein published in 1993 after searching 40 billion positions."""


def test_perfect_play_on_6x6_ends_with_twenty_discs_of_white_to_sixteen() -> None:
    state = Reversi(6)
    for name in FEINSTEIN_6X6.split():
        names = {state.move_name(move): move for move in state.legal_moves()}
        state.push(names[name])
    assert state.outcome() is not None
    assert Reversi(6, state.move_stack).key == state.key
    assert state.turn == 1  # White is to move, so the own discs are White's.
    assert (state.own.bit_count(), state.opponent.bit_count()) == (20, 16)


def test_an_odd_board_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 4, 6 or 8"):
        Reversi(5)
