"""Draws a view as SVG. The page moves the same parts from one step to the next.

Blue is good for the side to move at the root, orange for its opponent; the colour is stronger the surer the
result. The other colours are in `picture.css`, for light and dark pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, tostring

STYLE = Path(__file__).with_name("picture.css")

BOARD = 54.0
"""The size of the board in a position."""
LINE = 13.0
"""The height of a line of text."""
LABEL = 92.0
"""The room for the name of a move, where rows go to the right."""
GOOD, BAD = "#1f77d0", "#e0691a"
PROOFS = {"win": "＋", "loss": "－", "draw": "＝"}

View = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of every position. goes_down: are rows below each other, or side by side?"""

    width: float
    height: float
    goes_down: bool

    def spot(self, place: float, row: int) -> tuple[float, float]:
        """Returns the upper left corner of a position."""
        if self.goes_down:
            return place * (self.width + 10.0), row * (self.height + 46.0)
        return row * (self.width + LABEL), place * (self.height + 12.0)


@dataclass(frozen=True, slots=True)
class Part:
    """A position, a stub or a link of a picture; x and y: of a group that holds the elements."""

    id: str
    classes: str
    elements: tuple[Element, ...]
    x: float = 0.0
    y: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Returns the part as plain data; an element is [tag, attributes, text, children]."""
        elements = [element_as_json(element) for element in self.elements]
        return {"id": self.id, "class": self.classes, "x": self.x, "y": self.y, "elements": elements}


@dataclass(frozen=True, slots=True)
class Picture:
    """The parts of a picture, and its size."""

    width: float
    height: float
    shape: Shape
    nodes: tuple[Part, ...]
    links: tuple[Part, ...]

    def as_json(self) -> dict[str, Any]:
        """Returns the picture as plain data."""
        return {
            "width": self.width,
            "height": self.height,
            "node": [self.shape.width, self.shape.height],
            "nodes": [part.as_json() for part in self.nodes],
            "links": [part.as_json() for part in self.links],
        }

    def svg(self, title: str, style: str = "") -> str:
        """Returns the picture as one SVG element. style: CSS of a picture that stands alone."""
        margin = 22.0
        width, height = self.width + 2 * margin, self.height + 2 * margin
        root = element(
            "svg",
            element("title", title),
            *([element("style", style)] if style else []),
            element("g", *map(_group, self.links)),
            element("g", *map(_group, self.nodes)),
            xmlns="http://www.w3.org/2000/svg",
            cls="tree-picture",
            viewBox=f"{-margin:.0f} {-margin:.0f} {width:.0f} {height:.0f}",
            width=f"{width:.0f}",
            height=f"{height:.0f}",
            role="img",
        )
        return tostring(root, "unicode")


def element(tag: str, *children: Element | str, cls: str = "", **attributes: str | float) -> Element:
    """Returns an SVG element. cls: its classes. An underscore in an attribute's name is a hyphen."""
    found = Element(tag, {"class": cls} if cls else {})
    for name, value in attributes.items():
        found.set(name.replace("_", "-"), f"{value:.4g}" if isinstance(value, float) else str(value))
    for child in children:
        if isinstance(child, str):
            found.text = child
        else:
            found.append(child)
    return found


def draw(view: View) -> Picture:
    """Returns the picture of a view. Rows go down if positions have boards, else to the right."""
    items: Sequence[View] = view["items"]
    shape = _shape(items)
    spots = {item["id"]: shape.spot(item["place"], item["row"]) for item in (*items, *view["stubs"])}
    path = {hop["node"]: hop["move"] for hop in view["path"]}
    nodes = [
        Part(
            item["id"], _classes(item, view), tuple(_node(item, items[0]["turn"], shape)), *spots[item["id"]]
        )
        for item in items
    ]
    nodes += [
        Part(stub["id"], f"stub {stub['kind']}", tuple(_stub(stub, shape)), *spots[stub["id"]])
        for stub in view["stubs"]
    ]
    most = max((link["visits"] for link in view["links"]), default=1)
    links = [
        _link(link, spots, shape, 1.0 + 5.0 * log2(1 + link["visits"]) / log2(2 + most), path)
        for link in view["links"]
    ]
    links += [_stub_link(stub, spots, shape) for stub in view["stubs"]]
    return Picture(
        max(x for x, _ in spots.values()) + shape.width,
        max(y for _, y in spots.values()) + shape.height,
        shape,
        tuple(nodes),
        tuple(links),
    )


