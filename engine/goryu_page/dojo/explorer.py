"""The explorer: what was played in a position, in the games of the database and in the opening book.

All games form one graph: a position has one key whatever the moves that led to it, so lines with the same
position in another order of moves meet there (合流).
"""

from dataclasses import dataclass
from typing import Any

from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.players.books.opening_book import OpeningBook
from goryu_page.dojo.database import Database
from goryu_page.dojo.game_list import Filter, condition_of
from goryu_page.dojo.games import position_key

MOST_GAMES = 100
"""Games of a position that are listed, the newest first."""


@dataclass(slots=True)
class ExploredMove:
    """A move of a position.

    games: in which it was played here. black_wins, white_wins: of them; the rest ended in a draw or without a
        known result.
    meeting: games that reach the position after the move, by any order of moves.
    last: (number, date) of the newest game with the move.
    win_rate: mean win rate after it for the side that moves, in [0, 1], over the reviewed games; or None.
    book: (centipawns for the side that moves or None, search depth or None, count) of the opening book.
    """

    move: str
    games: int = 0
    black_wins: int = 0
    white_wins: int = 0
    meeting: int = 0
    last: tuple[int, str] | None = None
    win_rate: float | None = None
    book: tuple[int | None, int | None, int] | None = None


class Explorer:
    """Answers questions about positions. Any thread may use it."""

    def __init__(self, database: Database, book: OpeningBook | None) -> None:
        """book: None for none."""
        self._database = database
        self._book = book

    def moves(self, board: Board, wanted: Filter) -> list[ExploredMove]:
        """Returns the moves that games or the book have here: the most played first, then the book's order.

        Raises BookError: the book's entry cannot be read.
        """
        condition, values = condition_of(self._database, wanted)
        found = self._database.rows(
            "SELECT move, COUNT(*) AS games, SUM(winner IS 0) AS black_wins, SUM(winner IS 1) AS white_wins,"
            " AVG(rate) AS win_rate, MAX(date || ' ' || printf('%012d', id)) AS last FROM"
            " (SELECT p.move, games.id, games.winner, games.date,"
            "   MAX(p.rate) AS rate FROM positions AS p JOIN games ON games.id = p.game"
            f"  WHERE p.key = ? AND p.move != '' AND {condition} GROUP BY p.move, games.id)"
            " GROUP BY move ORDER BY games DESC, move",
            position_key(board.sfen()),
            *values,
        )
        moves: dict[str, ExploredMove] = {}
        for row in found:
            date, _, number = row["last"].rpartition(" ")
            moves[row["move"]] = ExploredMove(
                row["move"],
                row["games"],
                row["black_wins"],
                row["white_wins"],
                last=(int(number), date),
                win_rate=row["win_rate"],
            )
        for entry in self._book.find(board) if self._book else ():
            usi = move_to_usi(entry.move)
            moves.setdefault(usi, ExploredMove(usi)).book = (entry.eval_cp, entry.depth, entry.count)
        for move in moves.values():
            board.push_usi(move.move)
            move.meeting = self.count(board, wanted)
            board.pop()
        return list(moves.values())

    def count(self, board: Board, wanted: Filter) -> int:
        """Returns the number of games that reach a position."""
        condition, values = condition_of(self._database, wanted)
        rows = self._database.rows(
            "SELECT COUNT(DISTINCT p.game) AS games FROM positions AS p JOIN games ON games.id = p.game"
            f" WHERE p.key = ? AND {condition}",
            position_key(board.sfen()),
            *values,
        )
        return int(rows[0]["games"])

    def has_games(self) -> bool:
        """Has the database any game?"""
        return bool(self._database.rows("SELECT 1 FROM games LIMIT 1"))

    def games(self, board: Board, wanted: Filter) -> list[dict[str, Any]]:
        """Returns the games that reach a position, the newest first; `ply`: the moves before it."""
        condition, values = condition_of(self._database, wanted)
        rows = self._database.rows(
            "SELECT games.id, black, white, date, winner, MIN(p.ply) - 1 AS ply"
            " FROM positions AS p JOIN games ON games.id = p.game"
            f" WHERE p.key = ? AND {condition} GROUP BY games.id ORDER BY date DESC, games.id DESC LIMIT ?",
            position_key(board.sfen()),
            *values,
            MOST_GAMES,
        )
        return [dict(row) for row in rows]
