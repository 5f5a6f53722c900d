"""The messages about the user's engines: which there are, and what one thinks of a position."""

import shutil
from pathlib import Path
from typing import Any

from goryu.analysis.description import board_after, legal_part, named_line
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.engines.engines_file import UserEngine, engine_named, user_engines
from goryu.engines.usi_client import SearchReply
from goryu.engines.usi_output import MATE_CP
from goryu.games.shogi import MoveError
from goryu.implementation import Board
from goryu.players.clock.limits import Limits
from goryu_page.dojo.games import Moves
from goryu_page.session.messages import MessageError
from goryu_page.session.session import Job, Session, StoppedError, View
from goryu_page.views.usi_engines import UsiEngines

MOST_SHOWN = 12
"""Moves of a line."""

LONGEST_MATE = 1000
"""A score so close to `MATE_CP` is a mate in that many plies."""

JOB = "review.live"
"""The view "Review" analyses one position at a time: this ends its own analysis."""


class EnginesView(View):
    """A second opinion in the view "Review"; the view "Play" asks for the names only."""

    name = "engines"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._engines = UsiEngines(session.dojo.timing)

    def on_list(self) -> list[dict[str, Any]]:
        """Returns the names of the user's engines, their seconds for a move, and whether they are there."""
        return [
            {"name": engine.name, "seconds": engine.seconds, "isThere": is_there(engine)}
            for engine in user_engines()
        ]

    async def on_opinion(self, engine: str, start: str, moves: Moves) -> dict[str, Any] | None:
        """Returns what an engine thinks of the position after `moves` (USI) from an SFEN; None if stopped."""
        asked = engine_named(engine)
        try:
            board = board_after(start, moves)
        except MoveError as error:
            raise MessageError(f"engines.opinion: {error}") from error
        if board.outcome() is not None:
            raise InputError(tr("the game is over"))
        return await self.session.run(JOB, lambda job: self._ask(job, asked, board))

    def _ask(self, job: Job, engine: UserEngine, board: Board) -> dict[str, Any] | None:
        self._engines.new_game(engine)
        try:
            reply = self._engines.search(engine, board, Limits(), job)
        except StoppedError:
            return None
        return _opinion(reply, board)

    def pause(self) -> None:
        """Ends the engine: the tab has gone."""
        self._engines.close()


def _opinion(reply: SearchReply, board: Board) -> dict[str, Any]:
    """Returns an answer for the page.

    cp: the score for black, in centipawns. mate: plies, + if the side to move wins. Either may be None.
    line: the legal part of the expected line, as `named_line`. move: the word after `bestmove`.
    """
    info = reply.info
    cp: int | None = info.cp
    mate: int | None = None
    if cp is not None and abs(cp) >= MATE_CP - LONGEST_MATE:
        mate = (MATE_CP - abs(cp)) * (1 if cp > 0 else -1)
        cp = None
    pv = info.pv if info.pv[:1] == (reply.move,) else (reply.move,)
    return {
        "move": reply.move,
        "cp": cp if cp is None or board.turn == 0 else -cp,
        "mate": mate,
        "depth": info.depth,
        "line": named_line(board, legal_part(board, pv[:MOST_SHOWN])),
    }


def is_there(engine: UserEngine) -> bool:
    """Can the program of an engine be found?"""
    program = Path(engine.spec.command[0])
    if engine.spec.directory and len(program.parts) > 1:
        program = engine.spec.directory / program
    return shutil.which(program) is not None
