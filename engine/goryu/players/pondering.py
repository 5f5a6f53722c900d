"""Stochastic pondering: a search of the position before the predicted move, for the opponent.

It thinks about every reply, and the graph that it leaves serves whichever the opponent plays.
Source: the option of the same name of YaneuraOu.
"""

from dataclasses import replace

from goryu.games.state import Move
from goryu.players.clock.limits import Limits
from goryu.players.request import Answer, Request
from goryu.players.session import ALL_MOVES, Session, Task
from goryu.search.result import RootMove, SearchResult


def wait(task: Task) -> Answer | None:
    """Searches nothing: returns None after `ponderhit`; after `stop` any move, which the GUI discards."""
    task.control.wait()
    return Answer(task.request.board.legal_moves()[0]) if task.control.hit is None else None


def ponders_on_all_replies(request: Request) -> bool:
    """Does the engine's own search ponder on the position before the predicted move?"""
    config, has_prediction = request.config, bool(request.board.move_stack)
    return config.algorithm.name == "puct" and config.ponders_on_all_replies and has_prediction


def before_prediction(request: Request) -> tuple[Request, Move]:
    """Returns the request of the position before the predicted move, and that move."""
    board = request.board.copy()
    predicted = board.pop()
    return replace(request, board=board, limits=Limits(infinite=True)), predicted


def ponder(session: Session, task: Task, predicted: Move) -> Answer | None:
    """Searches a request by `before_prediction` until `stop` or `ponderhit`.

    Returns None after `ponderhit`: the real search begins, on the graph found here. After `stop` returns a
    legal move of the predicted position, which the GUI discards.
    """
    session.search()
    task.control.wait()
    if task.control.hit is not None:  # Even if a `stop` came right after it.
        return None
    result = session.searcher.result(ALL_MOVES)
    for move in result.moves:
        if move.move == predicted and len(move.pv) > 1:
            return _after_predicted(move, result, session.elapsed_ms())
    board = task.request.board.copy()
    board.push(predicted)
    return Answer(board.legal_moves()[0])


def _after_predicted(predicted: RootMove, result: SearchResult, elapsed_ms: float) -> Answer:
    """Returns the answer to the predicted move, from a search of the position before it."""
    mate = _one_ply_later(predicted.mate)
    own = RootMove(predicted.pv[1], 1.0, predicted.visits, -predicted.value, mate, predicted.pv[1:])
    return Answer(own.move, result=replace(result, moves=(own,), value=own.value), elapsed_ms=elapsed_ms)


def _one_ply_later(mate: int | None) -> int | None:
    """Returns a mate distance after one more ply, seen from the other side."""
    return None if mate is None or abs(mate) == 1 else (1 - mate if mate > 0 else -1 - mate)
