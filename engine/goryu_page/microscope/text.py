"""A search as text for the terminal: the board with the value of every move, and the tree with its cuts."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from goryu.base.language import tr
from goryu.games.given_tree import GivenTree
from goryu.games.state import State
from goryu.search.alpha_beta import alpha_beta
from goryu_page.microscope.counting import Counts
from goryu_page.microscope.given_tree_text import given_tree_text
from goryu_page.microscope.page import Subject
from goryu_page.microscope.picture import number
from goryu_page.microscope.recording import Recording
from goryu_page.microscope.view import Extent, node_view, view


def tree_text(recording: Recording, subject: Subject, extent: Extent) -> str:
    """Returns the board with the moves of the root, and the tree as indented lines, one a move.

    A tree of given numbers is drawn whole, with the values that flow up.
    """
    if isinstance(subject.state, GivenTree) and subject.observed.algorithm.searches_whole_game:
        return given_tree_text(recording, subject, extent.depth)
    step = len(recording) - 1
    shown = view(recording, step, subject.state, subject.game, extent, has_path=False)
    root = node_view(recording, step, shown["root"], subject.state, subject.game, subject.observed)
    assert root is not None
    lines = [*_board_and_moves(root, subject)]
    lines += [
        "",
        f"N {root['visits']}  Q {number(root['value'])}",
        *_tree(shown, shown["root"], 1),
    ]
    return "\n".join(lines) + "\n"


def _board_and_moves(root: Mapping[str, Any], subject: Subject) -> Iterator[str]:
    """Yields the lines of the board, and to the right of them the moves with their values, the best first."""
    values = {edge["name"]: edge["value"] for edge in root["edges"]}
    if subject.observed.algorithm.searches_whole_game and root["value"] is not None:
        # Alpha-beta knows no values of the moves that it cut off, so each is searched alone.
        values = {edge["name"]: _exact(subject.state, edge["move"]) for edge in root["edges"]}
    tried = {name: value for name, value in values.items() if value is not None}
    moves = [f"{name} {number(tried[name])}" for name in sorted(tried, key=lambda name: -tried[name])]
    board = [line for line in str(subject.state).splitlines() if not line.startswith(("key ", "sfen "))]
    width = max(map(len, board))
    columns = [moves[i :: len(board)] for i in range(len(board))]
    for line, beside in zip_longest(board, columns, fillvalue=""):
        names = "  ".join(f"{move:<12}" for move in beside)
        yield f"{line:<{width}}    {names}".rstrip()


def _exact(state: State, move: Any) -> float:
    state = state.copy()
    state.push(move)
    return -alpha_beta(state)


def _tree(shown: Mapping[str, Any], key: str, depth: int) -> Iterator[str]:
    """Yields the lines below a position."""
    items = {item["id"]: item for item in shown["items"]}
    indent = "  " * depth
    links = [link for link in shown["links"] if link["from"] == key]
    for link in sorted(links, key=lambda link: (link["mark"] != "best", -link["visits"])):
        child = items[link["to"]]
        note = ", ".join(_notes(child))
        line = f"{indent}{link['move']:<8} N {link['visits']:<5} Q {_value(link['value'], child['bound'])}"
        yield line + (f"  ({note})" if note else "")
        if not link["is_merge"]:
            yield from _tree(shown, link["to"], depth + 1)
    for stub in shown["stubs"]:
        if stub["parent"] == key:
            yield f"{indent}{' '.join(stub['moves'])}: {_told_stub(stub)}"


def _told_stub(stub: Mapping[str, Any]) -> str:
    """Returns why moves lead to no position."""
    if stub["kind"] == "cut":
        return tr("{bound} cut", bound=stub["cut"])
    return tr("repetition, N {visits}", visits=stub["visits"])


def _value(value: float | None, bound: str) -> str:
    """Returns the value of a move. bound: of its position, where the sign is the other one."""
    return {"lower": "<= ", "upper": ">= "}.get(bound, "") + number(value)


def _notes(child: Mapping[str, Any]) -> Iterator[str]:
    if child["proof"]:
        yield tr(child["proof"])
    if child["end"]:
        yield child["end"]
    if child["parents"] > 1:
        yield tr("{count} paths meet", count=child["parents"])
    if child["window"]:
        alpha, beta = (bound + 0.0 for bound in child["window"])  # Without a negative zero.
        yield tr("window {alpha:+g} {beta:+g}", alpha=alpha, beta=beta)


def counts_header() -> str:
    """Returns the headings of the table of visited positions."""
    return tr("plies   every move    with cuts      ordered   value")


def counts_line(found: Counts) -> str:
    """Returns a line of the table: the positions visited, and the share that is left with cuts."""
    shares = [100 * n / found.without_cuts for n in (found.with_cuts, found.ordered)]
    line = f"{found.depth:5} {found.without_cuts:12,} {found.with_cuts:12,} {found.ordered:12,}"
    return f"{line}   {number(found.value)}   ({shares[0]:.1f} %, {shares[1]:.1f} %)"
