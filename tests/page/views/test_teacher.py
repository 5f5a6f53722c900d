"""The teaching game: when it asks, what the answers do, and that nothing about it blocks the game."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goryu.base.errors import InputError
from goryu.games.shogi import START_SFEN
from goryu.implementation import Board
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu_page.dojo.dojo import Dojo, JudgePlayouts
from goryu_page.dojo.timing import Timing
from goryu_page.session.messages import MessageError
from goryu_page.session.session import Session
from goryu_page.views.play import PlayView

BEFORE = ["2g2f", "8c8d", "2f2e", "8d8e", "6i7h", "4a3b", "2e2d", "2c2d", "2h2d", "P*2c"]
BLUNDER, REFUTATION, RETREAT = "2d8d", "8b8d", "2d2h"
"""The rook where a rook takes it, or back at home."""


pytestmark = pytest.mark.usefixtures("own_files")


class Tab:
    """A tab with a teaching game in which Black is to move and may put its rook where a rook takes it."""

    def __init__(self, dojo: Dojo) -> None:
        self.session = Session({"play": PlayView}, dojo)
        self.view: Any = self.session.views["play"]
        self.asks = self.view.handlers()
        self.told: list[dict[str, Any]] = []
        self.session.send = lambda kind, **content: self.told.append({"type": kind, **content})  # type: ignore[method-assign]

    def new(self, **values: Any) -> dict[str, Any]:
        lesson = {"threshold": 0.1}
        message = {"type": "play.new", "game": "shogi", "opponent": "1", "side": "first", "moves": BEFORE}
        state: dict[str, Any] = self.asks["play.new"]({**message, "lesson": lesson, **values})
        return state

    def ask(self, name: str, **values: Any) -> dict[str, Any]:
        state: dict[str, Any] = self.asks[f"play.{name}"]({"number": self.view._number, **values})
        return state

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = self.view._state()
        return state

    async def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        for _ in range(3000):
            if holds(state := self.state()):
                return state
            await asyncio.sleep(0.01)
        raise AssertionError(self.state())


def in_a_tab(tmp_path: Path, work: Callable[[Tab], Awaitable[None]]) -> None:
    async def run() -> None:
        config, timing = EngineConfig(EvaluatorConfig(threads=1)), Timing(least_reply_s=0.0)
        dojo = Dojo(tmp_path / "dojo.sqlite3", config, timing, JudgePlayouts(move=60))
        tab = Tab(dojo)
        try:
            await work(tab)
        finally:
            tab.session.close()
            dojo.close()

    # Not in this thread: Playwright's event loop may run in it.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, run()).result(60)


def asks(state: dict[str, Any]) -> bool:
    return state["lesson"]["question"] is not None


def fates(state: dict[str, Any]) -> list[tuple[str, str]]:
    return [(move["name"], move["fate"]) for move in state["lesson"]["moves"]]


def test_after_a_blunder_the_opponent_and_the_clocks_wait_until_it_is_taken_back(tmp_path: Path) -> None:
    async def work(tab: Tab) -> None:
        state = tab.new(clock={"main": 600, "byoyomi": 0, "increment": 10})
        left = state["clock"]["left"]
        tab.ask("move", move=BLUNDER)
        state = await tab.until(asks)
        question = state["lesson"]["question"]
        assert (question["name"], question["refutation"]["usi"][0]) == (BLUNDER, REFUTATION)
        assert question["loss"] > 0.3
        assert question["reason"]["en"] == "Rx8d wins a rook."
        board = Board(START_SFEN)
        for move in BEFORE:
            board.push_usi(move)
        assert question["before"] == board.sfen()
        board.push_usi(question["better"]["usi"][0])  # It is legal there.
        assert state["clock"]["running"] is None
        assert tab.view._thinking is None
        assert tab.asks["play.state"]({}) == state  # The page was loaded again: nothing has changed.
        with pytest.raises(InputError):
            tab.ask("resign")
        state = tab.ask("undo")
        assert fates(state) == [(BLUNDER, "taken back")]
        assert state["clock"]["running"] == 0
        assert state["clock"]["left"][0] == pytest.approx(left[0], abs=5)
        tab.ask("move", move=RETREAT)
        state = await tab.until(lambda state: len(state["moves"]) == len(BEFORE) + 2)
        assert fates(state) == [(BLUNDER, "taken back"), (RETREAT, "fine")]
        assert fates(tab.ask("undo")) == [(BLUNDER, "taken back")]

    in_a_tab(tmp_path, work)


def test_who_plays_on_keeps_the_mistake_and_the_opponent_answers(tmp_path: Path) -> None:
    async def work(tab: Tab) -> None:
        tab.new()
        tab.ask("move", move=BLUNDER)
        await tab.until(asks)
        tab.ask("keep")
        state = await tab.until(lambda state: len(state["moves"]) == len(BEFORE) + 2)
        assert fates(state) == [(BLUNDER, "kept")]
        with pytest.raises(InputError):
            tab.ask("keep")
        state = tab.ask("resign")
        assert (state["over"]["winner"], state["lesson"]["moves"][0]["loss"] > 0.3) == (1, True)

    in_a_tab(tmp_path, work)


def test_a_game_that_the_page_brings_back_asks_again_only_if_it_had_asked(tmp_path: Path) -> None:
    async def work(tab: Tab) -> None:
        kept = {"ply": 1, "name": "2g2f", "ja": "▲２六歩", "en": "P-2f", "loss": 0.2, "fate": "kept"}
        lesson = {"threshold": 0.1, "moves": [kept], "isDue": True}
        tab.new(moves=[*BEFORE, BLUNDER], lesson=lesson)
        state = await tab.until(asks)
        assert fates(state) == [("2g2f", "kept")]
        tab.new(moves=[*BEFORE, BLUNDER], lesson={**lesson, "isDue": False})
        state = await tab.until(lambda state: len(state["moves"]) == len(BEFORE) + 2)
        assert fates(state) == [("2g2f", "kept")]

    in_a_tab(tmp_path, work)


def test_a_game_goes_on_if_a_move_cannot_be_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any) -> None:
        raise InputError("no memory")

    async def work(tab: Tab) -> None:
        tab.new()
        monkeypatch.setattr("goryu_page.dojo.move_judge.MoveJudge.judge", fail)
        tab.ask("move", move=BLUNDER)
        await tab.until(lambda state: len(state["moves"]) == len(BEFORE) + 2)
        assert ["no memory" in told["text"] for told in tab.told if told["type"] == "play.problem"] == [True]
        tab.ask("undo")
        monkeypatch.undo()
        tab.session.dojo.timing = replace(tab.session.dojo.timing, judge_s=0.0)
        tab.ask("move", move="1g1f")
        await tab.until(lambda state: len(state["moves"]) == len(BEFORE) + 2)
        assert len([told for told in tab.told if told["type"] == "play.problem"]) == 2

    in_a_tab(tmp_path, work)


@pytest.mark.parametrize(
    "values",
    [
        {"lesson": {"threshold": 0.11}},
        {"lesson": 1},
        {"lesson": {"threshold": 0.1, "moves": [{"ply": 1}]}},
        {"side": "both"},
        {"game": "reversi", "opponent": "uct:100"},
    ],
)
def test_a_lesson_that_cannot_be_is_refused(tmp_path: Path, values: dict[str, Any]) -> None:
    async def work(tab: Tab) -> None:
        with pytest.raises(MessageError):
            tab.new(**values)

    in_a_tab(tmp_path, work)
