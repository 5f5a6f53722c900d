"""The view "My games": import, the background review, the list, and the user's progress."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from msgspec import Meta

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.kifu.reading import MAX_BYTES
from goryu_page.dojo.game_list import Filter, Result, Reviewed, Side, Sort, list_games, openings
from goryu_page.dojo.games import Collection
from goryu_page.dojo.progress import progress
from goryu_page.session.messages import Request
from goryu_page.session.session import Job, Session, View
from goryu_page.views.review import Playouts

PAGE = 50
"""Games of a page of the list."""

MOST_NAMES = 100
MOST_MINUTES = 24 * 60


class ListRequest(Request):
    """A page of the list; see `Filter` and `list_games`."""

    collection: Collection = "mine"
    text: str = ""
    side: Side = ""
    result: Result = ""
    opening: str = ""
    since: str = ""
    until: str = ""
    reviewed: Reviewed = ""
    sort: Sort = "date"
    is_descending: bool = True
    first: Annotated[int, Meta(ge=0, le=1 << 40)] = 0


class GameRequest(Request):
    """game: its number in the database."""

    game: Annotated[int, Meta(ge=0, le=1 << 62)]


class MeRequest(Request):
    """names: under which the user plays."""

    names: Annotated[list[str], Meta(max_length=MOST_NAMES)]


class ProgressRequest(Request):
    """minutes: how much later than UTC the user's clock is."""

    minutes: Annotated[int, Meta(ge=-MOST_MINUTES, le=MOST_MINUTES)]


class AddRequest(Request):
    """A part of a file of games. more: do others follow? collection: "records" for games of others."""

    name: str
    content: bytes
    part: Annotated[int, Meta(ge=0, le=1000)] = 0
    more: bool = False
    collection: Collection = "mine"


class PauseRequest(Request):
    """Is the background review to pause?"""

    is_paused: bool


class PlayoutsRequest(Request):
    """playouts: for each position of the next reviews."""

    playouts: Playouts


class GamesView(View):
    """The games are those of the dojo, which all tabs share."""

    name = "games"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._parts: list[bytes] = []

    async def on_state(self, _message: Request) -> dict[str, Any]:
        """Returns everything but the list. file: of the database; None for a device of the network.

        folders: that are watched; none for a device. Where files lie is for the page of this machine only.
        """
        return await self.ask("games.state", self._state)

    def _state(self) -> dict[str, Any]:
        dojo = self.session.dojo
        games, reviewing, is_device = dojo.games, dojo.reviewing, self.session.device is not None
        return {
            "games": dojo.database.rows("SELECT COUNT(*) FROM games")[0][0],
            "me": games.me(),
            "names": games.names(),
            "openings": openings(dojo.database),
            "faults": games.faults(),
            "reviewing": reviewing.state(),
            "playouts": reviewing.reviews.playouts,
            "folders": [] if is_device else [str(folder) for folder in dojo.folders],
            "file": None if is_device else str(dojo.database.path),
        }

    # The list.

    async def on_list(self, message: ListRequest) -> dict[str, Any]:
        """Returns a page of the list; see `list_games`."""
        wanted = Filter(
            message.collection,
            message.text[:200],
            message.side,
            message.result,
            message.opening[:100],
            message.since[:10],
            message.until[:10],
            message.reviewed,
        )

        def work() -> dict[str, Any]:
            return list_games(
                self.session.dojo.database,
                wanted,
                message.sort,
                is_descending=message.is_descending,
                first=message.first,
                count=PAGE,
            )

        return await self.ask("games.list", work)

    async def on_delete(self, message: GameRequest) -> None:
        """Deletes a game."""
        await self._change("games.delete", lambda: self.session.dojo.games.delete(message.game))

    async def on_me(self, message: MeRequest) -> None:
        """Sets the names under which the user plays."""
        await self._change("games.me", lambda: self.session.dojo.games.set_me(message.names))

    async def on_progress(self, message: ProgressRequest) -> dict[str, Any]:
        """Returns what the charts show."""
        return await self.ask("games.progress", lambda: progress(self.session.dojo.database, message.minutes))

    # Import.

    async def on_add(self, message: AddRequest) -> dict[str, Any] | None:
        """Adds the games of a file, in parts.

        Returns the numbers of games added and known, and the faults; nothing before the last part.
        """
        name = message.name[:500]
        if message.part == 0:
            self._parts.clear()
        self._parts.append(message.content)
        if sum(map(len, self._parts)) > MAX_BYTES:
            self._parts.clear()
            problem = tr("expected at most {size} MiB", size=MAX_BYTES >> 20)
            await self.ask("games.fault", lambda: self.session.dojo.games.add_fault(name, None, problem))
            raise InputError(f"{name}: {problem}")
        if message.more:
            return None
        data = b"".join(self._parts)
        self._parts.clear()

        def add(_job: Job) -> dict[str, Any]:
            imported = self.session.dojo.games.add_file(data, name, message.collection)
            self.session.dojo.games_changed()
            return {**asdict(imported), "added": len(imported.added)}

        return await self.session.run("games.add", add)

    async def on_forget_faults(self, _message: Request) -> None:
        """Empties the list of games that could not be read."""
        await self._change("games.faults", lambda: self.session.dojo.games.forget_faults())

    # The background review.

    async def on_pause(self, message: PauseRequest) -> None:
        """Pauses the review, or goes on."""
        await self.ask("games.pause", lambda: self.session.dojo.reviewing.pause(message.is_paused))

    async def on_playouts(self, message: PlayoutsRequest) -> None:
        """Sets the playouts of the next reviews."""

        def work() -> None:
            self.session.dojo.reviewing.reviews.playouts = message.playouts

        await self.ask("games.playouts", work)

    async def on_again(self, _message: Request) -> None:
        """Has all games reviewed again."""
        await self._change("games.again", lambda: self.session.dojo.reviewing.reviews.ask_again())

    async def _change(self, name: str, work: Callable[[], object]) -> None:
        """Does what changes the games, and tells all tabs."""

        def change() -> None:
            work()
            self.session.dojo.games_changed()

        await self.ask(name, change)
