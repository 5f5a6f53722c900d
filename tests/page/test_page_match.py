"""The page of a match, which `goryu match` writes, in a real browser without a server."""

from pathlib import Path
from typing import Any

import pytest

from goryu_lab.commands.match_page import match_page
from goryu_lab.match.game_log import GameEntry

expect = pytest.importorskip("playwright.sync_api").expect


def entry(number: int, moves: str, score: float, reason: str) -> GameEntry:
    """Returns a game after two moves of an opening; engine 1 is black in even games."""
    played = tuple(moves.split())
    return GameEntry(
        number=number, black=1 + number % 2, opening="startpos moves 7g7f 3c3d", moves=played, score=score,
        reason=reason, detail="", plies=2 + len(played), times_ms=(1500,) * len(played),
        cps=(100,) * len(played), depths=(None,) * len(played), nodes=(None,) * len(played),
        late_ms=(0,) * len(played), first_turn=0, seconds=1.0, date="2026-11-26T12:00:00+00:00",
    )  # fmt: skip


ENTRIES = [entry(0, "8h2b+ 3a2b", 1.0, "resignation"), entry(1, "2g2f", 0.5, "repetition")]


def test_the_page_of_a_match_shows_every_game_on_a_board(open_page: Any, tmp_path: Path) -> None:
    path = tmp_path / "match.html"
    page_of_match = match_page(("<One>", "Two"), ("nodes=9", "nodes=8"), ENTRIES, "The report.")
    path.write_text(page_of_match, encoding="utf-8")
    page = open_page(url=path.as_uri())
    expect(page.locator(".result-table tbody tr").first).to_contain_text("<One>")
    expect(page.locator(".result")).to_contain_text("2 games")
    expect(page.locator(".game-list tbody tr")).to_have_count(2)
    page.keyboard.press("End")
    expect(page.locator(".game-move[aria-current]")).to_contain_text("1.5 s-100")  # Black's side.
    expect(page.locator(".sg-hand-wrap piece.gote.bishop")).to_be_attached()
    page.locator(".game-list tbody tr").nth(1).click()
    expect(page.locator(".stage .side-name").last).to_have_text("▲ Two")
    expect(page.locator(".game-move")).to_have_count(4)
    assert page.url.endswith("#2")


def test_the_page_speaks_japanese_and_shows_a_match_without_games(open_page: Any, tmp_path: Path) -> None:
    path = tmp_path / "match.html"
    path.write_text(match_page(("One", "Two"), ("", ""), [], ""), encoding="utf-8")
    page = open_page(url=path.as_uri(), language="ja")
    expect(page.locator(".result")).to_contain_text("エンジン")
    expect(page.locator(".game-list tbody tr")).to_have_count(0)
