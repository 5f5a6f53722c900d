"""How many positions a search visits: without cuts, with them, and with the promising moves first.

Alpha-beta visits the fewest positions if the best move always comes first. Even a rule of thumb helps: first
the middle and the corners in tic-tac-toe, the corners in reversi, captures and promotions in shogi.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from goryu.games.given_tree import GivenTree
from goryu.games.reversi import Reversi as PythonReversi
from goryu.games.shogi import is_promotion, move_to
from goryu.games.shogi.pieces import EMPTY
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Reversi
from goryu.search import depth_limited
from goryu.search.counting import Counted
from goryu.search.evaluator import Evaluator
from goryu.table.positions import scale_of

Rank = Callable[[Move], float]
"""Returns a number for a move; the smaller, the earlier it is searched."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The positions that a search of `depth` plies visits, and the value that each way finds."""

    depth: int
    without_cuts: int
    with_cuts: int
    ordered: int
    value: float


def counts(state: State, depth: int, evaluator: Evaluator) -> Iterator[Counts]:
    """Yields the counts for 1, 2, ... `depth` plies; stops early once the whole game is searched."""
    leaves = 0

    def heuristic(position: object) -> float:
        assert isinstance(position, Counted)
        nonlocal leaves
        leaves += 1
        return evaluator.evaluate([position.state])[0].value

    for plies in range(1, depth + 1):
        leaves, found = 0, []
        for prunes, order in ((False, None), (True, None), (True, _promising_first)):
            position = Counted(state, order)
            value, _ = depth_limited.search(position, plies, heuristic, prunes=prunes)  # type: ignore[arg-type]
            found.append((position.visited, value))
        assert len({value for _, value in found}) == 1, "cuts and order never change the value"
        value = found[0][1] * scale_of(state)
        yield Counts(plies, found[0][0], found[1][0], found[2][0], value)
        if not leaves:
            return


def _promising_first(state: State) -> list[Move]:
    return sorted(state.legal_moves(), key=rank(state))


def rank(state: State) -> Rank:
    """Returns how promising the moves of a position are."""
    if isinstance(state, Board):
        pieces = state.pieces
        return lambda move: (pieces[move_to(move)] == EMPTY) - is_promotion(move)
    if isinstance(state, (Reversi, PythonReversi)):
        size = state.size
        return lambda move: _reversi_rank(move, size)
    if isinstance(state, GivenTree):
        return lambda _: 0
    assert isinstance(state, TicTacToe)
    return lambda move: 0 if move == 4 else 1 if move % 2 == 0 else 2


def _reversi_rank(move: Move, size: int) -> int:
    """Returns 0 for a corner, 2 for a square next to one, 1 for others."""
    if move >= size * size:  # A pass.
        return 1
    row, column = (min(x, size - 1 - x) for x in divmod(move, size))
    if row + column == 0:
        return 0
    return 2 if max(row, column) == 1 else 1
