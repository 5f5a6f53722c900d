import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goryu.analysis.judgement import MISTAKES
from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.store import AnalysisStore
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from goryu_page.dojo.activity import Activity
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Games
from goryu_page.dojo.reviewing import Reviewing
from goryu_page.dojo.timing import TIMING, Timing
from sample_games import sample_game

CONFIG = EngineConfig(evaluator=EvaluatorConfig("hashed", threads=1))

KILLED = """
import os, sys
from pathlib import Path
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.store import AnalysisStore
from goryu_page.dojo.activity import Activity
from goryu_page.dojo.database import Database
from goryu_page.dojo.reviewing import Reviewing
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator

folder = Path(sys.argv[1])
config = EngineConfig(evaluator=EvaluatorConfig("hashed", threads=1))
store = AnalysisStore(folder / "analyses.sqlite3", print)
def tell(kind, **content):
    if content.get("status") == "running" and content["left"] == 1 and content["position"] >= 10:
        os.kill(os.getpid(), 9)  # Nothing is cleaned up.
reviewing = Reviewing(
    Database(folder / "dojo.sqlite3"),
    lambda: Reviewer(load_evaluator(config.evaluator, print), config, store),
    Activity(),
    tell,
)
while reviewing.step() == 0.0:
    pass
"""


