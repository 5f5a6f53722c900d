"""The part of a graph that a picture shows, with names, boards and places: plain data for JSON."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from goryu.base.language import tr
from goryu.games.state import Move, State
from goryu.table.positions import GAMES, after
from goryu_page.microscope.layout import places
from goryu_page.microscope.model import Edge, Edges, Event, Graph, Node
from goryu_page.microscope.observed import Observed
from goryu_page.microscope.recording import Recording

SHOWN_OF_NODE = ("id", "visits", "in_flight", "value", "proof", "distance", "window", "bound")
"""What a picture shows of a `Node` as it is."""


@dataclass(frozen=True, slots=True)
class Extent:
    """depth: the plies below the root that are shown. width: the moves of a position, the most visited ones.

    most: the most positions, the nearest to the root first.
    """

    depth: int = 4
    width: int = 6
    most: int = 300


def view(
    recording: Recording,
    step: int,
    state: State,
    game: str,
    extent: Extent,
    *,
    has_path: bool = True,
) -> dict[str, Any]:
    """Returns a step of a recording and the graph after it, to be drawn.

    state: the position that the recording began with. has_path: show the path of the step, whatever `extent`?
    """
    graph, shown = recording.graph(step), recording.steps[step]
    if not has_path:
        shown = replace(shown, path=(), leaf=None, rollout=())
    on_path = {hop.node for hop in shown.path} | ({shown.leaf} if shown.leaf else set())
    chosen = _chosen(graph, extent, on_path)
    tree = _spanning_tree(graph, chosen)
    names = _Names(recording, state, game)
    items, stubs = _items(graph, chosen, tree, names)
    place = places(graph.root, _with_stubs(tree, stubs))
    for item in [*items, *stubs]:
        item["place"] = place[item["id"]]
    return {
        "step": step,
        "steps": len(recording),
        "kind": shown.kind,
        "playouts": shown.playouts,
        "root": graph.root,
        "positions": len(graph.nodes),
        "items": items,
        "stubs": stubs,
        "links": _links(graph, chosen, tree, names),
        "path": [asdict(hop) | {"name": names.move(hop.node, hop.move)} for hop in shown.path],
        "leaf": shown.leaf,
        "value": shown.value,
        "rollout": names.line(shown.leaf, shown.rollout) if shown.rollout and shown.leaf else [],
        "events": [_event(event, names) for event in shown.events],
    }  # fmt: skip


def node_view(
    recording: Recording,
    step: int,
    key: str,
    state: State,
    game: str,
    observed: Observed,
) -> dict[str, Any] | None:
    """Returns everything that is known of a position after a step; None if it is not in the graph then."""
    node = recording.node(key, step)
    if node is None:
        return None
    names = _Names(recording, state, game)
    edges = [
        asdict(edge)
        | {
            "name": names.move(key, edge.move),
            "written": "" if edge.mark == "cut" else observed.written(node, edge),
        }
        for edge in node.edges
    ]
    graph = recording.graph(step)
    parents = graph.parents.get(key, ())
    return asdict(replace(node, edges=Edges(()))) | {
        "edges": edges,
        "end": names.say(node.end),
        "line": names.path(key),
        "root_move": next((e.move for e in graph.nodes[graph.root].edges.tried if e.child == key), None),
        "parents": [{"id": parent, "line": names.path(parent)} for parent in parents],
        "board": GAMES[game].board(names.state(key)),
        "turn": names.state(key).turn,
        "sfen": getattr(names.state(key), "sfen", lambda: "")(),
    }


def _event(event: Event, names: "_Names") -> dict[str, Any]:
    """Returns an event with the moves to its position; hundreds may be deleted at once, and need no name."""
    found = asdict(event) | {"move": names.move(event.node, event.move)}
    if event.kind in ("result", "repetition"):
        found["text"] = names.say(event.text)
    return found if event.kind == "deleted" else found | {"line": names.path(event.node)}


class _Names:
    """Names moves in the user's language; it reaches a position on the path that discovered it."""

    def __init__(self, recording: Recording, state: State, game: str) -> None:
        self._recording, self._start = recording, state
        self._game = GAMES[game]
        self._states: dict[str, State] = {}

    def state(self, key: str) -> State:
        if key not in self._states:
            self._states[key] = after(self._start, self._recording.first_path[key])
        return self._states[key]

    def move(self, key: str, move: Move | None) -> str:
        return "" if move is None else self._game.move_name(self.state(key), move)

    def path(self, key: str) -> list[str]:
        return self._line(self._start.copy(), self._recording.first_path[key])

    def line(self, key: str, moves: Sequence[Move]) -> list[str]:
        return self._line(self.state(key).copy(), moves)

    def say(self, text: str) -> str:
        """Returns why a game ended; "" stays empty."""
        return tr(text) if text else ""

    def _line(self, state: State, moves: Sequence[Move]) -> list[str]:
        names = []
        for move in moves:
            names.append(self._game.move_name(state, move))
            state.push(move)
        return names

    def board(self, key: str) -> list[list[str]] | None:
        board = self._game.board(self.state(key))
        return board if 0 < len(board) < 9 else None


