"""The values of the moves beside a board."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from goryu.games.state import Move, State
from goryu.players.agents.agents import Agent

if TYPE_CHECKING:
    from rich.text import Text

MOST = 24
"""Moves that are shown, the best ones; shogi has more."""


class Scores:
    """Collects the values that an agent reports, and shows them.

    move_name: a move as people write it. agent: values the positions in which a person moves.
    """

    def __init__(self, move_name: Callable[[Move], str]) -> None:
        self.agent: Agent | None = None
        self._move_name = move_name
        self._values: Mapping[Move, float] | None = None

    def receive(self, values: Mapping[Move, float]) -> None:
        """Takes the values of a position: the `report` of an agent."""
        self._values = dict(values)

    def forget(self) -> None:
        """Drops the values of the position before."""
        self._values = None

    def beside(self, board: "str | Text", state: State) -> "str | Text":
        """Returns the board with the values of the moves beside it, the best first, for the side to move.

        state: the position; unless an agent has just reported its values, `agent` searches it.
        """
        if self._values is None and self.agent is not None:
            self.agent(state)
        values, self._values = self._values or {}, None
        ranked = sorted(values, key=lambda move: -values[move])[:MOST]
        return _joined(
            board, [f"{self._move_name(move)} {round(values[move], 2) + 0.0:+.2f}" for move in ranked]
        )


def _joined(board: "str | Text", notes: list[str]) -> "str | Text":
    from rich.text import Text

    lines = [*(board if isinstance(board, Text) else Text(board)).split("\n")]
    rows = [line for line in lines if not line.plain.startswith("sfen ")]  # That line is long.
    width = max(line.cell_len for line in rows)
    for i, line in enumerate(rows):
        beside = "   ".join(f"{note:<10}" for note in notes[i :: len(rows)]).rstrip()
        if beside:
            line.append(" " * (width - line.cell_len + 4) + beside)
    joined = Text("\n").join(lines)
    return joined if isinstance(board, Text) else joined.plain
