"""The view "Explorer": the user's games, other records and the book as one graph of positions."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from msgspec import Meta

from goryu.analysis.description import board_after, named_line, shown_position
from goryu.base.language import tr
from goryu.games.shogi import START_SFEN, MoveError, SfenError, move_from_usi
from goryu.implementation import Board
from goryu.kifu.notation import japanese_move, western_move
from goryu.players.books.book import BookError
from goryu.players.books.config import NO_BOOK
from goryu.players.books.opening_book import OpeningBook
from goryu_page.dojo.explorer import ExploredMove, Explorer
from goryu_page.dojo.game_list import Filter
from goryu_page.dojo.openings import opening_names, opening_of
from goryu_page.session.messages import MessageError
from goryu_page.session.session import Session, View, in_thread

MOST_PLIES = 500
"""Of the line that leads to the position."""


Line = Annotated[list[str], Meta(max_length=MOST_PLIES)]
"""Moves in USI, from an SFEN, or from the usual start for ""."""


class ExplorerView(View):
    """Answers for one position at a time; the page keeps the line."""

    name = "explorer"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._explorer: Explorer | None = None

    @in_thread
    def on_learn(self, moves: Line, learns: bool, start: str = "") -> None:
        """Adds the last of `moves` to the user's repertoire, or takes it out unless `learns`."""
        if not moves:
            raise MessageError("explorer.learn: moves: expected a line with a move")
        start, repertoire = start or START_SFEN, self.session.dojo.repertoire
        before = _board(start, moves)
        before.pop()
        if learns:
            repertoire.learn(start, moves[:-1], moves[-1])
        else:
            repertoire.forget(before, moves[-1])
        self.session.dojo.tell("train.changed")

    @in_thread
    def on_look(
        self,
        moves: Line,
        start: str = "",
        games: Literal["all", "mine", "records"] = "all",
        side: Literal["any", "black", "white"] = "any",
    ) -> dict[str, Any]:
        """Returns what is known about the position after a line. games: whose. side: the user's, in them."""
        wanted = Filter("" if games == "all" else games, side="" if side == "any" else side)
        start = start or START_SFEN
        board = _board(start, moves)
        explorer, repertoire = self._loaded(), self.session.dojo.repertoire
        known = repertoire.moves(board)
        try:
            found = explorer.moves(board, wanted)
        except BookError as error:
            raise MessageError(str(error)) from error
        found += [ExploredMove(move) for move in known if move not in {one.move for one in found}]
        return {
            **shown_position(board),
            "count": explorer.count(board, wanted),
            "hasGames": explorer.has_games(),
            "opening": opening_names(opening_of(start, moves)),
            "moves": [
                asdict(one)
                | {
                    "learnt": one.move in known,
                    "ja": japanese_move(board, move_from_usi(one.move)),
                    "en": western_move(board, move_from_usi(one.move)),
                }
                for one in found
            ],
            "line": named_line(board_after(start, ()), moves),
            "games": explorer.games(board, wanted),
            "isLastLearnt": bool(moves) and moves[-1] in repertoire.moves(_board(start, moves[:-1])),
        }

    def _loaded(self) -> Explorer:
        """Opens the database and the books at the first use; without a book the games still answer."""
        if self._explorer is None:
            book, file, problems = None, self.session.config.book_file, []
            try:
                if file.path != NO_BOOK:
                    book = OpeningBook(file)
                    problems = book.problems
            except BookError as error:
                problems = [str(error)]
            for problem in problems:
                self.session.send("explorer.message", text=tr("a book is not used: {error}", error=problem))
            self._explorer = Explorer(self.session.dojo.database, book)
        return self._explorer


def _board(start: str, moves: list[str]) -> Board:
    try:
        return board_after(start, moves)
    except (SfenError, MoveError) as error:
        raise MessageError(f"explorer: {error}") from error
