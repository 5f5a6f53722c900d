"""A still picture of a search as one file that needs no other: an HTML page, or the tree alone as SVG."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any
from xml.etree.ElementTree import tostring

from goryu.base.language import language, tr
from goryu.games.state import State
from goryu_page.microscope.observed import Observed
from goryu_page.microscope.picture import STYLE, Picture, board_elements, draw, element
from goryu_page.microscope.recording import Recording
from goryu_page.microscope.view import Extent, node_view, view

LEGEND = (
    "Blue: good for the side to move at the root; orange: for its opponent. N: visits. "
    "The number is Q, for the side to move in the position. ⇉: paths that flow together, drawn dashed. "
    "✂α, ✂β: moves that alpha or beta cut off. ↺: repetitions. +: moves not shown. ＋ － ＝: proven."
)

CSS = """
body { margin: 0; background: var(--paper); color: var(--ink); font-size: 15px; line-height: 1.55 }
main { max-width: 1500px; margin: 0 auto; padding: 1.2rem 1.4rem 3rem }
h1 { font-size: 1.35rem; margin: 0 0 .2rem } h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem }
p { margin: .3rem 0; max-width: 75ch } code { font-size: .95em } .faint { color: var(--faint) }
.head { display: flex; gap: 1.6rem; align-items: flex-start; flex-wrap: wrap } .head > div { flex: 1 1 24rem }
.tree { overflow: auto; border: 1px solid var(--line); border-radius: 8px; margin-top: 1rem }
.tree svg { display: block; margin: 0 auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: .15rem .8rem .15rem 0; text-align: right; white-space: nowrap }
td:first-child, th:first-child { text-align: left } th { color: var(--faint); font-weight: 500 }
tr.marked { font-weight: 700 } tr.cut { color: var(--faint) } .hands { font-size: 13px }
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a picture is about. details: further facts, such as the network."""

    game: str
    state: State
    observed: Observed
    details: str = ""


def page(recording: Recording, step: int, subject: Subject, extent: Extent) -> str:
    """Returns the HTML of the graph after a step, in the user's language."""
    shown, title = _shown(recording, step, subject, extent)
    observed = subject.observed
    root = node_view(recording, step, shown["root"], subject.state, subject.game, observed)
    assert root is not None
    picture = draw(shown)
    counts = tr(
        "{count} {count:position|positions}, shown: {shown}",
        count=shown["positions"],
        shown=len(shown["items"]),
    )
    return f"""<!doctype html>
<html lang="{language()}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{STYLE.read_text("utf-8")}{CSS}{_fitted(picture)}</style>
</head>
<body class="tree-picture">
<main>
<div class="head">
{_board(root)}
<div>
<h1>{escape(title)}</h1>
<p class="faint">{escape(counts)}{escape("; " + subject.details if subject.details else "")}</p>
<p>{escape(tr(observed.about))}</p>
<p>{tr("Formula:")} <code>{escape(tr(observed.formula))}</code></p>
<p class="faint">{tr("To read:")} <code>{escape(observed.file)}</code></p>
</div>
</div>
<div class="tree">{picture.svg(title)}</div>
<p class="faint">{tr(LEGEND)}</p>
<h2>{tr("The moves of the root")}</h2>
{_table(root)}
</main>
</body>
</html>
"""


def picture_alone(recording: Recording, step: int, subject: Subject, extent: Extent) -> str:
    """Returns the SVG of the graph after a step, with its style."""
    shown, title = _shown(recording, step, subject, extent)
    return draw(shown).svg(title, STYLE.read_text("utf-8") + ".tree-picture { background: var(--paper) }\n")


def _shown(recording: Recording, step: int, subject: Subject, extent: Extent) -> tuple[dict[str, Any], str]:
    """Returns the view and its title."""
    shown = view(recording, step, subject.state, subject.game, extent, has_path=False)
    count = shown["playouts"]
    if subject.observed.playouts:
        counted = tr("{count} {count:playout|playouts}", count=count)
    else:
        counted = tr("{count} {count:position|positions} visited", count=count)
    return shown, f"{tr(subject.observed.title)}: {counted}"


def _fitted(picture: Picture) -> str:
    """Returns the style that makes a picture as wide as the window, if it stays legible."""
    full = picture.width + 44
    return f".tree svg {{ width: min({full:.0f}px, max(100%, {0.65 * full:.0f}px)); height: auto }}\n"


def _board(root: Mapping[str, Any]) -> str:
    if not root["board"]:
        return ""
    size = 220.0
    board = board_elements(root["board"], 1.0, 1.0, size)
    box = f"0 0 {size + 2:.0f} {size + 2:.0f}"
    picture = element("svg", board, viewBox=box, width=size + 2, height=size + 2, role="img")
    sfen = f'<p class="hands faint"><code>{escape(root["sfen"])}</code></p>' if root["sfen"] else ""
    return f"<figure>{tostring(picture, 'unicode')}{sfen}</figure>"


def _table(root: Mapping[str, Any]) -> str:
    """Returns the table of the formula for the moves of the root, the most visited first."""
    names = list(dict.fromkeys(name for edge in root["edges"] for name in edge["terms"]))
    header = "".join(f"<th>{escape(name)}</th>" for name in names)
    edges = sorted(root["edges"], key=lambda edge: (edge["mark"] != "best", -edge["visits"]))
    rows = [
        f'<tr class="{_emphasis(edge["mark"])}"><td>{escape(edge["name"])}</td>'
        + "".join(f"<td>{_term(edge['terms'], name)}</td>" for name in names)
        + f"<td>{'✂' if edge['mark'] == 'cut' else escape(edge['written'])}</td></tr>"
        for edge in edges
    ]
    return f"<table><tr><th>{tr('move')}</th>{header}<th></th></tr>\n{''.join(rows)}</table>"


def _emphasis(mark: str) -> str:
    return "marked" if mark in ("chosen", "best") else mark


def _term(terms: Mapping[str, float | None], name: str) -> str:
    if name not in terms:
        return ""
    value = terms[name]
    if value is None:
        return "∞"
    return str(value) if isinstance(value, int) else f"{value:.3f}".replace("-", "−")
