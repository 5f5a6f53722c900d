"""Griffe's extension of the site: docstrings are plain text, and become Markdown that shows them as they are.

Doctests and indented tables become code; `[file][rank]`, which Markdown takes for a link, is escaped.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(r"^(?:Args|Attributes|Raises|Returns|Yields|Examples?|Note):$")
"""A heading that Griffe reads itself, with the indented lines below it."""


def markdown(docstring: str) -> str:
    """Returns a docstring as Markdown."""
    written: list[str] = []
    code = ""
    above = ""
    for line in [*docstring.splitlines(), ""]:
        is_indented = line.startswith("    ")
        if code and not (line.strip() if code == "pycon" else is_indented):
            written.append("```")
            code = ""
        if not code and line.startswith(">>> "):
            code = "pycon"
            written += ["", "```pycon"]
        elif not code and is_indented and above.strip() and not above.startswith("    ") and not SECTION.match(above):
            code = "text"
            written += ["", "```text"]
        written.append(line if code else line.replace("][", "]\\["))
        above = line
    return "\n".join(written).rstrip()


class Docstrings(griffe.Extension):
    """Rewrites every docstring when Griffe has read it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
