"""JSON from files that may be damaged: every fault is a ValueError, and every number is finite."""

import json
import math
from typing import Any

MOST_DIGITS = 300
"""A whole number of so many digits can still become a float."""


def parse_json(text: str | bytes) -> Any:
    """Returns the value of a JSON text; raises ValueError.

    `json.loads` raises RecursionError for very many brackets within brackets, and reads 1e999 as infinity,
    which raises OverflowError where a whole number is made of it.

    >>> parse_json('{"playouts": 1e999}')
    Traceback (most recent call last):
    ValueError: expected finite numbers, received 1e999
    """
    try:
        return json.loads(text, parse_float=_finite, parse_int=_whole, parse_constant=_finite)
    except RecursionError:
        raise ValueError("expected fewer brackets within brackets") from None


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"expected finite numbers, received {text}")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"expected at most {MOST_DIGITS} digits, received {len(text)}")
    return int(text)