def number(value: float | None) -> str:
    """Returns a value with its sign and two digits."""
    if value is None:
        return "–"
    return f"{value:+.2f}".replace("-", "−") if abs(value) >= 0.005 else "0.00"


def element_as_json(part: Element) -> list[Any]:
    """Returns an element as [tag, attributes, text, children]."""
    return [part.tag, part.attrib, part.text or "", [element_as_json(child) for child in part]]


def _group(part: Part) -> Element:
    return element("g", *part.elements, cls=part.classes, transform=f"translate({part.x:.1f} {part.y:.1f})")


# Positions.


def _shape(items: Sequence[View]) -> Shape:
    lines = 3 if any(item["window"] for item in items) else 2
    if items[0]["board"] is not None:
        return Shape(BOARD + 18, BOARD + 12 + lines * LINE, goes_down=True)
    return Shape(88.0, lines * LINE + 9, goes_down=False)


def _classes(item: View, view: View) -> str:
    flags = {
        f"proof {item['proof']}": item["proof"],
        "merged": item["parents"] > 1,
        "end": item["end"],
        "waiting": not item["visits"],
        "leaf": item["id"] == view["leaf"],
        "on-path": any(hop["node"] == item["id"] for hop in view["path"]),
    }
    return " ".join(["node", *(name for name, is_set in flags.items() if is_set)])


def _node(item: View, root_turn: int, shape: Shape) -> list[Element]:
    size = {"width": shape.width, "height": shape.height, "rx": 1 if item["end"] else 7}
    parts = [element("title", _tooltip(item)), element("rect", cls="box", **size)]
    if item["value"] is not None:
        value = item["value"] if item["turn"] == root_turn else -item["value"]
        strength = 0.6 * min(1.0, abs(value))
        parts.append(
            element("rect", cls="tint", fill=GOOD if value > 0 else BAD, fill_opacity=strength, **size)
        )
    top = 3.0
    if item["board"] is not None:
        parts.append(board_elements(item["board"], (shape.width - BOARD) / 2, 5.0, BOARD))
        top = BOARD + 8.0
    for i, (text, name) in enumerate(_lines(item)):
        parts.append(element("text", text, cls=name, x=shape.width / 2, y=top + (i + 0.8) * LINE))
    if item["parents"] > 1:
        parts.append(element("text", f"⇉{item['parents']}", cls="badge merges", x=shape.width - 3, y=-3.0))
    if item["hidden"]:
        parts.append(_hidden(item["hidden"], shape))
    return parts


def _hidden(count: int, shape: Shape) -> Element:
    if shape.goes_down:
        return element("text", f"+{count}", cls="badge", x=shape.width - 3, y=shape.height + 11)
    return element("text", f"+{count}", cls="badge first", x=3, y=shape.height + 10)


def _lines(item: View) -> list[tuple[str, str]]:
    """Returns the lines of text of a position, each with its class."""
    if not item["visits"]:
        return [("…", "value")]
    text = {"lower": "≥ ", "upper": "≤ "}.get(item["bound"], "") + number(item["value"])
    if item["proof"]:
        text = PROOFS[item["proof"]] + (f" {item['distance']}" if item["distance"] else "")
    flight = f" +{item['in_flight']}" if item["in_flight"] else ""
    lines = [(text, "value"), (f"N {item['visits']}{flight}", "count")]
    if item["window"]:
        alpha, beta = item["window"]
        lines.append((f"[{_short(alpha)}, {_short(beta)}]", "window"))
    return lines


def _short(value: float) -> str:
    return f"{value:+.2g}".replace("-", "−") if value else "0"


def _tooltip(item: View) -> str:
    found = [f"N {item['visits']}", f"Q {number(item['value'])}"]
    found += [item["end"]] if item["end"] else []
    found += [f"{item['proof']} in {item['distance']}"] if item["proof"] else []
    return ", ".join(found + ([f"{item['untried']} moves untried"] if item["untried"] else []))


def _stub(stub: View, shape: Shape) -> list[Element]:
    """Returns the mark of moves that were cut off, or of playouts that ended by repetition."""
    is_cut = stub["kind"] == "cut"
    text = f"✂{stub['cut']} {len(stub['moves'])}" if is_cut else f"↺ {stub['visits']}"
    x, y = (
        (shape.width - 40) / 2 if shape.goes_down else 0.0,
        0.0 if shape.goes_down else shape.height / 2 - 11,
    )
    return [
        element("title", " ".join(stub["moves"])),
        element("rect", cls="box", x=x, y=y, width=40, height=22, rx=11),
        element("text", text, cls="count", x=x + 20, y=y + 15),
    ]


