#!/usr/bin/env python3
"""Draws the pictures of the guides from the code: houses, confluence, a game at the terminal, cuts, rules.

    python tools/draw.py        writes docs/pictures/*.svg and the houses in both READMEs

The houses and the arrows between their rooms are the real imports; tests/repository/test_repository.py fails
when the drawing in a README is out of date.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from html import unescape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from goryu.commands.common import new_parser, program

if TYPE_CHECKING:
    from goryu.games.shogi import Board

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
READMES = {"README.md": 0, "README.ja.md": 1}
"""File -> the column of the captions that it shows."""


class House(NamedTuple):
    """A package of engine/. rooms: its folders and modules, from above; name -> caption in both languages."""

    caption: tuple[str, str]
    rooms: dict[str, tuple[str, str]]


HOUSES = {
    "goryu_page": House(
        ("the page for players", "対局者のためのページ"),
        {
            "commands": ("web, tree, tsume", "web、tree、tsume"),
            "server": ("HTTP and WebSocket", "HTTP と WebSocket"),
            "tab": ("the page without a server", "サーバーなしのページ"),
            "views": ("one file a view", "画面ごとに一つ"),
            "lan": ("devices of the local network", "同じ LAN の機器"),
            "session": ("one tab", "一つのタブ"),
            "dojo": ("learning from one's own games", "自分の対局から学ぶ"),
            "microscope": ("every step of a search", "探索の観察"),
            "tsume": ("exact mates", "詰将棋"),
            "reasons": ("why a move is a mistake", "悪手の理由"),
            "fields": ("checks what comes from outside", "外から来た値の検査"),
        },
    ),
    "goryu_lab": House(
        ("the laboratory for networks and matches", "ネットワークと対局の実験室"),
        {
            "commands": ("match, book, train, learn ...", "match、book、train、learn など"),
            "loop": ("learning in rounds", "学習の繰り返し"),
            "lessons": ("AlphaZero on a page", "短く書いた AlphaZero"),
            "self_play": ("games of networks and teachers", "自己対戦と教師"),
            "training": ("a network from positions", "局面からネットワークへ"),
            "conversion": ("networks of other programs", "ほかのソフトのモデルの変換"),
            "bookmaking": ("opening books from searches", "探索による定跡の作成"),
            "records": ("training games on disk", "学習用の棋譜"),
            "benchmark": ("how fast", "速度の測定"),
            "match": ("matches and what they prove", "エンジン同士の対局と検定"),
            "work": ("tasks split among computers", "複数の計算機への分担"),
        },
    ),
    "goryu": House(
        ("the engine", "エンジン"),
        {
            "commands": ("play, review, csa, doctor ...", "play、review、csa、doctor など"),
            "usi": ("the USI protocol", "USI プロトコル"),
            "analysis": ("reviewing games", "棋譜の解析"),
            "table": ("a game with its clock", "時計のある対局"),
            "csa": ("games on a CSA server", "CSA サーバーでの対局"),
            "players": ("search + network + clock", "探索、ネットワーク、持ち時間"),
            "engines": ("other people's engines", "ほかの USI エンジン"),
            "kifu": ("game records", "棋譜"),
            "implementation": ("Python or C++", "Python か C++ か"),
            "evaluators": ("policy and value", "方策と価値"),
            "search": ("the algorithms", "アルゴリズム"),
            "games": ("the rules", "ルール"),
        },
    ),
}

SHARED = {"base"}
"""What is left out of the drawing, because every room may use it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("draw.py", new_parser(__doc__), draw, arguments)


def draw(_args: argparse.Namespace) -> None:
    """Writes all pictures."""
    for name in READMES:
        readme = ROOT / name
        readme.write_text(with_layers(readme), encoding="utf-8", newline="\n")
    (PICTURES / "confluence.svg").write_text(confluence(), encoding="utf-8", newline="\n")
    for name, language in (("play.svg", "en"), ("play.ja.svg", "ja")):
        (PICTURES / name).write_text(game_at_the_terminal(language), encoding="utf-8", newline="\n")
    draw_tree_of_numbers(PICTURES / "cuts.svg")
    for rule in RULES:
        (PICTURES / f"rule-{rule}.svg").write_text(rule_board(rule), encoding="utf-8", newline="\n")


# The houses and their rooms, as a Mermaid graph.


def with_layers(readme: Path) -> str:
    """Returns the text of a README with its Mermaid block drawn anew."""
    before, opening, rest = readme.read_text(encoding="utf-8").partition("```mermaid\n")
    _, closing, after = rest.partition("```\n")
    return "".join([before, opening, layers(READMES[readme.name]), "\n", closing, after])


