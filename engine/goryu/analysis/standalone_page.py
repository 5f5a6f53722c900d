"""Writes a part of the browser page as one HTML file that needs neither an internet connection nor a server.

The file holds modules, texts, styles and pieces of the page of `goryu web`, and the data. Browsers load no
modules from a file that the user opens, so each module becomes a data URL, and an import map gives it a name.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from goryu.analysis.description import Describer
from goryu.analysis.page_texts import json_in_page, texts_json

STATIC = Path(__file__).resolve().parents[2] / "goryu_page" / "static"

STYLES = ("css/colors.css", "css/base.css", "css/board.css", "vendor/uplot/uPlot.css", "css/review.css")

_IMPORT = re.compile(r"""(\b(?:import|export)\b(?:[^'"();]*?\bfrom)?\s*)(['"])(\.[^'"]+)\2""")
_TEXT = re.compile(r"""["'`](\w+)["'`.]""")
_URL = re.compile(r"""url\((['"]?)([^'")]+)\1\)""")
_PIECE = "`/static/pieces/${shown}-${role}.svg`"

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:"
)
"""What the page may load: nothing from outside."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<link rel="icon" href="{icon}">
<style>
{styles}
</style>
<script>globalThis.GORYU_PIECES = {pieces};</script>
<script type="importmap">{imports}</script>
</head>
<body>
<noscript>This page needs JavaScript. / JavaScript を有効にしてください。</noscript>
<script id="texts" type="application/json">{texts}</script>
<script id="data" type="application/json">{data}</script>
<script type="module">import "goryu/{entry}";</script>
</body>
</html>
"""


def html_report(title: str, describer: Describer) -> str:
    """Returns the page of a finished review."""
    return standalone_page("js/report.js", {"title": title, **describer.everything()})


def standalone_page(entry: str, data: Mapping[str, Any]) -> str:
    """Returns a page that runs a module with data.

    entry: the module's path in `STATIC`; it finds the data as JSON in the element `data`. data: JSON values;
    "title" is the page's title.
    """
    return PAGE.format(
        title=escape(data["title"]),
        policy=POLICY,
        icon=_data_url("icon.svg"),
        styles=_styles(),
        pieces=json.dumps(_pieces()),
        imports=json.dumps({"imports": _urls(entry)}),
        texts=texts_json(tables(entry)),
        data=json_in_page(data),
        entry=entry,
    )


def _urls(entry: str) -> dict[str, str]:
    """Returns the data URL of a module and of each that it imports, by "goryu/" and its path."""
    return {
        f"goryu/{path}": f"data:text/javascript;charset=utf-8,{quote(text)}"
        for path, text in sorted(modules(entry).items())
    }


def tables(entry: str) -> set[str]:
    """Returns the tables of texts that a module and those that it imports name."""
    return {table for text in modules(entry).values() for table in _TEXT.findall(text)}


@cache
def modules(entry: str) -> dict[str, str]:
    """Returns the text of a module and of each that it imports, by its path."""
    found: dict[str, str] = {}
    waiting = [entry]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path], imported = _module(path)
            waiting += imported
    return found


def _module(path: str) -> tuple[str, list[str]]:
    """Returns the text of a module with absolute names in its imports, and the paths of what it imports."""
    imported: list[str] = []

    def absolute(match: re.Match[str]) -> str:
        target = _normal(PurePosixPath(path).parent / match[3])
        imported.append(target)
        return f"{match[1]}{match[2]}goryu/{target}{match[2]}"

    text = _IMPORT.sub(absolute, (STATIC / path).read_text(encoding="utf-8"))
    return text.replace(_PIECE, "GORYU_PIECES[`${shown}-${role}`]"), imported


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


@cache
def _pieces() -> dict[str, str]:
    return {path.stem: _data_url(f"pieces/{path.name}") for path in sorted((STATIC / "pieces").glob("*.svg"))}


@cache
def _styles() -> str:
    """Returns all styles, with the files that they name inside; each picture of a piece is there once."""
    variables = "".join(f"--piece-{name}: url({url});" for name, url in _pieces().items())
    texts = [f":root {{ {variables} }}"]
    for path in STYLES:
        texts.append(_style(path))
    return "\n".join(texts)


def _style(path: str) -> str:
    parent = PurePosixPath(path).parent
    text = (STATIC / path).read_text(encoding="utf-8")
    return _URL.sub(lambda match: _inside(match[2], parent), text)


def _inside(url: str, parent: PurePosixPath) -> str:
    if url.startswith("data:"):
        return f"url({url})"
    path = url.removeprefix("/static/") if url.startswith("/static/") else _normal(parent / url)
    if path.startswith("pieces/"):
        return f"var(--piece-{PurePosixPath(path).stem})"
    return f"url({_data_url(path)})"


def _data_url(path: str) -> str:
    kinds = {".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2"}
    content = (STATIC / path).read_bytes()
    return f"data:{kinds[PurePosixPath(path).suffix]};base64,{b64encode(content).decode()}"
