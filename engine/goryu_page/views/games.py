"""The view "My games": import, the background review, the list, and the user's progress."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.kifu.reading import MAX_BYTES
from goryu_page.dojo.game_list import (
    COLLECTIONS,
    RESULTS,
    REVIEWED,
    SIDES,
    SORTS,
    Filter,
    list_games,
    openings,
)
from goryu_page.dojo.games import Collection
from goryu_page.dojo.progress import progress
from goryu_page.session.messages import Message, base64_field, choice, field, number
from goryu_page.session.session import Job, Session, View
from goryu_page.views.review import MOST_PLAYOUTS

PAGE = 50
"""Games of a page of the list."""

MOST_NAMES = 100
MOST_MINUTES = 24 * 60


class GamesView(View):
    """The games are those of the dojo, which all tabs share."""

    name = "games"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._parts: list[bytes] = []

    async def on_state(self, _message: Message) -> dict[str, Any]:
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

    async def on_list(self, message: Message) -> dict[str, Any]:
        """Returns a page of the list; see `list_games`."""
        wanted = Filter(
            collection=choice(message, "collection", COLLECTIONS, "mine"),
            text=field(message, "text", str, "")[:200],
            side=choice(message, "side", SIDES, ""),
            result=choice(message, "result", RESULTS, ""),
            opening=field(message, "opening", str, "")[:100],
            since=field(message, "since", str, "")[:10],
            until=field(message, "until", str, "")[:10],
            reviewed=choice(message, "reviewed", REVIEWED, ""),
        )
        sort = choice(message, "sort", SORTS, "date")
        is_descending = field(message, "isDescending", bool, default=True)
        first = number(message, "first", 0, 1 << 40, 0)

        def work() -> dict[str, Any]:
            database = self.session.dojo.database
            return list_games(database, wanted, sort, is_descending=is_descending, first=first, count=PAGE)

        return await self.ask("games.list", work)

    async def on_record(self, message: Message) -> dict[str, Any]:
        """Returns a game as {name, text} for the view "Review", which all views open games with."""
        identity = number(message, "game", 0, 1 << 62)
        game = await self.ask("games.record", lambda: self.session.dojo.games.get(identity))
        names = " – ".join(name or "?" for name in game.names)
        return {"name": game.file.rpartition("/")[2] or f"{game.date} {names}".strip(), "text": game.record}

    async def on_delete(self, message: Message) -> None:
        """Deletes a game."""
        identity = number(message, "game", 0, 1 << 62)
        await self._change("games.delete", lambda: self.session.dojo.games.delete(identity))

    async def on_me(self, message: Message) -> None:
        """Sets the names under which the user plays."""
        names = field(message, "names", list)
        if len(names) > MOST_NAMES or not all(isinstance(name, str) for name in names):
            raise InputError(tr("expected at most {count} names", count=MOST_NAMES))
        await self._change("games.me", lambda: self.session.dojo.games.set_me(names))

    async def on_progress(self, message: Message) -> dict[str, Any]:
        """Returns what the charts show."""
        minutes = number(message, "minutes", -MOST_MINUTES, MOST_MINUTES)
        return await self.ask("games.progress", lambda: progress(self.session.dojo.database, minutes))

    # Import.

    async def on_add(self, message: Message) -> dict[str, Any] | None:
        """Adds the games of a file, in parts: `part` from 0, `content` in Base64, `more` to come.

        collection: "records" for games to look at only.
        Returns the numbers of games added and known, and the faults; nothing before the last part.
        """
        name = field(message, "name", str)[:500]
        if number(message, "part", 0, 1000, 0) == 0:
            self._parts.clear()
        self._parts.append(base64_field(message, "content"))
        if sum(map(len, self._parts)) > MAX_BYTES:
            self._parts.clear()
            problem = tr("expected at most {size} MiB", size=MAX_BYTES >> 20)
            await self.ask("games.fault", lambda: self.session.dojo.games.add_fault(name, None, problem))
            raise InputError(f"{name}: {problem}")
        if field(message, "more", bool, default=False):
            return None
        is_mine = choice(message, "collection", COLLECTIONS, "mine") == "mine"
        collection: Collection = "mine" if is_mine else "records"
        data = b"".join(self._parts)
        self._parts.clear()

        def add(_job: Job) -> dict[str, Any]:
            imported = self.session.dojo.games.add_file(data, name, collection)
            self.session.dojo.games_changed()
            return {**asdict(imported), "added": len(imported.added)}

        return await self.session.run("games.add", add)

    async def on_forget_faults(self, _message: Message) -> None:
        """Empties the list of games that could not be read."""
        await self._change("games.faults", lambda: self.session.dojo.games.forget_faults())

    # The background review.

    async def on_pause(self, message: Message) -> None:
        """Pauses the review, or goes on."""
        is_paused = field(message, "isPaused", bool)
        await self.ask("games.pause", lambda: self.session.dojo.reviewing.pause(is_paused))

    async def on_playouts(self, message: Message) -> None:
        """Sets the playouts of the next reviews."""
        playouts = number(message, "playouts", 1, MOST_PLAYOUTS)
        await self.ask(
            "games.playouts", lambda: setattr(self.session.dojo.reviewing.reviews, "playouts", playouts)
        )

    async def on_again(self, _message: Message) -> None:
        """Has all games reviewed again."""
        await self._change("games.again", lambda: self.session.dojo.reviewing.reviews.ask_again())

    async def _change(self, name: str, work: Callable[[], object]) -> None:
        """Does what changes the games, and tells all tabs."""

        def change() -> None:
            work()
            self.session.dojo.games_changed()

        await self.ask(name, change)