# Links.


def _link(
    link: View,
    spots: Mapping[str, tuple[float, float]],
    shape: Shape,
    thickness: float,
    path: Mapping[str, int],
) -> Part:
    flags = {"merge": link["is_merge"], "path": path.get(link["from"]) == link["number"], link["mark"]: True}
    curve, x, y = _curve(spots[link["from"]], spots[link["to"]], shape)
    title = element("title", f"{link['move']}: N {link['visits']}")
    parts = [element("path", title, d=curve, stroke_width=1.5 if link["is_merge"] else thickness)]
    if not link["is_merge"]:
        parts.append(element("text", link["move"], cls="move", x=x, y=y))
    names = " ".join(["link", *(name for name, is_set in flags.items() if is_set)])
    return Part(f"{link['from']}>{link['to']}", names.strip(), tuple(parts))


def _stub_link(stub: View, spots: Mapping[str, tuple[float, float]], shape: Shape) -> Part:
    curve, _, _ = _curve(spots[stub["parent"]], spots[stub["id"]], shape)
    line = element("path", d=curve, stroke_width=1.5)
    return Part(f"{stub['parent']}>{stub['id']}", f"link stub {stub['kind']}", (line,))


def _curve(start: tuple[float, float], end: tuple[float, float], shape: Shape) -> tuple[str, float, float]:
    """Returns the curve from a position to one of the next row, and the place of its label."""
    if shape.goes_down:
        x0, y0, x1, y1 = start[0] + shape.width / 2, start[1] + shape.height, end[0] + shape.width / 2, end[1]
        middle = (y0 + y1) / 2
        return f"M{x0:.1f},{y0:.1f}C{x0:.1f},{middle:.1f} {x1:.1f},{middle:.1f} {x1:.1f},{y1:.1f}", x1, y1 - 5
    x0, y0, y1 = start[0] + shape.width, start[1] + shape.height / 2, end[1] + shape.height / 2
    x1, bend = end[0], end[0] - LABEL * 0.72
    middle = (x0 + bend) / 2
    curve = f"M{x0:.1f},{y0:.1f}C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} {bend:.1f},{y1:.1f}H{x1:.1f}"
    return curve, x1 - LABEL * 0.36, y1 - 7


# Boards.


def board_elements(rows: Sequence[Sequence[str]], x: float, y: float, size: float) -> Element:
    """Returns a board of any of the games as one group, empty for a game without one."""
    cells = len(rows)
    if not cells:
        return element("g")
    step = size / cells
    grid = "".join(
        f"M{x + i * step:.1f},{y:.1f}v{size:.1f}M{x:.1f},{y + i * step:.1f}h{size:.1f}"
        for i in range(cells + 1)
    )
    pieces = [
        _piece(cell, x + (column + 0.5) * step, y + (row + 0.5) * step, step, cells)
        for row, line in enumerate(rows)
        for column, cell in enumerate(line)
        if cell
    ]
    board = element("rect", cls="board", x=x, y=y, width=size, height=size)
    return element("g", board, element("path", cls="grid", d=grid), *pieces, cls=f"game{cells}")


def _piece(cell: str, x: float, y: float, step: float, cells: int) -> Element:
    if cells == 9:
        name = cell.removeprefix("v")
        size = step * (0.82 if len(name) == 1 else 0.46)
        turned = {"transform": f"rotate(180 {x:.1f} {y:.1f})"} if cell.startswith("v") else {}
        return element("text", name, cls="piece", x=x, y=y + size * 0.36, font_size=size, **turned)
    if cells > 3:
        return element("circle", cls=f"disc {'black' if cell == 'X' else 'white'}", cx=x, cy=y, r=step * 0.38)
    r = step * 0.27
    if cell == "O":
        return element("circle", cls="nought", cx=x, cy=y, r=r)
    cross = f"M{x - r:.1f},{y - r:.1f}l{2 * r:.1f},{2 * r:.1f}m0,{-2 * r:.1f}l{-2 * r:.1f},{2 * r:.1f}"
    return element("path", cls="cross", d=cross)