def layers(language: int = 0) -> str:
    """Returns a Mermaid graph of the rooms of the houses; `A --> B` means that A imports B.

    An arrow that a path of others implies is left out, and so is the way from a room to another house: page
    and lab may import every room of the engine.
    """
    lines = ["flowchart TD"]
    for house, (caption, rooms) in HOUSES.items():
        lines.append(f'  subgraph {house}["<b>{house}</b>: {caption[language]}"]')
        lines.append("    direction TB")
        arrows = {room: imported_rooms(house, room) for room in rooms}
        for room, captions in rooms.items():
            below = " & ".join(f"{house}.{other}" for other in direct(room, arrows))
            drawn = f'{house}.{room}["<b>{room}</b><br>{captions[language]}"]'
            lines.append(f"    {drawn}" + (f" --> {below}" if below else ""))
        lines.append("  end")
    lines += [f"  {house} ==> goryu" for house in HOUSES if house != "goryu"]
    lines += [
        "  classDef textbook stroke-width:4px",
        "  class goryu.evaluators,goryu.search,goryu.games textbook",
    ]
    return "\n".join(lines)


def direct(room: str, arrows: dict[str, set[str]]) -> list[str]:
    """Returns the rooms that `room` imports and that no other import of it reaches."""
    below = arrows[room]
    return [other for other in arrows if other in below and not any(leads(x, other, arrows) for x in below)]


def leads(start: str, goal: str, arrows: dict[str, set[str]]) -> bool:
    """Does a path of at least one arrow lead from `start` to `goal`? The imports have no cycle."""
    return goal in arrows[start] or any(leads(other, goal, arrows) for other in arrows[start])


