"""`engine_options.txt`, a file next to the program that sets options for every GUI, as in YaneuraOu.

Each line sets one option, as `NAME VALUE`, as `NAME=VALUE`, or as an engine declares it in answer to `usi`:
`option name NAME type spin default VALUE min 1 max 9`. These values override those of the GUI.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from goryu.players.set_up.paths import read_settings

OPTIONS_FILE = "engine_options.txt"

OPTIONS_VARIABLE = "GORYU_OPTIONS"
"""The environment variable that names another file; empty for no file."""

_DECLARATION = re.compile(
    r"option\s+name\s+(\S+)\s+type\s+\w+(?:\s+default\s*(.*?))?(?:\s+(?:min|max|var)\s.*)?"
)
_SETTING = re.compile(r"([^\s=]+)[\s=]*(.*)")


def options_file() -> Path | None:
    """Returns the path of the file: next to the program that was started; None for `python -m goryu`."""
    if (path := os.environ.get(OPTIONS_VARIABLE)) is not None:
        return Path(path) if path else None
    program = Path(sys.argv[0])
    return None if program.suffix == ".py" or not program.name else program.with_name(OPTIONS_FILE)


def read_options_file() -> tuple[str, str]:
    """Returns the text of the file and the reason, in one line, why it cannot be read; "" for none.

    The file that GORYU_OPTIONS names may be missing: the Windows launcher always names one.
    """
    path = options_file()
    text, problem = read_settings(path) if path else ("", "")
    return text, f"Error! {OPTIONS_FILE} cannot be read: {problem}" if problem else ""


def parse_options_file(text: str) -> Iterator[tuple[str, str]]:
    """Yields (name, value); skips empty lines and comments, which begin with `#`, `;` or `//`."""
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith(("#", ";", "//")):
            continue
        if match := _DECLARATION.fullmatch(line) or _SETTING.fullmatch(line):
            yield match[1], (match[2] or "").strip()
