"""mate_in_one, solve: those of goryu.search.mates.mate, in C++."""

from goryu.search.mates.mate import Mate, MateVerdict
from goryu.search.mates.mate_table import CAPACITY as MATE_CAPACITY


def mate_in_one(Board board):
    """Returns the first move that mates at once, or None."""
    return core_mate_in_one(board.game[0]) or None


def solve(
    Board board, int64_t nodes, should_stop=None, int64_t shortening_nodes=0, int64_t capacity=MATE_CAPACITY
):
    """Searches a forced mate by the side to move, expanding at most `nodes` positions.

    shortening_nodes: further positions that may be expanded for a shorter mate, once one is found.
    capacity: entries of the table. If it forgets a part of the proof, more positions are expanded to find the
        line. `state` is as it was when the search returns.
    """
    if capacity < 1:
        raise ValueError(f"capacity {capacity}: expected at least 1")
    cdef MateSearch search
    cdef MateBudget budget
    # On a copy, which may be left anywhere if `should_stop` raises.
    cdef Board copy = board.copy()
    cdef PythonStopper* stopper = NULL
    cdef CoreVerdict verdict
    cdef MoveSpan line
    budget.nodes, budget.shortening_nodes, budget.capacity = nodes, shortening_nodes, <size_t>capacity
    if should_stop is not None:
        stopper = new PythonStopper(<PyObject*>should_stop)
    try:
        with nogil:
            verdict = search.solve(copy.game[0], budget, stopper)
    finally:
        del stopper
    line = search.line()
    moves = tuple([line[i] for i in range(line.size())])
    if verdict == CoreVerdict.kMate:
        return Mate(MateVerdict.MATE, moves, search.nodes())
    return Mate(MateVerdict.NO_MATE if verdict == CoreVerdict.kNoMate else MateVerdict.UNKNOWN, (), search.nodes())
