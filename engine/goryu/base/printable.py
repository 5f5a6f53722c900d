"""Text from other programs and from files, made safe to print."""

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
