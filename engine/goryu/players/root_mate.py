"""The mate at the root, which the player looks for before it searches."""

from collections.abc import Callable, Sequence

from goryu.games.state import Move
from goryu.implementation import Board, mate_in_one, solve
from goryu.players.graph_search import GraphSearch
from goryu.players.position import legal_reply
from goryu.players.reply_mates import SHORTENING_NODES
from goryu.players.request import Answer
from goryu.players.session import Session, Task
from goryu.search.mates.mate import Mate, MateVerdict
from goryu.search.result import RootMove, SearchResult

ROOT_MATE_SHARE = 0.05
"""How much of the time for a move the search for a mate at the root may take."""

OPEN_MATE_MS = 300.0
"""Its time in an analysis, and while pondering: the GUI gets no info line before its end."""

LONGEST_MATE = 1 << 30
"""More plies than any mate has."""


def answer_by_mate(
    session: Session, search: GraphSearch, nodes: int, longest: int = LONGEST_MATE
) -> Answer | None:
    """Returns the first move of a mate as the answer, or None if a short search finds none.

    Where the search has to show more than this move, it gets the mating line, and None is returned.

    nodes, longest: as in `mate_at_root`.
    """
    task, limits = session.task, session.task.request.limits
    end_ms = OPEN_MATE_MS if limits.is_open else ROOT_MATE_SHARE * task.time_manager.soft_ms

    def should_stop() -> bool:
        is_late = task.control.is_stopped or session.elapsed_ms() >= end_ms
        return is_late or (limits.ponder and task.control.hit is not None)  # Our own clock runs now.

    mate = mate_at_root(task.request.board, nodes, should_stop, root_moves=limits.root_moves, longest=longest)
    if mate is None:
        return None
    if _may_answer_at_once(task):
        return _mating_answer(session, search, mate)
    search.mating_line = mate.moves
    return None


def _may_answer_at_once(task: Task) -> bool:
    """May a mate be the answer? Analyses, several lines and declarations need the search."""
    limits = task.request.limits
    is_declared = task.known is not None and task.known.declares
    return not (limits.infinite or limits.root_moves or task.request.config.output.lines > 1 or is_declared)


def _mating_answer(session: Session, search: GraphSearch, mate: Mate) -> Answer:
    """Returns the first move of a mate as the answer, without a search."""
    depth = len(mate.moves)
    best = RootMove(mate.moves[0], 1.0, mate.nodes, 1.0, depth, mate.moves)
    stats = search.stats()._replace(  # `info` shows the positions of the mate search.
        playouts=mate.nodes, evaluations=mate.nodes, depth=depth, max_depth=depth, is_proven=True
    )
    result = SearchResult((best,), best.value, stats)
    board = session.task.request.board
    return Answer(best.move, legal_reply(board, best), result, session.elapsed_ms())


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
