"""The messages of a tab, in both directions: their form, and what is read from their fields.

Messages are JSON objects. The page sends {"type": "VIEW.NAME", "id": N, ...} and gets one reply,
{"type": "reply", "id": N, "ok": true, "value": ...} or {..., "ok": false, "error": "MESSAGE"}. The server
sends {"type": "VIEW.NAME", ...} at any time.
"""

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar

from goryu.base.errors import InputError
from goryu.base.language import tr

Language = Literal["ja", "en"]
T = TypeVar("T")
Message = Mapping[str, Any]


class MessageError(InputError):
    """A message of the page that cannot be understood."""


def encode(message: dict[str, Any]) -> str:
    """Returns a message as JSON in ASCII: half a surrogate pair, which a page may send, has no UTF-8."""
    return json.dumps(message, allow_nan=False)  # Browsers do not read NaN.


def parse(text: str) -> dict[str, Any]:
    """Returns a message of the page; raises MessageError if it has not the form of one.

    >>> parse('{"type": "play.undo", "id": 3}')["id"]
    3
    """
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"a message that is not JSON ({error}): expected an object with a type") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise MessageError(f"message {text[:80]!r}: expected an object with a type")
    if not isinstance(message.get("id"), int | None):
        raise MessageError(f"message id {str(message['id'])[:80]!r}: expected a whole number")
    return message


def language_of(message: Message) -> Language:
    """Returns the language that a message of the page names; English if it names none."""
    return "ja" if message.get("language") == "ja" else "en"


def field(message: Message, name: str, kind: type[T], default: T | None = None) -> T:
    """Returns a field of a message.

    kind: its type; `float` takes whole numbers too. default: of a field that is missing or null; None
        if it must be there.

    Raises:
        MessageError: the field is missing, or has another type.

    >>> field({"type": "play.new", "playouts": 100}, "playouts", int)
    100
    """
    value = message.get(name)
    if value is None and default is not None:
        return default
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        with suppress(OverflowError):
            value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise MessageError(f"{message.get('type')}: {name} is {str(value)[:80]!r}, expected {kind.__name__}")
    return value


def base64_field(message: Message, name: str) -> bytes:
    """Returns the bytes of a field in Base64; raises MessageError if it is something else."""
    try:
        return b64decode(field(message, name, str), validate=True)
    except (Base64Error, ValueError) as error:
        raise MessageError(f"{message.get('type')}: {name} is not Base64 ({error})") from error


def moves_field(message: Message, most: int) -> list[str]:
    """Returns the field `moves`: texts, at most so many; raises MessageError if it is something else."""
    moves = field(message, "moves", list)
    if len(moves) > most or not all(isinstance(move, str) for move in moves):
        raise MessageError(f"{message.get('type')}: moves: expected {most} USI moves at most")
    return moves


def choice(
    message: Message, name: str, expected: Mapping[str, Any] | tuple[str, ...], default: str | None = None
) -> str:
    """Returns a field that names one of `expected`; raises MessageError if it names another one."""
    value = field(message, name, str, default)
    if value not in expected:
        raise MessageError(f"{message.get('type')}: {name} is {value[:80]!r}, expected {', '.join(expected)}")
    return value


def number(message: Message, name: str, least: int, most: int, default: int | None = None) -> int:
    """Returns a whole number of a message; raises MessageError if it is out of range."""
    value = field(message, name, int, default)
    if not least <= value <= most:
        raise MessageError(
            tr(
                "{name}: expected a number from {least} to {most}, received {value}",
                name=tr(name),
                value=value,
                least=least,
                most=most,
            )
        )
    return value
