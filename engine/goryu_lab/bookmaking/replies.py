"""Counts in game records what opponents play in each position."""

from collections.abc import Iterable

from goryu.implementation import Board
from goryu.kifu.record import GameRecord
from goryu.players.books.book import position_of


def count_replies(games: Iterable[GameRecord], plies: int) -> dict[str, dict[str, int]]:
    """Returns how often each move was played, by the position (SFEN without the move number).

    plies: how many moves of each game count.
    """
    replies: dict[str, dict[str, int]] = {}
    for game in games:
        board = Board(game.start)
        for move in game.moves[:plies]:
            counts = replies.setdefault(position_of(board.sfen()), {})
            counts[move] = counts.get(move, 0) + 1
            board.push_usi(move)
    return replies
