"""Games of the view "Play" in My games, without a browser and without a search."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from goryu.games.shogi import START_SFEN
from goryu.kifu.reading import parse_record
from goryu.players.config import EngineConfig
from goryu_page.dojo.dojo import Dojo
from goryu_page.dojo.strength import Strength, set_grade, strength
from goryu_page.session.session import Session
from goryu_page.views.play import PlayView
from present import present
from sample_games import ROOK_HANGS

MOVES = ROOK_HANGS[:10]
REPETITION = ["2h3h", "8b7b", "3h2h", "7b8b"] * 3


class Tab:
    """The view of a tab, whose opponent never moves."""

    def __init__(self, dojo: Dojo) -> None:
        self.session = Session({"play": PlayView}, dojo)
        view: Any = self.session.views["play"]
        view._think_ahead = lambda *_: None
        view._think = lambda *_: asyncio.sleep(0)
        self.view = view
        self.asks = self.view.handlers()
        self.games = dojo.games

    def new(self, **values: Any) -> dict[str, Any]:
        message = {"type": "play.new", "game": "shogi", "opponent": "5", "moves": MOVES, **values}
        state: dict[str, Any] = self.asks["play.new"](message)
        return state

    async def ask(self, name: str, **values: Any) -> dict[str, Any]:
        """Returns the state when what followed from it is done."""
        self.asks[f"play.{name}"]({"number": self.view._number, **values})
        return await self.settled()

    async def settled(self) -> dict[str, Any]:
        if self.view._keeper._keeping:
            await self.view._keeper._keeping
        state: dict[str, Any] = self.view._state()
        return state

    def kept(self) -> list[tuple[Any, ...]]:
        """Returns what is in My games: moves, names, winner, ending."""
        columns = "length(moves) / 5 + 1, black, white, winner, ending"  # No move here promotes.
        return [tuple(row) for row in self.games._database.rows(f"SELECT {columns} FROM games ORDER BY id")]


@pytest.fixture
def in_a_tab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_loop: Any) -> Iterator[Callable[..., None]]:
    """Runs a coroutine of a tab; the background review is only told."""
    reviewing = SimpleNamespace(told=0, close=lambda: None)
    reviewing.begin_newest = lambda: setattr(reviewing, "told", reviewing.told + 1)
    monkeypatch.setattr(Dojo, "reviewing", reviewing)
    dojo = Dojo(tmp_path / "dojo.sqlite3", EngineConfig())

    def run(work: Callable[[Tab], Any]) -> None:
        async def in_session() -> None:
            tab = Tab(dojo)
            try:
                await work(tab)
            finally:
                tab.session.close()

        in_loop(in_session())

    yield run
    dojo.close()


def test_a_resigned_game_is_kept_once_as_mine_and_reviewed_first(in_a_tab: Any) -> None:
    async def work(tab: Tab) -> None:
        tab.new(name=" Hana  Ko ")
        state = await tab.ask("resign")
        assert state["kept"] == 1
        assert tab.kept() == [(10, "Hana Ko", "Goryu Fox", 1, "resignation")]
        assert tab.games.me() == ["Hana Ko"]
        reviewing: Any = tab.session.dojo.reviewing
        assert reviewing.told == 1
        for form in ("kif", "csa"):
            record = parse_record(tab.view._game.saved(form)["text"])
            assert record.names == ("Hana Ko", "Goryu Fox")
        await tab.ask("state")  # A reload of the page.
        over = {"ending": "resignation", "winner": 1}
        for kept in (1, None):  # A server that was ended, perhaps before it said that the game is kept.
            tab.new(name="Hana Ko", over=over, kept=kept)
            assert (await tab.settled())["kept"] == 1
        assert len(tab.kept()) == 1

    in_a_tab(work)


def test_a_game_that_went_on_after_its_end_replaces_what_was_kept(in_a_tab: Any) -> None:
    async def work(tab: Tab) -> None:
        tab.new(clock={"byoyomi": 30})
        await tab.ask("resign")
        await tab.ask("undo")
        assert len(tab.kept()) == 1
        assert len(tab.view._game.played) == 8
        for move in MOVES[8:]:
            tab.view._game.push(tab.view._game.move_named(move))
        tab.view._game.clocks.left_s = (-30.0, -30.0)
        tab.view._fall(tab.view._game)
        state = await tab.settled()
        assert state["kept"] is not None
        assert tab.kept() == [(10, "You", "Goryu Fox", 1, "time")]

    in_a_tab(work)


def test_a_game_that_goes_on_replaces_no_other(in_a_tab: Any) -> None:
    """Neither one that came after a deletion, nor one that was known before, nor one of another database."""
    played = parse_record("startpos moves " + " ".join(MOVES))
    other = parse_record("startpos moves " + " ".join(ROOK_HANGS[:4]))

    async def end_again(tab: Tab) -> None:
        await tab.ask("undo")
        for move in MOVES[8:]:
            tab.view._game.push(tab.view._game.move_named(move))
        await tab.ask("resign")

    async def work(tab: Tab) -> None:
        tab.new()
        number = (await tab.ask("resign"))["kept"]
        asked = {"number": tab.view._number}
        assert await tab.asks["play.kept"](asked) == number
        tab.games.delete(number)
        assert await tab.asks["play.kept"](asked) is None
        assert tab.games.add(other, "other.kif") == number + 1
        await end_again(tab)
        assert tab.games.get(number + 1).file == "other.kif"

        tab.games.delete(tab.view._keeper.number)
        known = present(tab.games.add(played, "known.kif"))
        tab.new()
        assert (await tab.ask("resign"))["kept"] == known
        await end_again(tab)
        assert tab.games.get(known).file == "known.kif"

        tab.games.delete(number + 1)
        foreign = present(tab.games.add(other))
        tab.new(kept=foreign)
        await tab.ask("resign")
        assert tab.games.get(foreign).moves == other.moves
        tab.games.delete(tab.view._keeper.number)
        tab.new(kept=foreign, moves=[])
        for move in MOVES:
            tab.view._game.push(tab.view._game.move_named(move))
        assert (await tab.ask("resign"))["kept"] not in (None, foreign)
        assert tab.games.get(foreign).moves == other.moves

    in_a_tab(work)


def test_a_repetition_is_a_draw_and_the_game_of_two_people_is_nobodys(in_a_tab: Any) -> None:
    async def work(tab: Tab) -> None:
        for side, names in (("second", ("Goryu Fox", "You")), ("both", ("", ""))):
            tab.new(moves=REPETITION, side=side)
            await tab.settled()
            assert tab.kept() == [(12, *names, None, "repetition")]
            tab.games.delete(tab.view._keeper.number)
        assert tab.games.me() == ["You"]

    in_a_tab(work)


def test_short_games_those_of_others_and_those_that_nobody_wants_are_not_kept(in_a_tab: Any) -> None:
    async def work(tab: Tab) -> None:
        unwanted: list[dict[str, Any]] = [{"moves": MOVES[:8]}, {"before": 1}, {"keeps": False}]
        for values in unwanted:
            tab.new(**values)
            assert (await tab.ask("resign"))["kept"] is None
        tab.new(game="tictactoe", opponent="random", moves=["0", "3", "1", "4", "2"], side="both")
        assert (await tab.settled())["kept"] is None
        assert tab.kept() == []
        tab.new(moves=[*ROOK_HANGS[:2], *REPETITION[:-2]], before=2)  # From the position of another game.
        assert (await tab.ask("resign"))["kept"] == 1
        (row,) = tab.games._database.rows("SELECT * FROM games")
        assert row["start"] != START_SFEN
        assert row["moves"] == " ".join(REPETITION[:-2])

    in_a_tab(work)


def test_a_result_without_help_moves_the_strength(in_a_tab: Any) -> None:
    async def work(tab: Tab) -> None:
        database = tab.games._database
        set_grade(database, "5k")
        expected = [Strength(1550 - 60, 1)]
        for help_ in ((), ("taken_back",), ("helped",)):
            tab.new(moves=[], sfen=START_SFEN)
            game = tab.view._game
            for move in MOVES:
                game.push(game.move_named(move))
            for name in help_:
                getattr(tab.view._keeper, name)()
            number = (await tab.ask("resign"))["kept"]
            assert [strength(database)] == expected
            tab.games.delete(number)
        tab.new()  # Brought back: whether there was help is not known.
        await tab.ask("resign")
        assert [strength(database)] == expected

    in_a_tab(work)
