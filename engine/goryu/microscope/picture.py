"""Draws a view as SVG. The page places the same parts itself, so that they can move.

Blue is good for the side to move at the root, orange for its opponent; the colour is stronger the surer the
result. Colours of text and lines are in `picture.css`, for light and dark pages.
"""

from collections.abc import Mapping, Sequence
from html import escape
from math import log2
from pathlib import Path
from typing import Any

BOARD, CELL_GAP = 54.0, 4.0
"""The size of a small board, and the space around it."""
LINE = 13.0
"""The height of a line of text."""
ACROSS, ALONG = 26.0, 46.0
"""The space between positions of a row, and between rows."""
LABEL = 74.0
"""The room for the name of a move, where rows are columns."""
GOOD, BAD = "#1f77d0", "#e0691a"
STYLE = Path(__file__).with_name("picture.css").read_text("utf-8")

View = Mapping[str, Any]


def draw(view: View) -> dict[str, Any]:
    """Returns the parts of a picture: its size, and nodes and links with their SVG.

    Rows go down if positions have boards, else to the right, where the names of moves have room.
    """
    items: Sequence[View] = view["items"]
    goes_down = items[0]["board"] is not None
    width, height = _size(items)
    across = (width if goes_down else height) + (10.0 if goes_down else 12.0)
    along = height + ALONG if goes_down else width + LABEL
    spots = {
        item["id"]: _turned(goes_down, item["place"] * across, item["row"] * along)
        for item in (*items, *view["stubs"])
    }
    root_turn = items[0]["turn"]
    path = {hop["node"]: hop["move"] for hop in view["path"]}
    nodes = [
        {"id": item["id"], "x": x, "y": y, "class": _classes(item, view), "svg": _node(item, root_turn, width)}
        for item in items
        for x, y in [spots[item["id"]]]
    ]
    nodes += [
        {"id": stub["id"], "x": x, "y": y, "class": f"stub {stub['kind']}", "svg": _stub(stub, width, height)}
        for stub in view["stubs"]
        for x, y in [spots[stub["id"]]]
    ]
    shape = (width, height, goes_down)
    greatest = max((link["visits"] for link in view["links"]), default=1)
    links = [
        _link(link, spots, shape, is_path=path.get(link["from"]) == link["number"], greatest=greatest)
        for link in view["links"]
    ]
    links += [_stub_link(stub, spots, shape) for stub in view["stubs"]]
    return {
        "width": max(x for x, _ in spots.values()) + width,
        "height": max(y for _, y in spots.values()) + height,
        "node": [width, height],
        "nodes": nodes,
        "links": links,
    }


def svg(drawing: Mapping[str, Any], title: str) -> str:
    """Returns a drawing as one SVG element, with its style."""
    margin = 24
    box = f"{-margin} {-margin} {drawing['width'] + 2 * margin:.0f} {drawing['height'] + 2 * margin:.0f}"
    width, height = drawing["width"] + 2 * margin, drawing["height"] + 2 * margin
    links = "".join(f'<g class="{link["class"]}">{link["svg"]}</g>' for link in drawing["links"])
    nodes = "".join(
        f'<g class="{node["class"]}" transform="translate({node["x"]:.1f} {node["y"]:.1f})">{node["svg"]}</g>'
        for node in drawing["nodes"]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="microscope" viewBox="{box}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img"><title>{escape(title)}</title><g class="links">{links}</g>'
        f'<g class="nodes">{nodes}</g></svg>'
    )


def number(value: float | None) -> str:
    """Returns a value with its sign and two digits."""
    if value is None:
        return "–"
    return f"{value:+.2f}".replace("-", "−")


def _turned(goes_down: bool, across: float, along: float) -> tuple[float, float]:
    return (across, along) if goes_down else (along, across)


def _size(items: Sequence[View]) -> tuple[float, float]:
    """Returns the width and height of a position."""
    lines = 3 if any(item["window"] for item in items) else 2
    if items[0]["board"] is not None:
        return BOARD + 2 * CELL_GAP + 10, BOARD + 2 * CELL_GAP + lines * LINE + 2
    return 112.0, lines * LINE + 10


