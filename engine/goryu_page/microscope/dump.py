"""A graph that the engine dumped (`search/graph/graph_dump.py`), as a recording of one step."""

from collections.abc import Iterator, Mapping
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.shogi import MoveError, move_from_usi
from goryu.games.state import Move, State
from goryu.search.graph.graph_dump import FORMAT
from goryu_page.microscope.model import Edge, Edges, Node
from goryu_page.microscope.recording import Recording


def from_dump(graph: Any, state: State) -> Recording:
    """Returns the recording of a dumped graph of shogi. state: the position at its root.

    Raises InputError if the graph is not a dump or has another root.
    """
    try:
        return _recording(graph, state)
    except (KeyError, IndexError, TypeError, MoveError) as error:
        told = tr("expected a graph, as `tree FILE.json` writes it ({error})", error=repr(error))
        raise InputError(told) from None


def _recording(graph: Mapping[str, Any], state: State) -> Recording:
    if graph["format"] != FORMAT:
        raise InputError(
            tr("graph format {name!r}: expected {expected!r}", name=graph["format"], expected=FORMAT)
        )
    entries = graph["nodes"]
    root = entries[graph["root"]]
    if root["key"] != f"{state.key:016x}":
        raise InputError(
            tr("the graph has another root than the position; give the position that was searched")
        )
    recording = Recording()
    recording.first_path[root["key"]] = ()
    for entry in entries:  # Nearest positions first, so every parent comes before its children.
        for move, child in _children(entry, entries):
            recording.first_path.setdefault(child, (*recording.first_path[entry["key"]], move))
    nodes = [_node(entry, entries) for entry in entries]
    recording.add("start", root["key"], root["visits"] - 1, nodes, leaf=root["key"])
    return recording


def _children(entry: Mapping[str, Any], entries: list[Any]) -> Iterator[tuple[Move, str]]:
    for move in entry["moves"]:
        if move["child"] is not None:
            yield move_from_usi(move["move"]), entries[move["child"]]["key"]


def _node(entry: Mapping[str, Any], entries: list[Any]) -> Node:
    proof = "" if entry["proof"] == "unknown" else entry["proof"]
    edges = tuple(
        Edge(
            move_from_usi(move["move"]),
            None if move["child"] is None else entries[move["child"]]["key"],
            move["visits"],
            value=move["value"],
            terms={"P": move["prior"], "N": move["visits"], "Q": move["value"]},
        )
        for move in entry["moves"]
    )
    return Node(
        entry["key"],
        entry["ply"],
        entry["visits"],
        value=entry["value"],
        evaluation=entry["evaluation"],
        proof=proof,
        distance=entry["distance"] if proof else None,
        edges=Edges(edges),
    )
