"""The view "My games": import, the background review, the list, and the user's progress."""

from dataclasses import asdict
from typing import Annotated, Any

from msgspec import Meta

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.kifu.reading import MAX_BYTES
from goryu_page.dojo.game_list import Filter, Sort, list_games, openings
from goryu_page.dojo.games import Collection
from goryu_page.dojo.progress import progress
from goryu_page.session.messages import Request
from goryu_page.session.session import Job, Session, View, in_thread
from goryu_page.views.review import Playouts

PAGE = 50
"""Games of a page of the list."""

MOST_NAMES = 100
MOST_MINUTES = 24 * 60


class ListRequest(Filter, Request, rename="camel"):
    """A page of the list; see `list_games`."""

    sort: Sort = "date"
    is_descending: bool = True
    first: Annotated[int, Meta(ge=0, le=1 << 40)] = 0


class GamesView(View):
    """The games are those of the dojo, which all tabs share."""

    name = "games"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._parts: list[bytes] = []

    @in_thread
    def on_state(self) -> dict[str, Any]:
        """Returns everything but the list. file: of the database; None for a device of the network.

        folders: that are watched; none for a device. Where files lie is for the page of this machine only.
        """
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

    @in_thread
    def on_list(self, message: ListRequest) -> dict[str, Any]:
        """Returns a page of the list; see `list_games`."""
        return list_games(
            self.session.dojo.database,
            message,
            message.sort,
            is_descending=message.is_descending,
            first=message.first,
            count=PAGE,
        )

    @in_thread
    def on_delete(self, game: Annotated[int, Meta(ge=0, le=1 << 62)]) -> None:
        """Deletes a game. game: its number in the database."""
        self.session.dojo.games.delete(game)
        self.session.dojo.games_changed()

    @in_thread
    def on_me(self, names: Annotated[list[str], Meta(max_length=MOST_NAMES)]) -> None:
        """Sets the names under which the user plays."""
        self.session.dojo.games.set_me(names)
        self.session.dojo.games_changed()

    @in_thread
    def on_progress(self, minutes: Annotated[int, Meta(ge=-MOST_MINUTES, le=MOST_MINUTES)]) -> dict[str, Any]:
        """Returns what the charts show. minutes: how much later than UTC the user's clock is."""
        return progress(self.session.dojo.database, minutes)

    # Import.

    async def on_add(
        self,
        name: str,
        content: bytes,
        part: Annotated[int, Meta(ge=0, le=1000)] = 0,
        more: bool = False,
        collection: Collection = "mine",
    ) -> dict[str, Any] | None:
        """Adds the games of a file, in parts.

        more: do other parts follow? collection: "records" for games of others.

        Returns the numbers of games added and known, and the faults; nothing before the last part.
        """
        name = name[:500]
        if part == 0:
            self._parts.clear()
        self._parts.append(content)
        if sum(map(len, self._parts)) > MAX_BYTES:
            self._parts.clear()
            problem = tr("expected at most {size} MiB", size=MAX_BYTES >> 20)
            await self.ask("games.fault", lambda: self.session.dojo.games.add_fault(name, None, problem))
            raise InputError(f"{name}: {problem}")
        if more:
            return None
        data = b"".join(self._parts)
        self._parts.clear()

        def add(_job: Job) -> dict[str, Any]:
            imported = self.session.dojo.games.add_file(data, name, collection)
            self.session.dojo.games_changed()
            return {**asdict(imported), "added": len(imported.added)}

        return await self.session.run("games.add", add)

    @in_thread
    def on_forget_faults(self) -> None:
        """Empties the list of games that could not be read."""
        self.session.dojo.games.forget_faults()
        self.session.dojo.games_changed()

    # The background review.

    @in_thread
    def on_pause(self, is_paused: bool) -> None:
        """Pauses the review, or goes on."""
        self.session.dojo.reviewing.pause(is_paused)

    @in_thread
    def on_playouts(self, playouts: Playouts) -> None:
        """Sets the playouts of the next reviews, for each position."""
        self.session.dojo.reviewing.reviews.playouts = playouts

    @in_thread
    def on_again(self) -> None:
        """Has all games reviewed again."""
        self.session.dojo.reviewing.reviews.ask_again()
        self.session.dojo.games_changed()