def _classes(item: View, view: View) -> str:
    names = ["node"]
    if item["proof"]:
        names.append(f"proof {item['proof']}")
    if item["parents"] > 1:
        names.append("merged")
    if item["end"]:
        names.append("end")
    if item["in_flight"] and not item["visits"]:
        names.append("waiting")
    if item["id"] == view["leaf"]:
        names.append("leaf")
    if any(hop["node"] == item["id"] for hop in view["path"]):
        names.append("on-path")
    return " ".join(names)


def _node(item: View, root_turn: int, width: float) -> str:
    height = _size([item])[1] if item["board"] is None else _size([item])[1]
    lines = _lines(item)
    top = 0.0
    parts = [
        f'<rect class="box" width="{width:.0f}" height="{height:.0f}" rx="7"/>',
        _tint(item, root_turn, width, height),
    ]
    if item["board"] is not None:
        parts.append(board_svg(item["board"], (width - BOARD) / 2, CELL_GAP + 1, BOARD))
        top = BOARD + CELL_GAP + 2
    for i, (text, name) in enumerate(lines):
        parts.append(
            f'<text class="{name}" x="{width / 2:.0f}" y="{top + 5 + (i + 0.75) * LINE:.1f}">{escape(text)}</text>'
        )
    if item["parents"] > 1:
        parts.append(f'<text class="badge merge-badge" x="{width - 4:.0f}" y="-4">⇉{item["parents"]}</text>')
    if item["hidden"]:
        parts.append(f'<text class="badge hidden-badge" x="{width - 4:.0f}" y="{height + 11:.0f}">+{item["hidden"]}</text>')
    parts.append(f"<title>{escape(_tooltip(item))}</title>")
    return "".join(parts)


def _tint(item: View, root_turn: int, width: float, height: float) -> str:
    if item["value"] is None:
        return ""
    value = item["value"] if item["turn"] == root_turn else -item["value"]
    strength = min(1.0, abs(value)) * 0.6
    colour = GOOD if value > 0 else BAD
    return (
        f'<rect class="tint" width="{width:.0f}" height="{height:.0f}" rx="7" fill="{colour}" '
        f'fill-opacity="{strength:.2f}"/>'
    )


def _lines(item: View) -> list[tuple[str, str]]:
    """Returns the lines of text of a position, each with its class."""
    if item["in_flight"] and not item["visits"]:
        return [("…", "value"), ("", "count")]
    sign = {"lower": "≥ ", "upper": "≤ "}.get(item["bound"], "")
    value = sign + number(item["value"])
    if item["proof"]:
        value = {"win": "＋", "loss": "－", "draw": "＝"}[item["proof"]] + (f" {item['distance']}" if item["distance"] else "")
    flight = f" +{item['in_flight']}" if item["in_flight"] else ""
    lines = [(value, "value"), (f"N {item['visits']}{flight}", "count")]
    if item["window"]:
        alpha, beta = item["window"]
        lines.append((f"[{_short(alpha)}, {_short(beta)}]", "window"))
    return lines


def _short(value: float) -> str:
    return f"{value:+.2g}".replace("-", "−") if value else "0"


def _tooltip(item: View) -> str:
    details = [f"N {item['visits']}", f"Q {number(item['value'])}"]
    if item["end"]:
        details.append(item["end"])
    if item["proof"]:
        details.append(f"{item['proof']} in {item['distance']}")
    if item["untried"]:
        details.append(f"{item['untried']} moves untried")
    return ", ".join(details)


def _stub(stub: View, width: float, height: float) -> str:
    names = " ".join(stub["moves"])
    mark = "✂" if stub["kind"] == "cut" else "↺"
    count = len(stub["moves"]) if stub["kind"] == "cut" else stub["visits"]
    label = f"{mark} {count}"
    return (
        f'<rect class="box" x="{width / 2 - 20:.0f}" y="{min(8.0, height / 2 - 11):.0f}" width="40" height="22" rx="11"/>'
        f'<text class="count" x="{width / 2:.0f}" y="{min(8.0, height / 2 - 11) + 15:.0f}">{label}</text>'
        f"<title>{escape(names)}</title>"
    )


