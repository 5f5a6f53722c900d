"""The frame of the page in a real browser: views, language, theme, connection."""

from typing import Any

import pytest

from goryu.web.server import STATIC

expect = pytest.importorskip("playwright.sync_api").expect


def test_the_page_opens_and_shows_a_board(page: Any) -> None:
    expect(page.locator("sg-pieces piece")).to_have_count(40)


def test_the_language_is_the_browsers_and_can_be_switched(open_page: Any) -> None:
    page = open_page(language="ja")
    expect(page.locator("#tabs a").first).to_have_text("対局")
    page.click("#language")
    expect(page.locator("#tabs a").first).to_have_text("Play")
    page.reload()
    expect(page.locator("#tabs a").first).to_have_text("Play")


def test_light_and_dark_follow_the_system_and_the_switch(open_page: Any) -> None:
    page = open_page(scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert dark != light
    page.reload()
    assert page.evaluate(background) == light


def test_all_texts_are_there_in_both_languages(page: Any) -> None:
    modules = [
        path.name
        for path in (STATIC / "js").glob("*.js")
        if path.name not in ("main.js", "theme.js", "report.js")
    ]
    script = """async (modules) => {
      for (const name of modules) await import(`/static/js/${name}`);
      return (await import("/static/js/i18n.js")).missing();
    }"""
    assert page.evaluate(script, modules) == []