def imported_rooms(house: str, room: str) -> set[str]:
    """Returns the other rooms of a house that a room imports anywhere, also inside functions.

    An import for type checkers alone does not count.
    """
    package = ROOT / "engine" / house
    paths = [package / f"{room}.py", *(package / room).rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
    text = re.sub(r"^if TYPE_CHECKING:\n(?: .*\n|\n)*", "", text, flags=re.MULTILINE)
    found = re.findall(rf"^ *(?:from|import) {house}\.(\w+)", text, re.MULTILINE)
    return set(found) & HOUSES[house].rooms.keys() - {room}


# The confluence: two orders of the same moves, drawn with the boards they lead to.

ORDERS = ("7g7f", "8c8d", "2g2f"), ("2g2f", "8c8d", "7g7f")
CELL = 10
SIZE = 9 * CELL
STEP = 190
MARGIN, MIDDLE, TOP, BOTTOM = 20, 90, 20, 160
INK, PAPER, WOOD, ACCENT = "#3b3226", "#fdfaf3", "#f3dfb3", "#c8442b"

CONFLUENCE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="720" height="270" viewBox="0 0 720 270" role="img">
<title>Two move orders lead to one node</title>
<style>
text {{ font: 14px sans-serif; fill: {ink}; text-anchor: middle }}
.strong {{ font-weight: bold; fill: {accent} }}
.key {{ font: 10px monospace }}
</style>
<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0,0 8,4 0,8z" fill="{ink}"/>
</marker>
<rect width="720" height="270" rx="10" fill="{paper}"/>
{parts}
<text x="635" y="78" class="strong">合流</text>
<text x="635" y="202" class="strong">one node</text>
<text x="635" y="220" class="key">key {key:016x}</text>
</svg>
"""


def confluence() -> str:
    """Returns an SVG of two move orders that lead to one position."""
    from goryu.games.shogi import Board

    start = Board()
    parts = [board_svg(MARGIN, MIDDLE, start, start)]
    keys = set()
    for order, row in zip(ORDERS, (TOP, BOTTOM), strict=True):
        board = Board()
        x0, y0 = MARGIN, MIDDLE
        for move, y1 in zip(order, (row, row, MIDDLE), strict=True):
            board.push_usi(move)
            x1 = x0 + STEP
            parts.append(arrow_svg(x0 + SIZE + 8, y0 + SIZE // 2, x1 - 8, y1 + SIZE // 2, move))
            parts.append(board_svg(x1, y1, board, start))
            x0, y0 = x1, y1
        keys.add(board.key)
    (key,) = keys  # Both orders lead to one.
    return CONFLUENCE.format(ink=INK, accent=ACCENT, paper=PAPER, parts="\n".join(parts), key=key)


def arrow_svg(x0: int, y0: int, x1: int, y1: int, label: str) -> str:
    """Returns an arrow with a label above it."""
    aside = 0 if y0 == y1 else 24 if y0 < y1 else -24
    return (
        f'<line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1}" stroke="{INK}" marker-end="url(#tip)"/>'
        f'<text x="{(x0 + x1) // 2 + aside}" y="{(y0 + y1) // 2 - 8}">{label}</text>'
    )


def board_svg(x: int, y: int, board: Board, start: Board) -> str:
    """Returns a small board; pieces that were elsewhere in `start` are coloured."""
    frame = f'stroke="{ACCENT}" stroke-width="3"' if board.ply == len(ORDERS[0]) else f'stroke="{INK}"'
    shapes = [f'<rect width="{SIZE}" height="{SIZE}" fill="{WOOD}" {frame}/>']
    for square, (piece, before) in enumerate(zip(board.pieces, start.pieces, strict=True)):
        if piece:
            file, rank = divmod(square, 9)
            place = f"translate({(8.5 - file) * CELL},{(rank + 0.5) * CELL})"
            turn = " rotate(180)" if piece >= 16 else ""
            fill = INK if piece == before else ACCENT
            shapes.append(f'<path transform="{place}{turn}" d="M0,-4 3,-2 4,4 -4,4 -3,-2z" fill="{fill}"/>')
    return f'<g transform="translate({x},{y})">{"".join(shapes)}</g>'


# A game at the terminal, as it was played.


GAME = ("play", "shogi", "--level", "3", "--seed", "3")
"""The command whose output is drawn."""

CELL_WIDTH = 12.2
"""The width of a letter in rich's SVG."""

ANSWERS = {"en": ["7g7f", "2g2f"], "ja": ["7六歩", "2六歩"]}
"""The moves that the person writes."""


def game_at_the_terminal(language: str) -> str:
    """Returns an SVG of the second moves of a game that `goryu play shogi` played in colour."""
    from rich.console import Console
    from rich.text import Text

    answers = ANSWERS[language]
    colours = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", "COLUMNS": "200"}
    environment = {**os.environ, **colours, "GORYU_LANGUAGE": language, "PYTHONUTF8": "1"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "goryu", *GAME]
    given = "".join(f"{answer}\n" for answer in [*answers, "quit"])
    played = subprocess.run(command, input=given, capture_output=True, text=True, check=True, env=environment)
    opening, _, second_turn, _ = played.stdout.split("> ")
    prompt = opening.splitlines()[-1]
    shown = f"$ goryu {' '.join(GAME)}\n...\n{prompt}> {answers[1]}\n{second_turn}> "
    text = Text.from_ansi(shown)
    text.highlight_regex(r"(?<=> )\S+|(?<=\$ ).*", "bold green")
    console = Console(record=True, width=48, file=StringIO())
    console.print(text, no_wrap=True, overflow="ellipsis")
    svg = console.export_svg(title="goryu play shogi", unique_id="play")
    svg = re.sub(r" *@font-face {.*?}\n", "", svg, flags=re.DOTALL)  # Fonts from the web; GitHub loads none.
    return re.sub(r'textLength="[0-9.]+"([^>]*>)([^<]*)<', with_width, svg)


def with_width(text: re.Match[str]) -> str:
    """Returns the text of an SVG by rich with its width in cells; rich takes kanji for letters."""
    from rich.cells import cell_len

    width = CELL_WIDTH * cell_len(unescape(text[2]))
    return f'textLength="{width:g}"{text[1]}{text[2]}<'


# A tree of numbers with its cuts: that of docs/web.md.

NUMBERS = "A: B C; B: D E; C: F G; D: H=4 I=5; E: J=6 K=8; F: L=1 M=3; G: N=7 O=2"


def draw_tree_of_numbers(path: Path) -> None:
    """Writes an SVG of alpha-beta on the tree."""
    command = [sys.executable, "-m", "goryu", "tree", "--game", "numbers", NUMBERS, "--svg", str(path)]
    environment = {**os.environ, "GORYU_LANGUAGE": "en"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


# The boards of docs/rules.md; tests/repository/test_rules_page.py checks what it says of them.

RULES: dict[str, tuple[str, str]] = {
    "two-pawns": ("4k4/9/2p6/9/9/2P6/9/9/4K4 b P 1", ""),
    "pawn-mate": ("7nk/9/7G1/9/9/9/9/9/K8 b LP 1", ""),
    "repetition": ("5k3/9/9/9/9/9/9/4R4/K8 b - 1", "5h6h 4a3a 6h5h 3a4a"),
    "perpetual-check": ("8k/9/9/9/9/9/9/9/K5R2 b - 1", "3i1i 1a2a 1i2i 2a1a 2i1i 1a2a"),
    "superior": ("5k3/9/9/9/9/9/9/4R4/K8 b 2p 1", "5h4h P*4d 4h4d 4a3a 4d4h 3a3b 4h5h 3b4a"),
    "declaration": ("+R+R1+B+B4/GGSS+N+NLL1/4K4/9/9/9/9/9/4k4 b - 1", ""),
    "try": ("9/4K4/9/9/9/9/9/9/3k5 b - 1", ""),
}
"""Picture -> a position, and moves from it to the position that is drawn."""


def rule_board(rule: str) -> str:
    """Returns an SVG of the position behind the moves, on paper, so that it can be read in the dark too."""
    import cshogi

    sfen, moves = RULES[rule]
    board = cshogi.Board(sfen)
    for move in moves.split():
        board.push_usi(move)
    svg = str(board.to_svg(lastmove=board.peek() if moves else None, scale=1.2))
    return svg.replace("<defs>", f'<rect width="100%" height="100%" fill="{PAPER}"/><defs>', 1)


if __name__ == "__main__":
    sys.exit(main())
