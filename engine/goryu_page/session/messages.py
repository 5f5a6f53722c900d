"""The messages of a tab, in both directions, and what those of the page may hold.

Messages are JSON objects. The page sends {"type": "VIEW.NAME", "id": N, ...} and gets one reply,
{"type": "reply", "id": N, "ok": true, "value": ...} or {..., "ok": false, "error": "MESSAGE"}. The server
sends {"type": "VIEW.NAME", ...} at any time.

The parameters of the view's method for a message are its fields; `tools/message_types.py` writes the same as
types for JavaScript. A field that is null is as good as missing, and others than those are ignored.
"""

import json
from collections.abc import Callable, Collection, Mapping
from inspect import Parameter, signature
from typing import Any, Literal, TypeVar, cast, get_type_hints

from msgspec import Struct, defstruct

from goryu.base.errors import InputError
from goryu_page.fields import FieldError, converted

Language = Literal["ja", "en"]
R = TypeVar("R", bound="Request")
Message = Mapping[str, Any]


class MessageError(InputError):
    """A message of the page that cannot be understood."""


class Request(Struct, rename="camel"):
    """What a message of the page holds beside type and id; by itself nothing."""


class Fields(Request):
    """A message whose fields are the parameters of a method; see `request_of`."""


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
        if "\\u" in text:  # Half a surrogate pair, as of an emoji that was cut, becomes "?".
            message = json.loads(json.dumps(message, ensure_ascii=False).encode(errors="replace"))
        converted(message, _Envelope)
    except FieldError as error:
        raise MessageError(str(error)) from None
    except (ValueError, RecursionError) as error:
        raise MessageError(f"a message that is not JSON ({error}): expected an object with a type") from None
    return message


def language_of(message: Message) -> Language:
    """Returns the language that a message, or the query of a request, names; English if it names none."""
    return "ja" if message.get("language") == "ja" else "en"


def read(kind: type[R], message: Message) -> R:
    """Returns what a message holds; raises MessageError.

    >>> read(request_of(lambda count=1: count), {"count": 2}).count
    2
    """
    try:
        return converted({name: value for name, value in message.items() if value is not None}, kind)
    except FieldError as error:
        raise MessageError(str(error)) from None


def request_of(method: Callable[..., Any]) -> type[Request]:
    """Returns what a message for a method holds: its parameters, or the `Request` that is its only one."""
    hints = get_type_hints(method, include_extras=True)
    given = [one for one in signature(method).parameters.values() if one.name != "self"]
    kinds = [hints.get(one.name, Any) for one in given]
    if len(kinds) == 1 and isinstance(kinds[0], type) and issubclass(kinds[0], Request):
        return kinds[0]
    fields = [
        (one.name, kind) if one.default is Parameter.empty else (one.name, kind, one.default)
        for one, kind in zip(given, kinds, strict=True)
    ]
    return cast(type[Request], defstruct(method.__name__, fields, bases=(Fields,), rename="camel"))


def one_of(name: str, value: str, expected: Collection[str]) -> str:
    """Returns the value of a field that no type can check; raises MessageError if it is not expected."""
    if value not in expected:
        raise MessageError(f"{name}: expected {', '.join(expected)}, received {value[:80]!r}")
    return value
