"""mate_in_one, solve: twins of goryu.search.mate."""

from goryu.search.mate import Mate, MateVerdict


def mate_in_one(Board board):
    """Returns the first move that mates at once, or None."""
    return core_mate_in_one(board.game[0]) or None


def solve(Board board, int64_t nodes, should_stop=None):
    """Searches a forced mate by the side to move, expanding at most `nodes` positions.

    `board` is as it was when the search returns.
    """
    cdef MateSearch search
    # On a copy, which may be left anywhere if `should_stop` raises.
    cdef Board copy = board.copy()
    cdef PythonStopper* stopper = NULL
    cdef CoreVerdict verdict
    cdef MoveSpan line
    if should_stop is not None:
        stopper = new PythonStopper(<PyObject*>should_stop)
    try:
        with nogil:
            verdict = search.solve(copy.game[0], nodes, stopper)
    finally:
        del stopper
    line = search.line()
    moves = tuple([line[i] for i in range(line.size())])
    if verdict == CoreVerdict.kMate:
        return Mate(MateVerdict.MATE, moves, search.nodes())
    return Mate(MateVerdict.NO_MATE if verdict == CoreVerdict.kNoMate else MateVerdict.UNKNOWN, (), search.nodes())