def _chosen(graph: Graph, extent: Extent, on_path: Collection[str]) -> list[str]:
    """Returns the positions to be shown, row by row; those of the step's path are always among them."""
    found, row = {graph.root: None}, [graph.root]
    for depth in range(1 << 30):
        below: dict[str, None] = {}
        for key in row:
            for edge in _shown_edges(graph.nodes[key], graph.nodes, extent, on_path):
                if depth < extent.depth or edge.child in on_path:
                    below[str(edge.child)] = None
        row = [key for key in below if key not in found and (len(found) < extent.most or key in on_path)]
        if not row:
            break
        found |= dict.fromkeys(row)
    return list(found)


def _shown_edges(
    node: Node, nodes: Mapping[str, Node], extent: Extent, on_path: Collection[str]
) -> list[Edge]:
    """Returns the edges to known positions that are worth showing, in the order of the moves."""
    known = [edge for edge in node.edges.tried if edge.child in nodes]
    best = sorted(known, key=lambda edge: (edge.mark != "best", -edge.visits - edge.in_flight))[
        : extent.width
    ]
    return [edge for edge in known if edge in best or edge.child in on_path]


def _spanning_tree(graph: Graph, chosen: Sequence[str]) -> dict[str, list[str]]:
    """Returns the children of each position in the drawing: a position is below its first shown parent."""
    shown, children = set(chosen), dict[str, list[str]]()
    above: dict[str, str] = {}
    for key in chosen[1:]:
        above[key] = next(parent for parent in graph.parents[key] if parent in shown)
    for key in chosen:
        edges = [edge.child for edge in graph.nodes[key].edges.tried]
        children[key] = [c for c in dict.fromkeys(edges) if c is not None and above.get(c) == key]
    return children


def _items(
    graph: Graph, chosen: Sequence[str], tree: Mapping[str, Sequence[str]], names: _Names
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the positions, and the stubs: moves that were cut off, and repetitions."""
    items, stubs, shown = [], [], set(chosen)
    first_ply = graph.nodes[graph.root].ply
    for key in chosen:
        node = graph.nodes[key]
        cut = [names.move(key, edge.move) for edge in node.edges.tried if edge.mark == "cut"]
        repeated = [edge for edge in node.edges.tried if edge.repetitions]
        hidden = [
            e for e in node.edges.tried if (e.visits or e.in_flight or e.child) and e.child not in shown
        ]
        row = node.ply - first_ply
        items.append(
            {
                **{name: getattr(node, name) for name in SHOWN_OF_NODE},
                "row": row,
                "end": names.say(node.end),
                "turn": names.state(key).turn,
                "board": names.board(key),
                "parents": len(graph.parents[key]),
                "hidden": len([edge for edge in hidden if edge.child or not edge.repetitions]),
                "untried": len(node.edges) - sum(map(_is_known, node.edges.tried)),
            }
        )
        if cut:
            # Where the player of the root chooses, the opponent's bound cuts, and the other way round.
            is_beta = names.state(key).turn == names.state(graph.root).turn
            stub = {"id": f"{key} cut", "parent": key, "row": row + 1, "kind": "cut", "moves": cut}
            stubs.append(stub | {"cut": "β" if is_beta else "α"})
        stubs += [
            {
                "id": f"{key} repetition {edge.move}",
                "parent": key,
                "row": row + 1,
                "kind": "repetition",
                "moves": [names.move(key, edge.move)],
                "visits": edge.repetitions,
            }
            for edge in repeated
        ]
    return items, stubs


def _is_known(edge: Edge) -> bool:
    return bool(edge.visits or edge.in_flight or edge.mark == "cut")


def _with_stubs(
    tree: Mapping[str, Sequence[str]], stubs: Sequence[Mapping[str, Any]]
) -> dict[str, list[str]]:
    children = {key: list(below) for key, below in tree.items()}
    for stub in stubs:
        children[stub["parent"]].append(stub["id"])
    return children


def _links(
    graph: Graph, chosen: Sequence[str], tree: Mapping[str, Sequence[str]], names: _Names
) -> list[dict[str, Any]]:
    shown = set(chosen)
    return [
        {
            **{name: getattr(edge, name) for name in ("visits", "in_flight", "value", "mark")},
            "from": key,
            "to": edge.child,
            "move": names.move(key, edge.move),
            "number": edge.move,
            "is_merge": edge.child not in tree[key],
        }
        for key in chosen
        for edge in graph.nodes[key].edges.tried
        if edge.child in shown
    ]