class Server:
    """What a server has of the background review, with the same files as all others of the folder."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "dojo.sqlite3")
        self.games = Games(self.database)
        self.clock_s = 0.0
        self.waits = False
        timing = Timing(clock=lambda: self.clock_s)
        self.activity = Activity(timing)
        self.told: list[dict[str, Any]] = []
        self.on_tell: Callable[..., None] = lambda *_, **__: None
        self.searched = 0
        self.config = CONFIG
        self.heard: list[tuple[int, int]] = []
        self.reviewing = Reviewing(
            self.database, self._reviewer, self.activity, self._tell, self._hear, timing, lambda: self.waits
        )
        self._folder = folder

    def _tell(self, kind: str, **content: Any) -> None:
        self.told.append({"type": kind, **content})
        self.on_tell(kind, **content)

    def _hear(self, game: int, review: GameReview) -> None:
        self.heard.append((game, review.known()))

    def _reviewer(self) -> Reviewer:
        server = self

        class Store(AnalysisStore):
            def put(self, *values: Any) -> None:
                server.searched += 1
                super().put(*values)

        self._store = Store(self._folder / "analyses.sqlite3", print)
        return Reviewer(load_evaluator(self.config.evaluator, print), self.config, self._store)

    def reviewed(self) -> list[int]:
        return [row["game"] for row in self.database.rows("SELECT game FROM reviews ORDER BY rowid")]

    def state(self) -> str:
        return str(self.reviewing.state()["status"])

    def review_all(self) -> None:
        """Does steps until there is a reason to wait."""
        while self.reviewing.step() == 0.0:
            pass

    def close(self) -> None:
        self.reviewing.close()
        self.database.close()


@pytest.fixture
def new_server(tmp_path: Path) -> Iterator[Callable[[], Server]]:
    servers = []

    def make() -> Server:
        servers.append(Server(tmp_path))
        servers[-1].reviewing.reviews.playouts = 20
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def test_games_are_reviewed_newest_first_and_others_are_told(new_server: Callable[[], Server]) -> None:
    server = new_server()
    old, new = (server.games.add(sample_game(i, date=f"2026/0{i}/01")) for i in (1, 2))
    server.review_all()
    assert server.state() == "idle"
    assert server.heard == [(new, 13), (old, 13)]
    plies = server.database.rows("SELECT * FROM plies WHERE game = ? ORDER BY ply", new)
    assert [(row["ply"], row["turn"]) for row in plies] == [(i + 1, i % 2) for i in range(12)]
    for row in plies:
        judgement = json.loads(row["judgement"])
        assert (judgement["kind"], judgement["loss"]) == (row["kind"], row["loss"])
    rates = server.database.rows("SELECT rate FROM positions WHERE game = ? ORDER BY ply", new)
    assert [rate for (rate,) in rates[:-1]] == [
        json.loads(row["judgement"])["played_win_rate"] for row in plies
    ]
    review = server.database.rows("SELECT * FROM reviews WHERE game = ?", new)[0]
    assert (review["playouts"], review["engine"]) == (20, "hashed")
    assert review["black_mistakes"] == sum(row["turn"] == 0 and row["kind"] in MISTAKES for row in plies)
    running = [told for told in server.told if told.get("status") == "running"]
    assert [told["left"] for told in (running[0], running[-1])] == [2, 1]
    assert running[-1]["position"] == running[-1]["positions"] == 13


def test_a_pause_outlives_the_server_and_people_come_first(new_server: Callable[[], Server]) -> None:
    server = new_server()
    server.games.add(sample_game(1))
    server.reviewing.pause(True)
    server.review_all()
    assert server.state() == "paused"
    server.close()

    other = new_server()
    with other.activity.going_on():
        other.review_all()
        assert other.state() == "paused"
        other.reviewing.pause(False)
        other.review_all()
        assert other.state() == "resting"
    other.review_all()
    assert other.state() == "resting"  # For a short while: people often ask for another search.
    assert other.searched == 0
    other.clock_s += TIMING.rest_s
    other.review_all()
    assert (other.state(), len(other.reviewed())) == ("idle", 1)


def test_a_review_waits_for_what_is_more_urgent(new_server: Callable[[], Server]) -> None:
    server = new_server()
    server.clock_s += TIMING.rest_s
    server.games.add(sample_game(1))
    server.waits = True
    server.review_all()
    assert (server.state(), server.searched) == ("waiting", 0)
    server.waits = False
    server.review_all()
    assert (server.state(), len(server.reviewed())) == ("idle", 1)


def test_a_review_stops_when_another_server_pauses_it_and_loses_nothing(
    new_server: Callable[[], Server],
) -> None:
    server, other = new_server(), new_server()
    server.games.add(sample_game(1))

    def stop(kind: str, **content: Any) -> None:
        if content.get("position") == 5:
            server.clock_s += 60.0
            other.reviewing.pause(True)

    server.on_tell = stop
    server.review_all()
    assert (server.state(), server.reviewed()) == ("paused", [])
    known = server.searched
    other.reviewing.pause(False)
    server.on_tell = lambda *_, **__: None
    server.review_all()
    assert len(server.reviewed()) == 1
    assert known < 13 <= server.searched


def test_of_two_servers_one_reviews_until_it_ends(new_server: Callable[[], Server]) -> None:
    one, other = new_server(), new_server()
    one.games.add(sample_game(1))
    one.review_all()
    assert one.state() == "idle"
    one.reviewing.pause(True)
    one.games.add(sample_game(2))
    for server in (one, other):
        server.review_all()
        assert server.state() == "paused"  # The setting is that of the database.
    other.reviewing.pause(False)
    one.review_all()
    assert len(one.reviewed()) == 2
    other.games.add(sample_game(3))
    with one.activity.going_on():
        for server in (one, other):
            server.review_all()
        assert (one.state(), other.state()) == ("resting", "elsewhere")
        one.close()
    other.review_all()
    assert len(other.reviewed()) == 3


def test_an_idle_server_reviews_what_another_one_adds(new_server: Callable[[], Server]) -> None:
    one, other = new_server(), new_server()
    one.review_all()
    assert one.state() == "idle"
    other.games.add(sample_game(1))
    one.review_all()
    assert len(one.reviewed()) == 1
    assert {"type": "games.changed"} in one.told


def test_games_are_reviewed_again_on_request_with_more_playouts(new_server: Callable[[], Server]) -> None:
    server = new_server()
    server.games.add(sample_game(1))
    server.review_all()
    with server.database.transaction() as connection:
        connection.execute("UPDATE reviews SET reviewed = '2026-01-01T00:00:00+00:00'")
    server.reviewing.reviews.playouts = 30
    server.reviewing.reviews.ask_again()
    server.reviewing.wake()
    server.review_all()
    assert server.database.rows("SELECT playouts FROM reviews")[0][0] == 30


@pytest.mark.parametrize("takes_another", [False, True])
def test_a_missing_network_is_said_and_tried_again_on_request(
    new_server: Callable[[], Server], takes_another: bool
) -> None:
    """A review by another network than the wanted one would be kept."""
    server = new_server()
    server.games.add(sample_game(1))
    evaluator = EvaluatorConfig(model="no-such.onnx", allows_fallback=takes_another, threads=1)
    server.config = EngineConfig(evaluator)
    assert server.reviewing.step() is None
    assert server.state() == "failed"
    assert "no-such.onnx" in server.reviewing.state()["problem"]
    server.config = CONFIG
    server.reviewing.pause(False)
    server.review_all()
    assert len(server.reviewed()) == 1


def test_a_killed_process_loses_nothing_that_was_finished(
    tmp_path: Path, new_server: Callable[[], Server]
) -> None:
    server = new_server()
    server.reviewing.reviews.playouts = 300
    for seed in (1, 2):
        server.games.add(sample_game(seed, plies=30))
    assert subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)]).returncode in (9, -9)
    assert server.database.rows("PRAGMA integrity_check")[0][0] == "ok"
    assert len(server.reviewed()) == 1
    assert server.database.rows("SELECT COUNT(*) FROM plies")[0][0] == 30  # No review is there by halves.

    server.review_all()
    assert len(server.reviewed()) == 2
    again = server.searched
    server.reviewing.close()
    whole = Server(tmp_path)
    assert again <= 31 - 10 + _comparisons(whole)
    whole.close()


def _comparisons(server: Server) -> int:
    """Returns how many moves were compared with a better one, at most."""
    return int(server.database.rows("SELECT COUNT(*) FROM plies WHERE loss > 0")[0][0])
