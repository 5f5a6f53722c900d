"""The user's engines as opponents and as a second opinion, in a real browser."""

import json
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from goryu.base.errors import InputError
from goryu.engines.engines_file import UserEngine
from goryu.engines.usi_client import EngineSpec, Timeouts, UsiClient
from goryu.implementation import Board
from goryu.players.clock.limits import Limits
from goryu_page.dojo.timing import Timing
from goryu_page.session.session import Job, Session, StoppedError
from goryu_page.views.opinions import is_there
from goryu_page.views.usi_engines import UsiEngines
from paths import ROOT

expect = pytest.importorskip("playwright.sync_api").expect

FAKE = ROOT / "tests" / "helpers" / "engines" / "fake_engine.py"
SCRIPTED = FAKE.with_name("scripted.py")


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that plays, and several that fail, two of them in their first process only."""
    for name in ("XDG_CONFIG_HOME", "APPDATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("FAKE_ENGINE_LIVES", str(tmp_path / "lives"))
    commands = {
        "Good": [sys.executable, str(FAKE), "*:77"],
        "Cheat": [sys.executable, str(FAKE), "*:5i5a"],
        "Fragile": [sys.executable, str(FAKE), "0:crash"],
        "Hangs": [sys.executable, str(FAKE), "0:hang"],
        "Missing": [str(tmp_path / "missing")],
    }
    text = "\n".join(
        f"[[engine]]\nname = {json.dumps(name)}\ncommand = {json.dumps(command)}\nseconds = 0.2"
        for name, command in commands.items()
    )
    (tmp_path / "goryu").mkdir(exist_ok=True)
    (tmp_path / "goryu" / "engines.toml").write_text(text, encoding="utf-8")


def begin(page: Any, on_board: Any, engine: str) -> None:
    page.get_by_label("Program").select_option(label=engine)
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".side-parts")).to_be_visible()  # The board is not that of the game before.
    on_board(page).move("7g7f")


def moves(page: Any, count: int) -> None:
    expect(page.locator(".moves li")).to_have_count(count)


@pytest.mark.slow
@pytest.mark.usefixtures("engines", "quick_replies")
def test_an_engine_of_the_user_plays_and_a_failure_costs_no_game(
    open_page: Any, server: Any, on_board: Any, tmp_path: Path
) -> None:
    page = open_page()
    begin(page, on_board, "Good")
    moves(page, 2)
    expect(page.locator(".player .name").first).to_have_text("Good")
    page.get_by_role("button", name="New game").click()

    begin(page, on_board, "Cheat")
    expect(page.locator(".toast.error")).to_contain_text("5i5a, which is not legal")
    expect(page.locator(".status")).to_contain_text("has not moved")
    page.get_by_role("button", name="Take back").click()
    moves(page, 0)
    page.get_by_role("button", name="New game").click()
    missing = page.get_by_label("Program").locator("option", has_text="Missing (not found)")
    expect(missing).to_have_attribute("disabled", "")
    (tmp_path / "lives").unlink()
    begin(page, on_board, "Fragile")
    expect(page.locator(".toast.error").last).to_contain_text("Fragile has ended")
    page.get_by_role("button", name="Try again").click()
    moves(page, 2)
    (tmp_path / "lives").unlink()
    # The other engines have time on a busy machine.
    server.dojo.timing = replace(server.dojo.timing, engines=Timeouts(grace_s=0.3))
    page = open_page()
    begin(page, on_board, "Hangs")
    expect(page.locator(".toast.error").last).to_contain_text("Hangs gives no answer")
    page.get_by_role("button", name="Try again").click()
    moves(page, 2)


def test_a_program_is_found_in_its_directory_or_in_the_path(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "one"
    program.parent.mkdir()
    program.touch(0o755)
    found = []
    for command in ("bin/one", "bin/two", str(program), "python3", "no-such-program"):
        spec = EngineSpec((command,), directory=str(tmp_path))
        found.append(is_there(UserEngine("", spec, 1.0)))
    assert found == [True, False, True, True, False]


def test_a_stopped_job_does_not_wait_for_an_engine_that_hangs(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    spec = EngineSpec((sys.executable, str(SCRIPTED), "hang"), environment=(("USI_TRACE", str(trace)),))
    engines, job = UsiEngines(Timing(stop_s=0.1)), Job(cast(Session, None))

    def stop_after_go() -> None:
        while not trace.exists() or "\ngo " not in trace.read_text():
            time.sleep(0.02)
        job.stop()

    threading.Thread(target=stop_after_go, daemon=True).start()
    with pytest.raises(StoppedError):
        engines.search(UserEngine("Hangs", spec, 500.0), Board(), Limits(), job)
    assert trace.read_text().splitlines()[-1] == "go btime 0 wtime 0 byoyomi 500000"


def test_an_engine_that_is_closed_while_it_starts_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    engines, started, start = UsiEngines(), list[UsiClient](), UsiClient.start

    def start_late(client: UsiClient) -> None:
        started.append(client)
        engines.close()  # The tab goes before there is a process.
        start(client)

    monkeypatch.setattr(UsiClient, "start", start_late)
    spec = EngineSpec((sys.executable, str(FAKE), "*:77"))
    with pytest.raises(InputError):
        engines.search(UserEngine("Good", spec, 0.1), Board(), Limits(), Job(cast(Session, None)))
    assert not started[0].is_alive


@pytest.mark.usefixtures("engines")
def test_an_engine_of_the_user_gives_a_second_opinion(open_page: Any) -> None:
    page = open_page("#review", storage={"goryu.review.playouts": "100"})
    page.locator(".opener textarea").fill("startpos moves 7g7f")
    page.get_by_role("button", name="Open the text").click()
    expect(page.locator(".game-move")).to_have_count(2)
    page.keyboard.press("End")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".opinion")).to_contain_text("−77")  # For White, so against Black.
    line = page.locator(".opinion .line-move")
    name = line.first.inner_text()
    line.first.click()
    expect(page.locator(".branch .line-move").first).to_have_text(name)
    expect(page.locator(".opinion .line-move")).to_have_count(0)
