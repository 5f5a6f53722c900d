"""The frame of the page in a real browser: views, language, theme, connection."""

import re
from typing import Any

import pytest

from goryu.analysis.joining import STATIC

expect = pytest.importorskip("playwright.sync_api").expect


def test_language_and_colours_are_the_browsers_and_a_switch_is_remembered(open_page: Any) -> None:
    page = open_page(language="ja", scheme="dark")
    expect(page.locator("#tabs a").first).to_have_text("対局")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#language")
    page.click("#theme")
    expect(page.locator("#tabs a").first).to_have_text("Play")
    light = page.evaluate(background)
    assert dark != light
    page.reload()
    expect(page.locator("#tabs a").first).to_have_text("Play")
    assert page.evaluate(background) == light


def test_the_browser_keeps_its_settings_under_these_keys() -> None:
    """A key that changes its name loses what the user has chosen."""
    scripts = [
        path.read_text(encoding="utf-8") for path in STATIC.rglob("*.js") if "vendor" not in path.parts
    ]
    keys = {key for text in scripts for key in re.findall(r'"(goryu\.[\w.]+)"', text)}
    kept = {"language", "letters", "notation", "play", "review.engine", "review.playouts", "review.recent"}
    kept |= {"evaluation", "review.lines", "storm", "setup", "sound", "theme"}
    of_tab = {"revoked", "session"}
    assert keys == {f"goryu.{name}" for name in kept | of_tab}
