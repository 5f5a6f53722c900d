"""The engine for programs: one final answer for everything asked, whatever happens in between."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from goryu.analysis.engine import AnalysisEngine
from goryu.analysis.position_searcher import PositionSearcher
from goryu.analysis.query import schema
from goryu.analysis.searchers import Searchers
from goryu.players.config import EngineConfig, EvaluatorConfig, MateConfig
from goryu.players.set_up.loading import LoadedEvaluator, LoadingError, load_evaluator
from goryu.search.evaluator import Evaluator

CONFIG = EngineConfig(EvaluatorConfig("hashed"), mate=MateConfig(root_nodes=0))
MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"
ENDLESS = {"playouts": 10_000_000}


class Session:
    """An engine, by default with one search at a time, and what it has sent."""

    def __init__(
        self,
        most_waiting: int = 1000,
        load: Callable[[], LoadedEvaluator] = lambda: load_evaluator(CONFIG.evaluator, print),
        searches: int = 1,
    ) -> None:
        self.answers: list[dict[str, Any]] = []
        self.has_answered = threading.Condition()
        self.engine = AnalysisEngine(
            lambda: Searchers(load(), CONFIG, searches),
            lambda options: CONFIG,
            self.take,
            playouts=50,
            most_waiting=most_waiting,
        )

    def take(self, line: str) -> None:
        with self.has_answered:
            self.answers.append(json.loads(line))
            self.has_answered.notify_all()

    def ask(self, name: str, **fields: Any) -> None:
        self.engine.receive(json.dumps({"id": name, **fields}))

    def wait_for_report(self, name: str) -> None:
        with self.has_answered:
            assert self.has_answered.wait_for(
                lambda: any(answer["id"] == name for answer in self.answers), 60
            )

    def finished(self) -> list[dict[str, Any]]:
        self.engine.finish()
        for answer in self.answers:
            Draft202012Validator(schema()).validate(answer)
        return self.answers


def test_every_turn_gets_one_final_answer_and_no_report_follows_it() -> None:
    session = Session()
    moves = ["7g7f", "3c3d", "2g2f"]
    session.ask("game", moves=moves, analyze_turns=[3, 0, 1], multipv=2, playouts=20_000, report_every_ms=10)
    session.ask("last", moves=moves)
    session.ask("mated", sfen=MATED)
    session.ask("bad", moves=["1a1b"])
    answers = session.finished()
    final = [
        (answer["id"], answer.get("turn_number")) for answer in answers if not answer.get("is_during_search")
    ]
    assert Counter(final) == Counter(
        [("game", 0), ("game", 1), ("game", 3), ("last", 3), ("mated", 0), ("bad", None)]
    )
    assert any(answer.get("is_during_search") for answer in answers)
    closed = set()
    for answer in answers:
        turn = answer["id"], answer.get("turn_number")
        assert turn not in closed
        if not answer.get("is_during_search"):
            closed.add(turn)
    by_id = {answer["id"]: answer for answer in answers}
    assert (by_id["last"]["playouts"], len(by_id["last"]["moves"]), by_id["last"]["moves"][0]["pv"][0]) == (
        50, 5, by_id["last"]["moves"][0]["move"]
    )  # fmt: skip
    assert (by_id["mated"]["value"], by_id["mated"]["mate"], by_id["mated"]["ending"]) == (-1, 0, "checkmate")


def test_the_most_urgent_query_is_first() -> None:
    session = Session()
    session.ask("busy", **ENDLESS, report_every_ms=10)
    session.wait_for_report("busy")
    for name, priority in (("low", -1), ("first", 0), ("second", 0), ("high", 1)):
        session.ask(name, priority=priority)
    session.ask("stop", action="terminate", terminate_id="busy")
    names = [answer["id"] for answer in session.finished() if answer.get("is_during_search") is False]
    assert names == ["busy", "high", "first", "second", "low"]


def test_a_cancelled_query_is_answered_at_once_whether_it_runs_or_waits() -> None:
    session = Session()
    session.ask("runs", moves=["7g7f"], analyze_turns=[0, 1], **ENDLESS, report_every_ms=10)
    session.wait_for_report("runs")
    session.ask("waits", **ENDLESS)
    session.ask("stop", action="terminate_all")
    final = {
        (answer["id"], answer["turn_number"]): answer
        for answer in session.finished()
        if answer.get("is_during_search") is False
    }
    assert all(answer["is_cancelled"] for answer in final.values())
    assert set(final) == {("runs", 0), ("runs", 1), ("waits", 0)}
    assert final["runs", 0]["playouts"] > 0
    assert "playouts" not in final["waits", 0]


def test_a_query_may_be_cancelled_twice() -> None:
    session = Session()
    far_apart = {"moves": ["7g7f", "3c3d"], "analyze_turns": [0, 2]}  # Two runs, of which one begins.
    session.ask("a", **far_apart, **ENDLESS, report_every_ms=10)
    session.wait_for_report("a")
    with session.engine._changed:  # The search cannot answer between the two.
        session.ask("1", action="terminate", terminate_id="a")
        session.ask("2", action="terminate_all")
    turns = [
        answer["turn_number"] for answer in session.finished() if answer.get("is_during_search") is False
    ]
    assert sorted(turns) == [0, 2]


def test_a_query_ends_with_its_time() -> None:
    session = Session()
    session.ask("timed", time_ms=30)
    (answer,) = session.finished()
    assert 0 < answer["playouts"] < 10_000_000
    assert not answer["is_cancelled"]


def test_a_search_that_fails_is_an_error_of_its_query(monkeypatch: pytest.MonkeyPatch) -> None:
    search = PositionSearcher.search

    def fail(self: PositionSearcher, start: str, moves: tuple[str, ...], *rest: Any) -> Any:
        if moves:
            raise RuntimeError("the device is lost")
        return search(self, start, moves, *rest)

    monkeypatch.setattr(PositionSearcher, "search", fail)
    session = Session()
    session.ask("fails", moves=["7g7f"])
    session.ask("works")
    first, second = session.finished()
    assert (first["id"], first["turn_number"]) == ("fails", 1)
    assert "the device is lost" in first["error"]
    assert second["id"] == "works"


@pytest.mark.parametrize("searches", [1, 3])
def test_a_lost_network_is_loaded_again_and_only_the_searches_that_had_it_fail(
    searches: int, failing: Callable[[int, str], Evaluator]
) -> None:
    whole = load_evaluator(CONFIG.evaluator, print)
    lost = replace(whole, evaluator=failing(30, "the GPU has gone"), lost=threading.Event())
    loads: list[LoadedEvaluator | None] = [whole, None, lost]

    def load() -> LoadedEvaluator:
        if (loaded := loads.pop()) is None:
            raise LoadingError("the GPU is busy")
        return loaded

    session = Session(load=load, searches=searches)
    for name in "abc":
        session.ask(name, moves=["7g7f", "3c3d"], analyze_turns=[0, 1, 2])
    answers = session.finished()
    assert Counter((answer["id"], answer["turn_number"]) for answer in answers) == Counter(
        (name, turn) for name in "abc" for turn in range(3)
    )
    errors = [answer["error"] for answer in answers if "error" in answer]
    assert 2 <= len(errors) <= searches + 1
    assert errors.count("the search failed: the GPU is busy") == 1
    lost_text = "the network has failed, and the next search loads it again: the GPU has gone"
    assert errors.count(f"the search failed: {lost_text}") == len(errors) - 1
    assert all(answer["playouts"] >= 50 for answer in answers if "error" not in answer)
    assert not loads


def test_too_many_open_positions_make_the_reader_wait() -> None:
    session = Session(most_waiting=1)
    session.ask("first", **ENDLESS, report_every_ms=10)
    asking = threading.Thread(target=session.ask, args=("second",))
    asking.start()
    session.wait_for_report("first")
    assert asking.is_alive()
    session.engine.stop()
    asking.join()
    assert [answer["id"] for answer in session.finished() if "error" in answer] == ["second"]


def test_a_closed_output_ends_everything() -> None:
    session = Session()

    def fail(line: str) -> None:
        raise BrokenPipeError

    session.engine = AnalysisEngine(
        lambda: Searchers(load_evaluator(CONFIG.evaluator, print), CONFIG, 1),
        lambda options: CONFIG,
        fail,
        playouts=50,
        most_waiting=1000,
    )
    session.ask("first", **ENDLESS, report_every_ms=10)
    session.ask("second", **ENDLESS)
    session.engine.finish()
    assert isinstance(session.engine.fault, BrokenPipeError)


def test_a_refused_query_is_answered_by_its_id_also_with_a_number_of_a_thousand_digits() -> None:
    session = Session()
    session.engine.receive(f'{{"id": "long", "moves": [], "playouts": {"9" * 1000}}}')
    (answer,) = session.answers
    assert answer["id"] == "long"
    assert "at most 300 digits" in answer["error"]
