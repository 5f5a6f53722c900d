"""The page without a server, in Debian's Firefox."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firefox import Firefox
from sample_games import ROOK_HANGS_KIF

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

STARTED = """[...document.querySelectorAll("#connection")].some(
    (one) => getComputedStyle(one).display === "none")"""
MOVE = """document.querySelector('.play input[placeholder^="7g7f"]')"""


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    program = shutil.which("firefox-esr")
    if program is None:
        pytest.skip("firefox-esr is not installed")
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "user.js").write_text('user_pref("intl.accept_languages", "en-US");', "utf-8")
    one = Firefox(program, profile)
    yield one
    one.close()


def test_a_game_is_played_reviewed_and_kept_in_firefox(firefox: Firefox, files: Any, tmp_path: Path) -> None:
    firefox.go(f"http://127.0.0.1:{files.server_port}/page/")
    firefox.wait_for(f'{STARTED} && document.querySelector(".level input")')
    plays_and_resigns(firefox)
    reviews(firefox, tmp_path / "game.kif")
    firefox.run("await navigator.serviceWorker.ready;")
    assert firefox.errors == []
    files.shutdown()
    files.server_close()
    firefox.run("setTimeout(() => location.reload());")
    firefox.wait_for(
        f'location.hash === "#games" && {STARTED} && document.querySelector("td.of-accuracy .pair")'
    )


def plays_and_resigns(firefox: Firefox) -> None:
    firefox.run('fill(document.querySelector(".level input"), 1); press("Start");')
    firefox.wait_for(MOVE)
    for number, move in enumerate(("5i5h", "5h5i"), start=1):
        firefox.run(f'fill({MOVE}, "{move}"); press("Play", ".play");')
        firefox.wait_for(f'document.querySelectorAll(".play .moves li").length === {2 * number}')
    firefox.run('press("Resign");')
    firefox.wait_for('find("dialog button", "Resign")')
    firefox.run('press("Resign", "dialog");')
    firefox.wait_for('says(".play .result", "You lose")')


def reviews(firefox: Firefox, record: Path) -> None:
    record.write_text(ROOK_HANGS_KIF, encoding="utf-8")
    firefox.run('location.hash = "#games";')
    firefox.wait_for('labelled("Playouts for each position")')
    firefox.run('fill(labelled("Playouts for each position"), "100");')
    firefox.give_files("input[type=file][multiple]:not([webkitdirectory])", record)
    firefox.wait_for('labelled("先手太郎 (1)")')
    firefox.run('labelled("先手太郎 (1)").click();')
    firefox.wait_for('says(".games .side", "All games are reviewed")')
