"""JSON from files that may be damaged: every fault is a ValueError, and every number is finite."""

import json
import math
from collections.abc import Iterable
from typing import Any

MOST_DEPTH = 50
"""Brackets within brackets."""

_TOO_DEEP = f"expected at most {MOST_DEPTH} brackets within brackets"

MOST_DIGITS = 300
"""A whole number of so many digits can still become a float."""


def parse_json(text: str | bytes) -> Any:
    """Returns the value of a JSON text; raises ValueError.

    `json.loads` raises RecursionError for very many brackets within brackets, as other code does later for
    half as many, and reads 1e999 as infinity, which raises OverflowError where a whole number is made of it.

    >>> parse_json('{"playouts": 1e999}')
    Traceback (most recent call last):
    ValueError: expected finite numbers, received 1e999
    """
    try:
        value = json.loads(text, parse_float=_finite, parse_int=_whole, parse_constant=_finite)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [part for one in level if isinstance(one, list | dict) for part in _parts(one)]
    if level:
        raise ValueError(_TOO_DEEP)
    return value


def _parts(value: list[Any] | dict[str, Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"expected finite numbers, received {text}")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"expected at most {MOST_DIGITS} digits, received {len(text)}")
    return int(text)
