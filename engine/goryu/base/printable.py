"""Text on a terminal: made safe to print, and its width."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that steer a terminal, end a line or turn the direction of text, and halves of characters, which
cannot be written. A tab only separates words."""


def printable(line: str) -> str:
    r"""Returns a line with escapes for its control characters.

    >>> print(printable("Alice\x1b[2J"))
    Alice\x1b[2J
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), line)


def columns(text: str) -> int:
    """Returns the columns of a text on a terminal, where Japanese letters take two.

    >>> columns("5五歩")
    5
    """
    return sum(2 if ord(letter) >= 0x2E80 else 1 for letter in text)
