"""A USI option: how it is offered to the GUI, and how the text that the GUI sends becomes a value."""

import re
from dataclasses import dataclass
from enum import Enum

from goryu.base.errors import GoryuError
from goryu.base.language import tr
from goryu.players.config import EngineConfig, Value, value_at

INT32_MAX = 2**31 - 1
"""MyShogi and others read numbers in 32 bits and drop an option with a greater bound."""

EMPTY = "<empty>"
"""An empty string in the protocol."""


class OptionError(GoryuError, ValueError):
    """A text that is no value of its option."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of an option's whole number; the field's value is `factor * (number / divisor) + offset`."""

    name: str
    divisor: int = 1
    factor: int = 1
    offset: int = 0

    def value(self, number: int) -> float:
        """Returns the field's value; an integer if nothing is divided."""
        if self.divisor == 1:
            return number * self.factor
        return self.factor * (number / self.divisor) + self.offset

    def number(self, value: float) -> int:
        """Returns the option's number, the inverse of `value`."""
        return round((value - self.offset) / self.factor * self.divisor)


# A win rate p in [0, 1] is the result 2p - 1 in [-1, +1]; a difference of win rates is doubled.

NUMBER = Unit("")
MS = Unit("milliseconds")
CP = Unit("centipawns")
MB = Unit("MB", factor=1 << 20)
PERCENT_AS_IS = Unit("percent")
PERCENT = Unit("percent", divisor=100)
PERMILLE = Unit("per mille", divisor=1000)
RATE_PERCENT = Unit("percent of win rate", divisor=100, factor=2)
RATE_PERMILLE = Unit("per mille of win rate", divisor=1000, factor=2)
RESULT_PERCENT = Unit("percent of win rate", divisor=100, factor=2, offset=-1)
RESULT_PERMILLE = Unit("per mille of win rate", divisor=1000, factor=2, offset=-1)


class Kind(Enum):
    """The option types of the protocol."""

    CHECK = "check"
    SPIN = "spin"
    COMBO = "combo"
    STRING = "string"
    FILENAME = "filename"
    BUTTON = "button"


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    field: the dotted path of the field in `EngineConfig`; "" for a button.
    help: an ASCII sentence.
    aliases: (other name, factor); a number sent under the other name is multiplied by the factor.
    pattern, expected: a regular expression for texts that are allowed, and its description.
    exact_alias: another name in exactly this case, because it is the name of another option in another case.
    """

    name: str
    kind: Kind
    field: str
    help: str
    minimum: int = 0
    maximum: int = 0
    unit: Unit = NUMBER
    choices: tuple[str, ...] = ()
    aliases: tuple[tuple[str, int], ...] = ()
    exact_alias: str = ""
    pattern: str = ""
    expected: str = ""

    def text(self, config: EngineConfig) -> str:
        """Returns the value in `config` as the protocol writes it."""
        value = value_at(config, self.field)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return value or EMPTY
        return str(self.unit.number(value))

    def declaration(self, config: EngineConfig) -> str:
        """Returns the line that offers the option to the GUI, with the value in `config` as the default."""
        line = f"option name {self.name} type {self.kind.value}"
        if self.kind is not Kind.BUTTON:
            line += f" default {self.text(config)}"
        if self.kind is Kind.SPIN:
            line += f" min {self.minimum} max {self.maximum}"
        return line + "".join(f" var {choice}" for choice in self.choices)

    def description(self, config: EngineConfig) -> str:
        """Returns for people which values the option takes, with the value in `config` as the default."""
        if self.kind is Kind.BUTTON:
            return tr("{name} (button)", name=self.name)
        words = {Kind.CHECK: tr("true or false"), Kind.STRING: tr("text"), Kind.FILENAME: tr("file")}
        values = words.get(self.kind, "")
        if self.kind is Kind.SPIN:
            bounds = tr("{low} to {high}", low=self.minimum, high=self.maximum)
            values = f"{bounds} {tr(self.unit.name) if self.unit.name else ''}".rstrip()
        elif self.kind is Kind.COMBO:
            first, last = ", ".join(self.choices[:-1]), self.choices[-1]
            values = tr("{first} or {last}", first=first, last=last)
        default = self.text(config).replace(EMPTY, tr("none"))
        return tr("{name} ({values}; default {default})", name=self.name, values=values, default=default)

    def parse(self, text: str, factor: int = 1) -> Value:
        """Returns the field's value for a text; a number out of bounds becomes the nearest possible one.

        Raises:
            OptionError: the text is not a value of this kind.
        """
        text = text.strip()
        if self.kind is Kind.SPIN:
            return self.unit.value(min(self.maximum, max(self.minimum, factor * self.parse_number(text))))
        if self.kind is Kind.CHECK:
            if text.lower() not in ("true", "false"):
                raise self._error(text, "true or false")
            return text.lower() == "true"
        if self.kind is Kind.COMBO:
            for choice in self.choices:
                if choice.lower() == text.lower():
                    return choice
            raise self._error(text, "one of " + " ".join(self.choices))
        if len(text) >= 2 and text[0] == text[-1] == '"':
            text = text[1:-1]  # Windows copies a path with quotes.
        if self.pattern and not re.fullmatch(self.pattern, text):
            raise self._error(text, self.expected)
        return "" if text == EMPTY else text

    def parse_number(self, text: str) -> int:
        """Returns the whole number in a text, in bounds or not.

        Raises:
            OptionError: the text is not a whole number.
        """
        text = text.strip()
        digits = text[1:] if text[:1] in ("-", "+") else text
        # isdigit alone also accepts digits of other scripts.
        if not (digits.isascii() and digits.isdigit()):
            raise self._error(text, f"a whole number from {self.minimum} to {self.maximum}")
        # Python refuses to convert numbers of thousands of digits.
        return int(text) if len(digits) < 20 else (-1 if text[0] == "-" else 1) * 10**20

    def _error(self, text: str, expected: str) -> OptionError:
        return OptionError(f"option {self.name} expects {expected}, received {text[:80]!a}")


def _with_factors(aliases: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Returns (name, factor) of each alias; `NAME*FACTOR` has the factor, others 1."""
    parts = (alias.partition("*") for alias in aliases)
    return tuple((name, int(factor or 1)) for name, _, factor in parts)


def check(name: str, field: str, explanation: str, *aliases: str) -> Option:
    return Option(name, Kind.CHECK, field, explanation, aliases=_with_factors(aliases))


def spin(
    name: str, field: str, minimum: int, maximum: int, unit: Unit, explanation: str, *aliases: str
) -> Option:
    return Option(name, Kind.SPIN, field, explanation, minimum, maximum, unit, aliases=_with_factors(aliases))


def combo(name: str, field: str, choices: str, explanation: str) -> Option:
    return Option(name, Kind.COMBO, field, explanation, choices=tuple(choices.split()))


def string(name: str, field: str, explanation: str, *aliases: str) -> Option:
    return Option(name, Kind.STRING, field, explanation, aliases=_with_factors(aliases))


def filename(name: str, field: str, explanation: str, *aliases: str) -> Option:
    return Option(name, Kind.FILENAME, field, explanation, aliases=_with_factors(aliases))


def button(name: str, explanation: str, *aliases: str) -> Option:
    return Option(name, Kind.BUTTON, "", explanation, aliases=_with_factors(aliases))
