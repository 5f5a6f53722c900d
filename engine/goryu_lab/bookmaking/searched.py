"""One searched position of a book, as plain data, and the search that makes it.

Every search starts from nothing with one thread and a fixed number of playouts, so it has the same result on
every machine with the same network and instructions.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Self

from goryu.games.shogi import Rules, move_to_usi
from goryu.implementation import Board
from goryu.players.config import EngineConfig
from goryu.players.kept_graph import new_puct
from goryu.players.set_up.loading import LoadedEvaluator

LEAST_SHARE = 0.002
"""Moves with a smaller share of the visits and of the policy are dropped."""

LINES = 6
"""Moves whose expected reply is kept."""


@dataclass(frozen=True, slots=True)
class SearchedMove:
    """One move of a searched position, written in USI.

    prior: the policy's probability. visits: playouts through the move.
    value: expected result for the side to move, in [-1, +1]; None without a playout.
    reply: the expected reply; "" if the search saw none.
    """

    move: str
    prior: float
    visits: int
    value: float | None
    reply: str = ""


@dataclass(frozen=True, slots=True)
class SearchedPosition:
    """The result of one search.

    sfen: the position, with its move number. playouts: of the search. depth: plies of its longest playout.
    moves: the best first; those that neither policy nor search considered are missing.
    """

    sfen: str
    playouts: int
    depth: int
    moves: tuple[SearchedMove, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns the position as JSON can hold it."""
        data = asdict(self)
        data["moves"] = [[m.move, m.prior, m.visits, m.value, m.reply] for m in self.moves]
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Returns what `to_json` was called on; raises KeyError, TypeError or ValueError otherwise."""
        moves = tuple(
            SearchedMove(
                str(move), float(prior), int(visits), None if value is None else float(value), str(reply)
            )
            for move, prior, visits, value, reply in data["moves"]
        )
        position = cls(str(data["sfen"]), int(data["playouts"]), int(data["depth"]), moves)
        if not moves or moves[0].value is None or min(position.playouts, position.depth) < 1:
            raise ValueError("expected playouts, a depth and moves, the first with a value")
        if any(abs(move.value or 0.0) > 1 or (move.visits and move.value is None) for move in moves):
            raise ValueError("expected values from -1 to +1 of all moves with visits")
        return position


class BookSearcher:
    """Searches one position after the other, for one thread."""

    def __init__(self, loaded: LoadedEvaluator, config: EngineConfig) -> None:
        self._puct = new_puct(loaded, config)

    def search(self, sfen: str, playouts: int, should_stop: Callable[[], bool]) -> SearchedPosition | None:
        """Returns the result of a new search, or None if `should_stop` ended it early.

        The position must not be over.
        """
        board = Board(sfen, Rules())
        self._puct.clear()
        self._puct.search(board, lambda stats: should_stop(), max_playouts=playouts)
        if should_stop():
            return None
        result = self._puct.result(LINES)
        total = sum(move.visits for move in result.moves)
        moves = tuple(
            SearchedMove(
                move_to_usi(move.move),
                round(move.prior, 5),
                move.visits,
                round(move.value, 5) if move.visits or move.mate is not None else None,
                move_to_usi(move.pv[1]) if len(move.pv) > 1 else "",
            )
            for move in result.moves
            if max(move.visits / max(1, total), move.prior) >= LEAST_SHARE
        )
        return SearchedPosition(sfen, total, result.stats.max_depth, moves)
