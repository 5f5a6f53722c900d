"""Every view with content, in both languages and both themes, under axe-core."""

import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goryu.base.errors import GoryuError
from goryu.games.shogi import START_SFEN
from goryu_page.dojo.problems import NewProblem, ProblemKind, ProblemState
from paths import ROOT
from sample_games import ROOK_HANGS, write_sample_games
from vendor import download

VERSION = "4.14.0"
"""Of axe-core."""

RUN = """async (only) => {
  const runOnly = only && { runOnly: [only] };
  const found = await axe.run(document, { resultTypes: ["violations"], preload: false, ...runOnly });
  return found.violations.map(({ id, nodes }) => `${id} ${nodes[0].html.slice(0, 200)}`);
}"""


@pytest.fixture(scope="session")
def axe() -> str:
    """The program, which npm fetches once into build/."""
    path = ROOT / "build" / f"axe-core-{VERSION}.js"
    if not path.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        try:
            path.parent.mkdir(exist_ok=True)
            archive = download("axe-core", VERSION, path.parent)
        except GoryuError as error:
            pytest.skip(str(error))
        with tarfile.open(archive) as packed:
            source = packed.extractfile("package/axe.min.js")
            assert source is not None
            path.write_bytes(source.read())
        archive.unlink()
    return path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_no_view_breaks_a_rule_of_axe(open_page: Any, server: Any, axe: str, tmp_path: Path) -> None:
    fill(server, tmp_path)
    page = open_page()
    page.evaluate(axe)
    found: list[str] = []
    for name, show in states(page).items():
        show()
        for _ in range(2):
            language = page.evaluate("document.documentElement.lang")
            for scheme, only in (("light", None), ("dark", "color-contrast")):  # All that a theme changes.
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                found += [f"{name} {language} {scheme}: {one}" for one in page.evaluate(RUN, only)]
            page.evaluate("document.getElementById('language').click()")  # A dialog may be above it.
    assert found == []


def fill(server: Any, folder: Path) -> None:
    """Games, one of them reviewed, and a problem."""
    dojo = server.dojo
    for path in write_sample_games(folder / "games", 3):
        dojo.games.add_file(path.read_bytes(), path.name)
    answer = {"move": "2g2f", "win_rate": 0.6, "line": ["2g2f"], "accepted": True}
    problem = NewProblem(
        ProblemKind.MISTAKE, START_SFEN, (), {"answers": [answer]}, "9g9f", state=ProblemState.SOUND
    )
    dojo.problems.add([problem])


def states(page: Any) -> dict[str, Callable[[], None]]:
    """Returns what to look at, and how to get there; each follows from the one before."""

    def view(address: str) -> None:
        page.evaluate(f"location.hash = '{address}'")
        page.locator(f".view.{address.split('/')[0]}").wait_for()

    def form() -> None:
        page.locator(".setup summary").first.click()

    def editor() -> None:
        page.get_by_role("button", name="Set up a position").click()
        page.locator(".editor sg-pieces piece").first.wait_for()

    def game() -> None:
        page.keyboard.press("Escape")
        page.locator('input[name="side"][value="both"]').check(force=True)
        page.get_by_role("button", name="Start").click()
        page.get_by_role("button", name="Resign").wait_for()

    def review() -> None:
        view("review")
        page.locator(".opener textarea").fill(f"startpos moves {' '.join(ROOK_HANGS)}")
        page.get_by_role("button", name="Open the text").click()
        page.locator(".candidates table").wait_for()
        page.locator(".mistakes button").first.wait_for()

    def problem() -> None:
        view("train")
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("button", name="Solution").click()
        page.locator(".train-result h3").wait_for()

    def microscope() -> None:
        view("microscope")
        page.locator(".terms").wait_for()

    return {
        "form": form, "editor": editor, "game": game, "record": lambda: view("review"), "review": review,
        "games": lambda: view("games"), "progress": lambda: view("games/progress"),
        "explorer": lambda: view("explorer"), "problem": problem, "microscope": microscope,
    }  # fmt: skip
