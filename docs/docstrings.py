"""Griffe's extension of the site: docstrings are plain text, and become Markdown that shows them as they are.

Doctests and indented tables become code, `name: what it means` becomes an item of a list, and
`[file][rank]`, which Markdown takes for a link, is escaped.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(r"^(?:Args|Attributes|Raises|Returns|Yields|Examples?|Note):$")
"""A heading that Griffe reads itself, with the indented lines below it."""


ITEM = re.compile(r"^([a-z]\w*(?:, \w+)*): (?=\S)|^((?:Weakness|Sources?): )")
"""The beginning of a line about an argument or a field, or about an algorithm."""


def markdown(docstring: str) -> str:
    """Returns a docstring as Markdown."""
    written: list[str] = []
    code = ""
    above = ""
    is_item = False
    for line in [*docstring.splitlines(), ""]:
        is_indented = line.startswith("    ")
        if code and not (line.strip() if code == "pycon" else is_indented):
            written.append("```")
            code = ""
        is_item = is_item and bool(line.strip())
        if code or is_item or not line.strip():
            pass
        elif line.startswith(">>> "):
            code = "pycon"
            written += ["", "```pycon"]
        elif is_indented and above.strip() and not above.startswith("    ") and not SECTION.match(above):
            code = "text"
            written += ["", "```text"]
        if code:
            written.append(line)
        elif start := ITEM.match(line):
            is_item = True
            name = f"`{start[1]}`: " if start[1] else start[2]
            written += ["", f"- {name}{escaped(line[start.end() :])}"]
        else:
            written.append(("    " if is_item else "") + escaped(line))
        above = line
    return "\n".join(written).rstrip()


def escaped(line: str) -> str:
    """Returns a line of text without what Markdown would take for a link."""
    return line.replace("][", "]\\[")


class Docstrings(griffe.Extension):
    """Rewrites every docstring when Griffe has read it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
