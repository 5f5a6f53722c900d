"""One bound: the value of minimax from fewer positions, but from more than alpha-beta."""

from random import Random

from goryu.games.reversi import Reversi
from goryu.games.state import State
from goryu.games.tictactoe import TicTacToe
from goryu.search import alpha_beta, minimax, one_bound
from goryu.search.counting import Counted


def test_the_value_and_the_move_are_those_of_minimax() -> None:
    rng = Random(3)
    for new, plies in ((TicTacToe, 3), (lambda: Reversi(4), 6)):
        for _ in range(4):
            state: State = new()
            for _ in range(plies):
                state.push(rng.choice(state.legal_moves()))
            if state.outcome() is None:
                assert one_bound.one_bound(state) == minimax.negamax(state)
                assert one_bound.best_move(state) == minimax.best_move(state)


def test_it_stands_between_minimax_and_alpha_beta() -> None:
    visited = []
    for search in (minimax.negamax, one_bound.one_bound, alpha_beta.alpha_beta):
        counted = Counted(TicTacToe([4, 1]))
        search(counted)  # type: ignore[arg-type]
        visited.append(counted.visited)
    assert visited[0] > visited[1] > visited[2]
