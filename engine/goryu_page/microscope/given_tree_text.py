"""A searched tree of given numbers as text: the value that flows up from every position, and the cuts.

All values are those of the player who moves first, so one player takes the greatest, the other the smallest.
A cut is named after the bound that makes it: where "max" chooses, a value of beta or more is a beta cut,
because "min" has something better elsewhere; where "min" chooses, a value of alpha or less is an alpha cut.
"""

from collections.abc import Iterator
from typing import cast

from goryu.base.language import tr
from goryu.games.given_tree import GivenTree
from goryu.games.state import State
from goryu.table.positions import after
from goryu_page.microscope.model import Graph, Node
from goryu_page.microscope.page import Subject
from goryu_page.microscope.recording import Recording


def given_tree_text(recording: Recording, subject: Subject, plies: int) -> str:
    """Returns the tree that minimax or alpha-beta has searched. plies: how many to show.

    Positions that were cut off have no value.
    """
    start = cast(GivenTree, subject.state)
    graph = recording.graph(len(recording) - 1)
    lines = [*_lines(recording, graph, graph.root, start, plies)]
    width = max(len(line) for line, _ in lines)
    tree = [f"{line:<{width}}   {note}".rstrip() for line, note in lines]
    counts = {"visited": recording.playouts, "all": len(start.tree.names)}
    return "\n".join([*tree, tr("{visited} of {all} {all:position|positions} visited", **counts), ""])


def _lines(
    recording: Recording, graph: Graph, key: str, start: State, plies: int
) -> Iterator[tuple[str, str]]:
    """Yields a position and those below it: the drawing with the value, and a note."""
    node = graph.nodes[key]
    state = cast(GivenTree, after(start, recording.first_path[key]))
    bound = "" if _is_whole(graph, node) else node.bound
    yield (
        f"{state} {_value(node.value, bound, state.turn)}",
        _note(node, state.turn) if node.edges else "",
    )
    for i, edge in enumerate(node.edges if plies else ()):
        is_last = i == len(node.edges) - 1
        if edge.child is None:
            below = [(f"{state.move_name(edge.move)} ✂", "")]
        else:
            below = [*_lines(recording, graph, edge.child, start, plies - 1)]
        for j, (line, note) in enumerate(below):
            branch = ("└─ " if is_last else "├─ ") if j == 0 else ("   " if is_last else "│  ")
            yield branch + line, note


def _is_whole(graph: Graph, node: Node) -> bool:
    """Has the search seen everything below a position, so that its value is exact?"""
    return all(edge.child is not None and _is_whole(graph, graph.nodes[edge.child]) for edge in node.edges)


def _value(value: float | None, bound: str, turn: int) -> str:
    assert value is not None
    sign = {"lower": "≥≤", "upper": "≤≥", "": ("", "")}[bound][turn]
    return f"{sign} {_seen(value, turn):g}".strip()


def _note(node: Node, turn: int) -> str:
    player = ("max", "min")[turn]
    if node.window is None or not any(edge.mark == "cut" for edge in node.edges):
        return player
    assert node.value is not None
    value, bound = _seen(node.value, turn), _seen(node.window[1], turn)
    return tr(
        "{player}, {cut} cut: {value:g} {sign} {cut} = {bound:g}",
        player=player,
        cut="βα"[turn],
        value=value,
        sign="≥≤"[turn],
        bound=bound,
    )


def _seen(value: float, turn: int) -> float:
    """Returns a value of the side to move as the first player sees it, without a negative zero."""
    return (value if turn == 0 else -value) + 0.0
