"""What the observers of tree searches share: ids, paths, and how a playout ended."""

from collections.abc import Sequence

from goryu.games.state import Move, State
from goryu_page.microscope.model import ROOT, Event, Hop


def tree_id(moves: Sequence[Move]) -> str:
    """Returns the id of the position that these moves of the root reach in a tree."""
    return "/".join([ROOT, *map(str, moves)])


def moves_since(state: State, ply: int) -> list[Move]:
    """Returns the moves that were played since `ply`."""
    state = state.copy()
    return [state.pop() for _ in range(state.ply - ply)][::-1]


def hops_of(moves: Sequence[Move], value: float) -> list[Hop]:
    """Returns the path of a playout. value: of its leaf, for the side to move there."""
    return [
        Hop(tree_id(moves[:i]), move, -value if (len(moves) - i) % 2 else value)
        for i, move in enumerate(moves)
    ]


def ending(state: State, key: str) -> list[Event]:
    """Returns the event of a playout that ended in `state` by a result or a repetition; else none."""
    if (outcome := state.outcome()) is not None:
        return [Event("result", key, value=outcome.value, text=outcome.reason)]
    if (outcome := state.repetition()) is not None:
        return [Event("repetition", key, value=outcome.value, text=outcome.reason)]
    return []
