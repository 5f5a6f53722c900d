"""What the observers of tree searches share: ids, paths, the recording, and how a playout ended."""

from collections.abc import Callable, Sequence

from goryu.games.state import Move, State
from goryu_page.microscope.model import ROOT, Event, Hop, Node
from goryu_page.microscope.recording import Recording


class TreeObserver:
    """Records a search on a tree: its root, then each playout."""

    def __init__(self, state: State) -> None:
        self.recording = Recording()
        self._state = state.copy()

    def _record_root(self, root: Node, value: float | None = None) -> None:
        self.recording.first_path[ROOT] = ()
        self.recording.add("start", ROOT, 0, [root], leaf=ROOT, value=value)

    def _record_playout(
        self,
        leaf: State,
        playouts: int,
        nodes_of: Callable[[list[Move], list[Event]], tuple[list[Node], float]],
        *,
        rollout: Sequence[Move] = (),
        before: Sequence[Event] = (),
    ) -> None:
        """Records a playout that has reached a leaf. playouts: of the search so far.

        nodes_of: returns the positions of the path with these moves, which ends with these events, and the
            leaf's value for its side to move. before: events of the step that come first.
        """
        moves = moves_since(leaf, self._state.ply)
        key = tree_id(moves)
        events = ending(leaf, key)
        nodes, value = nodes_of(moves, events)
        self.recording.first_path.setdefault(key, tuple(moves))
        self.recording.add(
            "playout",
            ROOT,
            playouts,
            nodes,
            path=hops_of(moves, value),
            leaf=key,
            value=value,
            rollout=rollout,
            events=[*before, *events],
        )


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
