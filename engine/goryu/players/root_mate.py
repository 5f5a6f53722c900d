"""The mate at the root, which the player looks for before it searches."""

from collections.abc import Callable, Sequence

from goryu.games.state import Move
from goryu.implementation import Board, mate_in_one, solve
from goryu.players.reply_mates import SHORTENING_NODES
from goryu.search.mates.mate import Mate, MateVerdict


def mate_at_root(
    board: Board,
    nodes: int,
    should_stop: Callable[[], bool],
    *,
    root_moves: Sequence[Move] = (),
    longest: int,
) -> Mate | None:
    """Returns a mate, or the winning move of the try rule, if a short search finds one.

    nodes: the budget; 0 looks for nothing. root_moves: the only first moves; empty for all.
    longest: the most plies of a mate that counts.
    """
    if nodes == 0:
        return None
    move = board.try_move()
    if move is None:
        move = mate_in_one(board)
    if move is not None:
        mate = Mate(MateVerdict.MATE, (move,), 1)
    else:
        mate = solve(board, nodes, should_stop, SHORTENING_NODES)
    if mate.verdict is not MateVerdict.MATE or len(mate.moves) > longest:
        return None
    return mate if not root_moves or mate.moves[0] in root_moves else None
