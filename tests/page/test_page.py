"""The frame of the page in a real browser: views, language, theme, connection."""

from typing import Any

import pytest

from goryu_page.server.server import STATIC

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

    modules = [
        path.name
        for path in (STATIC / "js").glob("*.js")
        if path.name not in ("main.js", "theme.js", "report.js", "match.js")
    ]
    missing = """async (modules) => {
      for (const name of modules) await import(`/static/js/${name}`);
      return (await import("/static/js/i18n.js")).missing();
    }"""
    assert page.evaluate(missing, modules) == [], "texts without a translation"
