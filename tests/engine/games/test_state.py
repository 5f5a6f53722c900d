"""The facts of every game on which the search relies: see `State` in games/state.py."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import pytest

from goryu.games.reversi import PASS, Reversi
from goryu.games.shogi import Board, EnteringKingRule, Rules, make_drop, make_move, move_from, move_to
from goryu.games.shogi import is_drop as is_shogi_drop
from goryu.games.state import Move, State
from goryu.games.tictactoe import LINES, TicTacToe

SHORT = Rules(EnteringKingRule.NoEnteringKing, max_ply=120)
# Left and right are mirror images here; the start position of shogi is not.
SYMMETRIC_SHOGI = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/9/LNSGKGSNL b R 1"


@dataclass(frozen=True)
class Game:
    """A game under test.

    make: a new game. mirror: the image of a move under a symmetry of the start position.
    winner: who has won a finished game, counted from the board itself; None for a draw.
    """

    make: Callable[[], State]
    mirror: Callable[[Move], Move]
    winner: Callable[[State], int | None]


def tictactoe_winner(state: State) -> int | None:
    assert isinstance(state, TicTacToe)
    for stones, player in ((state.own, state.turn), (state.opponent, 1 - state.turn)):
        if any(stones & line == line for line in LINES):
            return player
    return None


def reversi_winner(state: State) -> int | None:
    assert isinstance(state, Reversi)
    own, opponent = state.own.bit_count(), state.opponent.bit_count()
    return None if own == opponent else state.turn if own > opponent else 1 - state.turn


def shogi_winner(state: State) -> int | None:
    if not state.legal_moves():
        return 1 - state.turn
    repetition = state.repetition()
    return None if repetition is None or repetition.value == 0 else state.turn ^ (repetition.value < 0)


def mirror_shogi(move: Move) -> Move:
    def image(square: int) -> int:
        return 9 * (8 - square // 9) + square % 9

    if is_shogi_drop(move):
        return make_drop(move_from(move) - 81, image(move_to(move)))
    return make_move(image(move_from(move)), image(move_to(move)), move >> 14 == 1)


GAMES = {
    "tictactoe": Game(TicTacToe, lambda move: Move(8 - move), tictactoe_winner),
    "reversi 4x4": Game(
        lambda: Reversi(4), lambda move: move if move == PASS else Move(15 - move), reversi_winner
    ),
    "reversi 8x8": Game(Reversi, lambda move: move if move == PASS else Move(63 - move), reversi_winner),
    "shogi": Game(lambda: Board(SYMMETRIC_SHOGI, SHORT), mirror_shogi, shogi_winner),
}


@pytest.fixture(params=list(GAMES.values()), ids=list(GAMES))
def game(request: pytest.FixtureRequest) -> Game:
    chosen = request.param
    assert isinstance(chosen, Game)
    return chosen


def playouts(game: Game, seed: int, count: int = 6) -> Iterator[State]:
    """Yields the state at every ply of random games, the finished one included."""
    rng = Random(seed)
    for _ in range(count):
        state = game.make()
        while True:
            yield state
            if state.outcome() is not None:
                break
            state.push(rng.choice(state.legal_moves()))


def facts(state: State) -> tuple[object, ...]:
    """Returns everything that can be read from a state."""
    return (state.turn, state.ply, state.key, state.legal_moves(), state.outcome(), state.repetition())


def test_pop_returns_the_move_and_undoes_it_exactly(game: Game) -> None:
    for state in playouts(game, seed=1, count=3):
        if state.outcome() is None:
            before = facts(state)
            for move in state.legal_moves():
                state.push(move)
                state.legal_moves()
                assert state.pop() == move
            assert facts(state) == before


def test_moves_come_in_ascending_order_and_fit_16_bits(game: Game) -> None:
    for state in playouts(game, seed=3):
        moves = state.legal_moves()
        assert moves == sorted(set(moves))
        assert all(0 <= move < 1 << 16 for move in moves)


def test_the_list_of_moves_belongs_to_the_caller(game: Game) -> None:
    state = game.make()
    moves = state.legal_moves()
    state.legal_moves().clear()
    assert state.legal_moves() == moves


def test_a_game_that_goes_on_has_moves_and_players_take_turns(game: Game) -> None:
    last: tuple[int, int] | None = None
    for state in playouts(game, seed=4):
        assert state.turn in (0, 1)
        assert state.legal_moves() or state.outcome() is not None
        if last is not None and state.ply > 0:
            assert (state.turn, state.ply) == (1 - last[0], last[1] + 1)
        last = (state.turn, state.ply)


def test_a_result_is_for_the_side_to_move(game: Game) -> None:
    finished = [state.copy() for state in playouts(game, seed=5, count=20) if state.outcome() is not None]
    assert len(finished) == 20
    for state in finished:
        outcome, winner = state.outcome(), game.winner(state)
        assert outcome is not None
        assert outcome.value == (0.0 if winner is None else 1.0 if winner == state.turn else -1.0)
        assert outcome.reason.islower()


def test_a_copy_is_equal_and_independent(game: Game) -> None:
    rng = Random(7)
    for state in playouts(game, seed=7, count=2):
        before = facts(state)
        copy = state.copy()
        assert facts(copy) == before
        if state.outcome() is None:
            copy.push(rng.choice(copy.legal_moves()))
            assert facts(state) == before
            copy.pop()
            assert facts(copy) == before
        for _ in range(copy.ply - game.make().ply):
            copy.pop()
        assert facts(copy) == facts(game.make())
        assert facts(state) == before


def test_keys_are_64_bits_and_no_two_plies_of_a_game_share_one(game: Game) -> None:
    keys: list[int] = []
    for state in playouts(game, seed=9):
        if state.ply == 0:
            keys = []
        assert 0 <= state.key < 1 << 64
        keys.append(state.key)
        assert len(set(keys)) == len(keys)


def test_equal_moves_lead_to_equal_keys_and_different_moves_to_different_ones(game: Game) -> None:
    state = game.make()
    children = []
    for move in state.legal_moves():
        state.push(move)
        children.append(state.key)
        state.pop()
    assert len(set(children)) == len(children)
    again = game.make()
    again.push(again.legal_moves()[0])
    assert again.key == children[0]


def test_the_mirrored_game_has_the_mirrored_moves_and_the_same_result(game: Game) -> None:
    rng = Random(10)
    for _ in range(5):
        state, image = game.make(), game.make()
        while True:
            assert image.legal_moves() == sorted(game.mirror(move) for move in state.legal_moves())
            assert image.outcome() == state.outcome()
            if state.outcome() is not None:
                break
            move = rng.choice(state.legal_moves())
            state.push(move)
            image.push(game.mirror(move))