def _ends(
    start: tuple[float, float], end: tuple[float, float], shape: tuple[float, float, bool]
) -> tuple[str, float, float]:
    """Returns the curve from a position to one of the next row, and the place of its label."""
    width, height, goes_down = shape
    if goes_down:
        x0, y0, x1, y1 = start[0] + width / 2, start[1] + height, end[0] + width / 2, end[1]
        middle = (y0 + y1) / 2
        curve = f"M{x0:.1f},{y0:.1f}C{x0:.1f},{middle:.1f} {x1:.1f},{middle:.1f} {x1:.1f},{y1:.1f}"
        return curve, x1, y1 - 6
    x0, y0, x1, y1 = start[0] + width, start[1] + height / 2, end[0], end[1] + height / 2
    middle = x0 + (x1 - x0) * 0.3
    curve = f"M{x0:.1f},{y0:.1f}C{middle:.1f},{y0:.1f} {x0:.1f},{y1:.1f} {x1 - LABEL * 0.55:.1f},{y1:.1f}H{x1:.1f}"
    return curve, x1 - LABEL * 0.3, y1 - 4


def _link(
    link: View, spots: Mapping[str, tuple[float, float]], shape: tuple[float, float, bool], *, is_path: bool, greatest: int
) -> dict[str, Any]:
    curve, x, y = _ends(spots[link["from"]], spots[link["to"]], shape)
    names = ["link"]
    names += ["merge"] if link["is_merge"] else []
    names += ["path"] if is_path else []
    names += [link["mark"]] if link["mark"] else []
    thickness = 1.0 + 5.0 * log2(1 + link["visits"]) / log2(2 + greatest)
    label = "" if link["is_merge"] else f'<text class="move" x="{x:.1f}" y="{y:.1f}">{escape(link["move"])}</text>'
    return {
        "id": f"{link['from']}>{link['to']}",
        "class": " ".join(names),
        "d": curve,
        "svg": f'<path d="{curve}" stroke-width="{thickness:.1f}"><title>{escape(link["move"])}: N {link["visits"]}</title></path>{label}',
    }


def _stub_link(stub: View, spots: Mapping[str, tuple[float, float]], shape: tuple[float, float, bool]) -> dict[str, Any]:
    width, height, goes_down = shape
    x, y = spots[stub["id"]]
    end = (x, y + 8) if goes_down else (x + width / 2 - 20, y)
    curve, _, _ = _ends(spots[stub["parent"]], end, shape)
    return {
        "id": f"{stub['parent']}>{stub['id']}",
        "class": f"link stub {stub['kind']}",
        "d": curve,
        "svg": f'<path d="{curve}" stroke-width="1.5"/>',
    }


def board_svg(rows: Sequence[Sequence[str]], x: float, y: float, size: float) -> str:
    """Returns a board of any of the games as an SVG group."""
    cells = len(rows)
    step = size / cells
    grid = "".join(
        f"M{x + i * step:.2f},{y:.2f}v{size:.2f}M{x:.2f},{y + i * step:.2f}h{size:.2f}" for i in range(cells + 1)
    )
    parts = [
        f'<rect class="board" x="{x:.2f}" y="{y:.2f}" width="{size:.2f}" height="{size:.2f}"/><path class="grid" d="{grid}"/>'
    ]
    for row, line in enumerate(rows):
        for column, cell in enumerate(line):
            if cell:
                parts.append(_piece(cell, x + (column + 0.5) * step, y + (row + 0.5) * step, step, cells))
    return f'<g class="game{cells}">{"".join(parts)}</g>'


def _piece(cell: str, x: float, y: float, step: float, cells: int) -> str:
    if cells == 9:
        turn = f' transform="rotate(180 {x:.2f} {y:.2f})"' if cell.startswith("v") else ""
        name = cell.removeprefix("v")
        size = step * (0.8 if len(name) == 1 else 0.45)
        return f'<text class="piece" x="{x:.2f}" y="{y + size * 0.36:.2f}" font-size="{size:.2f}"{turn}>{name}</text>'
    radius = step * 0.38
    if cells in (4, 6, 8):
        return f'<circle class="disc {"black" if cell == "X" else "white"}" cx="{x:.2f}" cy="{y:.2f}" r="{radius:.2f}"/>'
    r = step * 0.27
    if cell == "X":
        return (
            f'<path class="cross" d="M{x - r:.2f},{y - r:.2f}l{2 * r:.2f},{2 * r:.2f}m0,{-2 * r:.2f}l{-2 * r:.2f},{2 * r:.2f}"/>'
        )
    return f'<circle class="nought" cx="{x:.2f}" cy="{y:.2f}" r="{r:.2f}"/>'
