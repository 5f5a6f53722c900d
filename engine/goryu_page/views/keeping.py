"""Keeps a game of the view "Play" in My games when it has ended.

Only shogi is kept: a game of reversi or tic-tac-toe can neither be reviewed nor asked about.
"""

import asyncio
from collections.abc import Callable, Sequence

from goryu.players.levels.levels import LEVELS
from goryu.table.record import record_of
from goryu_page.dojo.games import KeptGame, PlayedGame
from goryu_page.session.session import Session, text_of
from goryu_page.views.game import PageGame

LEAST_MOVES = 10
"""A shorter game teaches nothing."""


class Keeper:
    """Keeps one game; its methods run in the event loop.

    number: of the game in My games, None if it is not there.
    """

    # The game that this one has put there, in place of which it is kept when it ends again. A game that was
    # known before is not replaced.
    _own: KeptGame | None

    def __init__(
        self,
        session: Session,
        *,
        is_wanted: bool,
        moves_before: int,
        number: int | None,
        moves: Sequence[str],
        is_kept: bool,
        level: int | None,
        on_kept: Callable[[], None],
    ) -> None:
        """moves_before: of another game, from which this one begins; they are not kept.

        number, moves, is_kept: of a game that the page brings back after a restart of the server.
        level: of the opponent, if the result tells how strong the person is. on_kept: is called afterwards.
        """
        self.number = number
        self._session = session
        self._is_wanted, self._moves_before, self._on_kept = is_wanted, moves_before, on_kept
        self._level = level
        begun = tuple(moves[moves_before:])  # Without a move nothing tells it from another game.
        self._own = KeptGame(number, begun) if number is not None and begun else None
        self._has_ended = is_kept
        self._keeping: asyncio.Task[None] | None = None

    def helped(self) -> None:
        """Notes that the person had help: the result says nothing of their strength."""
        self._level = None

    def taken_back(self) -> None:
        """Notes that moves were taken back: when the game ends again, it replaces what was kept."""
        self.helped()
        self._has_ended = False

    def ended(self, game: PageGame) -> None:
        """Keeps the game, once."""
        if self._has_ended:
            return
        self._has_ended = True
        if not self._is_wanted or game.kind != "shogi" or len(game.played) - self._moves_before < LEAST_MOVES:
            return
        self.number = None
        self._keeping = asyncio.get_running_loop().create_task(self._keep(self._played(game)))

    def _played(self, game: PageGame) -> PlayedGame:
        assert game.over is not None
        person = game.people.index(True) if sum(game.people) == 1 else None
        winner = game.over.winner
        opponent = score = None
        if person is not None and self._level is not None:
            opponent = LEVELS[self._level - 1].elo
            score = 0.5 if winner is None else float(winner == person)
        return PlayedGame(
            record_of(game, self._moves_before),
            "" if person is None else game.names[person],
            self._own,
            opponent,
            score,
        )

    async def _keep(self, played: PlayedGame) -> None:
        dojo = self._session.dojo
        try:
            number, is_new = await self._session.run(
                "play.keep", lambda _job: dojo.keep_played(played), is_search=False
            )
        except Exception as error:
            self._session.send("play.problem", text=text_of(error))
            return
        self.number = number
        self._own = KeptGame(number, played.record.moves) if is_new else None
        self._on_kept()
