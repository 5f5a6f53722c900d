"""The textbook that runs: its Python needs no library but python-shogi, and Chromium runs it from files."""

import importlib.util
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import textbook
from file_server import file_server
from goryu.commands.common import UsageError
from goryu_page.microscope.tab import Tab
from paths import ROOT

START_MS = 300_000
"""Python starts in the browser in some seconds, but not on a busy machine."""

ANSWERS = """
import json, pkgutil, sys
from importlib import import_module
import goryu.games, goryu.search, goryu_page.microscope
for package in (goryu.games, goryu.search, goryu_page.microscope):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        import_module(module.name)
from goryu_page.microscope.tab import Tab
tab = Tab(lambda text: '"reply"' in text and print(text))
for message in json.load(sys.stdin):
    tab.receive(json.dumps({"language": "en", **message}))
"""


def test_the_microscope_needs_no_library_but_python_shogi(tmp_path: Path) -> None:
    textbook.write_python(tmp_path / "goryu-python.zip")
    with zipfile.ZipFile(tmp_path / "goryu-python.zip") as packed:
        packed.extractall(tmp_path)
    show = {"type": "microscope.show", "playout": 3, "depth": 2, "width": 3, "node": ""}
    messages: list[dict[str, Any]] = [{"type": "microscope.catalogue"}]
    for game, algorithm in (
        ("tictactoe", "alpha-beta"),
        ("reversi", "uct"),
        ("shogi", "puct"),
        ("shogi", "gumbel"),
    ):
        new = {"type": "microscope.new", "game": game, "position": "7g7f" if game == "shogi" else ""}
        messages += [{**new, "algorithm": algorithm, "network": "material", "values": {}}, show]
    text = "print(f'{2.5:+.1f}')\nnothing\n"
    run = {"type": "textbook.run", "game": "reversi", "position": "", "network": "material", "owner": ""}
    messages.append({**run, "module": "goryu.search.uct", "text": text})
    bare = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{ANSWERS}"]
    done = subprocess.run(bare, input=json.dumps(messages), capture_output=True, text=True)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(replies) == len(messages), done.stderr
    fault = replies.pop()
    assert (fault["error"], fault["line"]) == ("NameError: name 'nothing' is not defined", 2)
    assert all(reply["ok"] for reply in replies), replies
    networks = [game["networks"] for game in replies[0]["value"]["games"].values()]
    assert "network" not in {kind for kinds in networks for kind, _ in kinds}


@pytest.fixture(scope="module")
def hooks() -> Any:
    """docs/hooks.py, which builds the site of the guides, as a module."""
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_chapter_runs_and_its_search_has_steps(hooks: Any) -> None:
    chapters = hooks.chapters()
    assert chapters.keys() == textbook.CHAPTERS.keys()
    sent: list[str] = []
    tab = Tab(sent.append)

    def ask(**message: Any) -> Any:
        tab.receive(json.dumps({"language": "en", **message}))
        return json.loads(sent[-1])["value"]

    shown = {"step": None, "playout": 9, "depth": 3, "width": 3, "node": ""}
    try:
        for name, chapter in chapters.items():
            outcome = ask(type="textbook.run", text=chapter["text"], **chapter["run"])
            assert outcome["boards"] or chapter["search"], name
            if search := chapter["search"]:
                fixed = {key: search.pop(key) for key in ("game", "algorithm", "network")}
                position, values = search.pop("text"), {key: float(value) for key, value in search.items()}
                ask(type="microscope.new", position=position, values=values, **fixed)
                assert ask(type="microscope.show", **shown)["step"] > 1, name
    finally:
        tab.editing.take_back()


@pytest.fixture(scope="module")
def site(hooks: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The textbook alone, as docs/hooks.py puts it into the site of the guides."""
    folder = tmp_path_factory.mktemp("site")
    try:
        textbook.begin_site(folder)
    except UsageError as error:
        pytest.skip(f"no Pyodide: {error}")
    textbook.build(folder, hooks.chapters())
    textbook.write_service_worker(folder)
    return folder


@pytest.fixture
def files(site: Path) -> Iterator[ThreadingHTTPServer]:
    """What `python -m http.server` does."""
    with file_server(site) as server:
        yield server


@pytest.mark.slow
def test_a_reader_runs_edits_and_stops_code_and_comes_back_offline(browser: Any, files: Any) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    context = browser.new_context(locale="en-US")
    context.set_default_timeout(START_MS)
    page = context.new_page()
    address = f"http://127.0.0.1:{files.server_port}/textbook/"
    problems: list[str] = []
    hosts: set[str] = set()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))

    page.goto(f"{address}?language=en&chapter=minimax")
    assert not context.service_workers
    page.click("p > button.primary")
    expect(page.locator(".printed")).to_have_text("best move: 1 value: -0.0\n", timeout=START_MS)
    expect(page.locator(".progress")).to_contain_text("Step 0 of 285")
    expect(page.locator("p [role=status]")).to_contain_text("offline")

    code = page.locator(".editor textarea")
    ours = code.input_value()
    code.fill(ours.replace("max(best", "min(best"))
    page.click("p > button.primary")
    expect(page.locator(".printed")).to_have_text("best move: 1 value: -1.0\n")
    code.fill(ours.replace("state.pop()", "state.pip()", 1))
    page.click("p > button.primary")
    expect(page.locator("p.fault")).to_contain_text("Line 10: AttributeError")
    expect(page.locator(".numbers .fault")).to_have_text("10")
    code.fill(f"while True:\n    pass\n{ours}")
    page.click("p > button.primary")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("p [role=status]")).to_have_text(re.compile(r"^Stopped\. E"), timeout=START_MS)
    page.get_by_role("button", name="Reset").click()
    assert code.input_value() == ours
    page.click("p > button.primary")
    expect(page.locator(".printed")).to_have_text("best move: 1 value: -0.0\n", timeout=START_MS)
    expect(page.locator(".progress")).to_contain_text("Step 0 of 285")

    files.shutdown()
    files.server_close()
    page.goto(f"{address}?language=ja")
    page.click("p > button.primary")
    expect(page.locator(".microscope .progress")).to_contain_text("ステップ 0 /", timeout=START_MS)
    page.locator(".microscope .playout").fill("30")
    page.locator(".microscope .playout").press("Enter")
    expect(page.locator(".microscope .progress")).to_contain_text("· 30 プレイアウト ·")
    page.get_by_label("ゲーム").select_option("shogi")
    page.get_by_role("button", name="開始").click()
    expect(page.locator(".microscope .small-board piece.king")).to_have_count(2)
    assert problems == []
    assert hosts - {""} == {urlsplit(address).netloc}  # A blob has none.
    context.close()
