"""The messages of a tab, in both directions, and what those of the page may hold.

Messages are JSON objects. The page sends {"type": "VIEW.NAME", "id": N, ...} and gets one reply,
{"type": "reply", "id": N, "ok": true, "value": ...} or {..., "ok": false, "error": "MESSAGE"}. The server
sends {"type": "VIEW.NAME", ...} at any time.

A subclass of `Request` beside each view says which fields a message has; `tools/message_types.py` writes the
same as types for JavaScript. A field that is null is as good as missing, and others than those are ignored.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeVar

from msgspec import Struct

from goryu.base.errors import InputError
from goryu_page.fields import FieldError, converted

Language = Literal["ja", "en"]
R = TypeVar("R", bound="Request")
Message = Mapping[str, Any]


class MessageError(InputError):
    """A message of the page that cannot be understood."""


class Request(Struct, rename="camel"):
    """What a message of the page holds beside type and id; by itself nothing."""


class Spoken(Request):
    """A message with the language of the page."""

    language: Language = "en"


class _Envelope(Struct):
    type: str
    id: int | None = None


def encode(message: dict[str, Any]) -> str:
    """Returns a message as JSON in ASCII: half a surrogate pair, which a page may send, has no UTF-8."""
    return json.dumps(message, allow_nan=False)  # Browsers do not read NaN.


def parse(text: str) -> dict[str, Any]:
    """Returns a message of the page; raises MessageError if it has not the form of one.

    >>> parse('{"type": "play.undo", "id": 3}')["id"]
    3
    """
    try:
        message: dict[str, Any] = json.loads(text)
        if "\\u" in text:  # Half a surrogate pair, which only an escape can write, could not be stored.
            json.dumps(message, ensure_ascii=False).encode()
        converted(message, _Envelope)
    except FieldError as error:
        raise MessageError(str(error)) from None
    except (ValueError, RecursionError) as error:
        raise MessageError(f"a message that is not JSON ({error}): expected an object with a type") from None
    return message


def language_of(message: Message) -> Language:
    """Returns the language that a message of the page names; English if it names none."""
    return "ja" if message.get("language") == "ja" else "en"


def read(kind: type[R], message: Message) -> R:
    """Returns what a message holds; raises MessageError.

    >>> read(Spoken, {"type": "session.language", "language": "ja"}).language
    'ja'
    """
    try:
        return converted({name: value for name, value in message.items() if value is not None}, kind)
    except FieldError as error:
        raise MessageError(str(error)) from None


def one_of(name: str, value: str, expected: Collection[str]) -> str:
    """Returns the value of a field that no type can check; raises MessageError if it is not expected."""
    if value not in expected:
        raise MessageError(f"{name}: expected {', '.join(expected)}, received {value[:80]!r}")
    return value
