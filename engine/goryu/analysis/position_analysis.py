"""What a search found in one position, as plain data that JSON can hold."""

from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class MoveAnalysis:
    """One legal move of an analysed position. Moves are written in USI.

    prior: the policy's probability, in [0, 1].
    visits: playouts through this move.
    value: expected result for the side to move, in [-1, +1]; None without a playout.
    mate: plies to a proven end, +n if the side to move wins, -n if it loses; None while nothing is proven.
    pv: the expected continuation; pv[0] is `move`. Only the first moves of an analysis have more than that.
    """

    move: str
    prior: float
    visits: int
    value: float | None
    mate: int | None
    pv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PositionAnalysis:
    """The analysis of one position.

    playouts: those through the position; is_final: more would not change the result.
    value: expected result for the side to move after its best move, in [-1, +1].
    moves: all legal moves, the best first; empty if the game is over.
    ending: why the game is over here, or "declaration" if the side to move may declare a win; else "".
    """

    playouts: int
    is_final: bool
    value: float
    moves: tuple[MoveAnalysis, ...]
    ending: str = ""

    @property
    def win_rate(self) -> float:
        """The win rate of the side to move, in [0, 1]."""
        return (1 + self.value) / 2

    @property
    def best(self) -> MoveAnalysis | None:
        """The best move, or None if the game is over."""
        return self.moves[0] if self.moves else None

    @property
    def mate(self) -> int | None:
        """The plies to a proven end as in `MoveAnalysis`; 0 if the game is over, else None."""
        if not self.moves:
            return 0
        return self.moves[0].mate

    def find(self, move: str) -> MoveAnalysis | None:
        """Returns the analysis of a move, or None if the search did not consider it."""
        return next((found for found in self.moves if found.move == move), None)

    def to_json(self) -> dict[str, Any]:
        """Returns the analysis as JSON's types."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Returns the analysis that `to_json` wrote.

        Raises KeyError, TypeError or ValueError for anything else.
        """
        moves = tuple(MoveAnalysis(**move | {"pv": tuple(move["pv"])}) for move in data["moves"])
        return cls(
            int(data["playouts"]), bool(data["is_final"]), float(data["value"]), moves, str(data["ending"])
        )
