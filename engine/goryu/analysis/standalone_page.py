"""Writes a part of the browser page as one HTML file that needs neither an internet connection nor a server.

The file holds modules, texts, styles and pieces of the page of `goryu web`, and the data.
"""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from goryu.analysis import joining
from goryu.analysis.description import Describer
from goryu.analysis.page_texts import json_in_page, texts_json

STYLES = ("css/colors.css", "css/base.css", "css/board.css", "css/review.css")

_TEXT = re.compile(r"""["'`](\w+)["'`.]""")

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:"
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
<link rel="icon" href={icon}>
<style>
{styles}
</style>
</head>
<body>
<noscript>This page needs JavaScript. / JavaScript を有効にしてください。</noscript>
<script id="texts" type="application/json">{texts}</script>
<script id="data" type="application/json">{data}</script>
<script type="module">
{script}</script>
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
        icon=joining.data_url("icon.svg"),
        styles=joining.pieces() + joining.styles(STYLES),
        texts=texts_json(tables(entry)),
        data=json_in_page(data),
        script=joining.script(entry),
    )


def tables(entry: str) -> set[str]:
    """Returns the tables of texts that a module and those that it imports name."""
    return {table for text in joining.modules(entry).values() for table in _TEXT.findall(text)}
