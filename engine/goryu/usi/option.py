"""One option of the USI protocol: how it is offered, and how a value that a GUI sends is read."""

from dataclasses import dataclass
from enum import Enum

from goryu.errors import GoryuError
from goryu.players.config import EngineConfig

__all__ = [
    "INT32_MAX",
    "Kind",
    "Option",
    "OptionError",
    "Value",
    "check",
    "combo",
    "spin",
    "string",
]

INT32_MAX = 2**31 - 1
"""MyShogi and others read spins as 32-bit numbers and drop an option whose number is greater."""

EMPTY = "<empty>"
"""How the protocol writes an empty string."""


class Kind(Enum):
    """The option types of the protocol."""

    CHECK = "check"
    SPIN = "spin"
    COMBO = "combo"
    STRING = "string"
    FILENAME = "filename"
    BUTTON = "button"


Value = bool | int | str
"""What an option may hold."""


class OptionError(GoryuError, ValueError):
    """A value that an option cannot take; the option keeps its value."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    field: the attribute of `EngineConfig` that holds the value; "" for a button.
    help: one ASCII sentence; units and what 0 means are said here.
    aliases: (other name, factor): a number sent under the other name is multiplied by the factor.
    """

    name: str
    kind: Kind
    field: str
    help: str
    minimum: int = 0
    maximum: int = INT32_MAX
    choices: tuple[str, ...] = ()
    aliases: tuple[tuple[str, int], ...] = ()

    def declaration(self) -> str:
        """Returns the line that offers the option to the GUI."""
        line = f"option name {self.name} type {self.kind.value}"
        if self.kind is Kind.BUTTON:
            return line
        line += f" default {self.text(EngineConfig())}"
        if self.kind is Kind.SPIN:
            line += f" min {self.minimum} max {self.maximum}"
        return line + "".join(f" var {choice}" for choice in self.choices)

    def text(self, config: EngineConfig) -> str:
        """Returns the option's value in `config` as the protocol writes it."""
        value = getattr(config, self.field)
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value) or EMPTY

    def parse(self, text: str, factor: int = 1) -> Value:
        """Returns the value of a text; a number out of bounds becomes the nearest possible one.

        Raises:
            OptionError: the text is not a value of this kind.
        """
        text = text.strip()
        if self.kind is Kind.CHECK:
            return self._parse_check(text)
        if self.kind is Kind.SPIN:
            return min(self.maximum, max(self.minimum, factor * self.number(text)))
        if self.kind is Kind.COMBO:
            for choice in self.choices:
                if choice.lower() == text.lower():
                    return choice
            raise self._refusal(text, "one of " + " ".join(self.choices))
        if len(text) >= 2 and text[0] == text[-1] == '"':
            text = text[1:-1]  # As Windows copies a path; all our texts are paths.
        return "" if text == EMPTY else text

    def _parse_check(self, text: str) -> bool:
        if text.lower() not in ("true", "false"):
            raise self._refusal(text, "true or false")
        return text.lower() == "true"

    def number(self, text: str) -> int:
        """Returns the whole number that a text is, in bounds or not.

        Raises:
            OptionError: it is none.
        """
        text = text.strip()
        digits = text[1:] if text[:1] in ("-", "+") else text
        # isdigit alone also accepts digits of other scripts.
        if not (digits.isascii() and digits.isdigit()):
            raise self._refusal(text, f"a whole number from {self.minimum} to {self.maximum}")
        # Python refuses to convert numbers of more than some thousands of digits.
        return int(text) if len(digits) < 20 else (-1 if text[0] == "-" else 1) * 10**20

    def _refusal(self, text: str, expected: str) -> OptionError:
        return OptionError(f"option {self.name} expects {expected}, received {text[:80]!a}")


# Shorter ways to write an option down; an alias without a factor is in the same unit.


def check(name: str, field: str, explanation: str, *aliases: str) -> Option:
    return Option(name, Kind.CHECK, field, explanation, aliases=tuple((alias, 1) for alias in aliases))


def spin(
    name: str, field: str, minimum: int, maximum: int, explanation: str, *aliases: str | tuple[str, int]
) -> Option:
    pairs = tuple((alias, 1) if isinstance(alias, str) else alias for alias in aliases)
    return Option(name, Kind.SPIN, field, explanation, minimum, maximum, aliases=pairs)


def combo(name: str, field: str, choices: str, explanation: str) -> Option:
    return Option(name, Kind.COMBO, field, explanation, choices=tuple(choices.split()))


def string(name: str, field: str, explanation: str, *aliases: str, kind: Kind = Kind.STRING) -> Option:
    return Option(name, kind, field, explanation, aliases=tuple((alias, 1) for alias in aliases))
