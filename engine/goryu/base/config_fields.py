"""The fields of a config: the help of its option and the range of its number next to the default of each."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from goryu.base.errors import InputError

MOST_WHOLE = 2**31 - 1
"""The greatest whole number of options and configs; native modules take 32 bits."""

MOST_SEED = (1 << 63) - 1
"""The greatest seed of random numbers that every library takes."""

MOST = sys.float_info.max
"""The greatest finite number."""


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `least`, which belongs to them unless it `is_open`, to `most`."""

    least: float
    most: float
    is_open: bool = False

    def __contains__(self, value: float) -> bool:
        """Is the value in the range? NaN never is."""
        return self.least <= value <= self.most and not (self.is_open and value == self.least)

    def __str__(self) -> str:
        return self.told(str.format)

    def told(self, say: Callable[..., str]) -> str:
        """Returns the range as words. say: `str.format` for English, `tr` for the user's language.

        >>> Range(0, 1, is_open=True).told(str.format)
        'more than 0 and at most 1'
        """
        text = say("more than {number}" if self.is_open else "at least {number}", number=f"{self.least:g}")
        if self.most == math.inf:
            return text
        return text + (
            say(" and finite") if self.most == MOST else say(" and at most {number}", number=self.most)
        )


def option(default: Any, text: str, *, choices: Sequence[str] = ()) -> Any:
    """Returns a field of a dataclass with the help of its option.

    default: `MISSING` for an option that must be given. choices: the values that are allowed; none: any.
    """
    return field(default=default, metadata={"help": text} | ({"choices": choices} if choices else {}))


def ranged(
    default: float | None, text: str = "", *, least: float | None = None, most: float | None = None
) -> Any:
    """Returns a field of a dataclass whose value `check_ranges` checks.

    default: None, too, is allowed then; the greatest number must be given with it.
    text: the help of its option; a field without help gets none.
    least: the least number; None for any above 0. most: the greatest; None for `MOST_WHOLE`, or for `MOST` if
        the default is no whole number. With `math.inf` infinity is a number too.
    """
    if most is None:
        most = MOST_WHOLE if isinstance(default, int) else MOST
    numbers = Range(0, most, is_open=True) if least is None else Range(least, most)
    return field(default=default, metadata={"range": numbers} | ({"help": text} if text else {}))


def check_ranges(config: Any) -> None:
    """Raises InputError for the first field of a dataclass that is out of its range, or none of its choices.

    >>> @dataclass
    ... class Config:
    ...     rate: float = ranged(0.1, most=1)
    >>> check_ranges(Config(0.0))
    Traceback (most recent call last):
    goryu.base.errors.InputError: rate: expected more than 0 and at most 1, received 0.0
    """
    for item in fields(config):
        expected = item.metadata.get("range")
        value = getattr(config, item.name)
        if expected is not None and value is not None and value not in expected:
            raise InputError(f"{item.name}: expected {expected}, received {value}")
        if (choices := item.metadata.get("choices")) and value not in choices:
            raise InputError(f"{item.name}: expected {', '.join(choices)}, received {value!r}")
