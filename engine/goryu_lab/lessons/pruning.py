"""What the steps from minimax to alpha-beta save, and what rotations and reflections save in addition."""

from collections.abc import Callable, Iterator

from goryu.games.state import State
from goryu.games.symmetric_tictactoe import SymmetricTicTacToe
from goryu.games.tictactoe import TicTacToe
from goryu.search.alpha_beta import alpha_beta
from goryu.search.counting import Counted
from goryu.search.minimax import negamax
from goryu.search.one_bound import one_bound

SEARCHES: dict[str, Callable[[State], float]] = {
    "minimax": negamax,
    "one bound": one_bound,
    "alpha-beta": alpha_beta,
}


def positions_visited() -> Iterator[tuple[str, int, int]]:
    """Yields a search and the positions of tic-tac-toe that it visits: every move, and one of each kind."""
    for name, search in SEARCHES.items():
        counted = Counted(TicTacToe()), Counted(SymmetricTicTacToe())
        values = {search(state) for state in counted}  # type: ignore[arg-type]
        assert values == {0.0}, "tic-tac-toe is a draw"
        yield name, counted[0].visited, counted[1].visited
