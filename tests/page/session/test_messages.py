"""Messages of the page: what is read of them, and the types that JavaScript has of them."""

import importlib
from typing import Any

import pytest

from goryu_page.session.messages import MessageError, Request, parse, read
from paths import ROOT


class Wish(Request):
    """A message of a test."""

    is_large: bool
    count: int = 3


def test_null_is_as_good_as_missing_and_other_fields_are_ignored() -> None:
    wish = read(Wish, {"type": "x.wish", "id": 1, "isLarge": True, "count": None, "colour": "red"})
    assert (wish.is_large, wish.count) == (True, 3)
    with pytest.raises(MessageError, match="isLarge: expected true or false"):
        read(Wish, {"isLarge": None})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "1",
        "[]",
        "{}",
        '{"type": 1}',
        '{"type": "x", "id": "1"}',
        "[" * 100_000,
    ],
)
def test_what_is_no_message_is_refused(text: Any) -> None:
    with pytest.raises(MessageError, match="expected"):
        parse(text)


def test_half_an_emoji_becomes_a_question_mark() -> None:
    assert parse('{"type": "x", "name": "\\ud83d \\ud83d\\ude00"}')["name"] == "? 😀"


def test_the_types_for_javascript_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """If they are not: `python tools/message_types.py`."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    message_types = importlib.import_module("message_types")
    assert message_types.PATH.read_text(encoding="utf-8") == message_types.message_types()
