"""What a book file says about the positions of a graph."""

from goryu.games.shogi import move_from_usi
from goryu.players.books.book import BookMove, position_of
from goryu.players.score import centipawns
from goryu_lab.bookmaking.graph import BookGraph, BookNode


def book_entries(graph: BookGraph, eval_coef: int) -> dict[str, list[BookMove]]:
    """Returns the moves of every position that a start leads to, the best first, by SFEN.

    eval_coef: centipawns at which the odds to win are e : 1.

    Counts are visits. The depth is that of the book's line and of the search at its end.
    """
    return {
        f"{position_of(node.searched.sfen)} {node.ply + 1}": [
            _entry(graph, node, move.move, move.visits, move.reply, eval_coef)
            for move in graph.book_moves(node)
        ]
        for node in graph.reached()
    }


def _entry(graph: BookGraph, node: BookNode, move: str, visits: int, reply: str, eval_coef: int) -> BookMove:
    child = graph.child(node, move)
    if child is not None:
        reply = graph.book_moves(child)[0].move
    return BookMove(
        move_from_usi(move),
        move_from_usi(reply) if reply else None,
        centipawns(node.values[move], eval_coef),
        graph.depth_of(node, move),
        visits,
    )
