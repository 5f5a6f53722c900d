"""The mate searches of the tab, by the module."""

from collections.abc import Callable

from goryu.games.shogi import Board, move_from_usi
from goryu.games.state import Move
from goryu.search.mates.mate import Mate, MateVerdict
from goryu_page.tab.engine import Engine
from goryu_page.tab.green_threads import in_one_go

VERDICTS = {1: MateVerdict.MATE, 0: MateVerdict.NO_MATE, -1: MateVerdict.UNKNOWN}


class Mates:
    """Solves mates as `search/mates/mate.py` does. A search keeps every other thread waiting."""

    def __init__(self, new_engine: Callable[[], Engine]) -> None:
        self._new_engine = new_engine
        self._engine = new_engine()

    def mate_in_one(self, board: Board) -> Move | None:
        """Returns the first move that mates at once, or None."""
        engine = self._ready()
        engine.must("set_position", f"sfen {board.sfen()}")
        move = int(engine.run("mate_in_one"))
        return Move(move) if move else None

    def solve(
        self,
        board: Board,
        nodes: int,
        should_stop: Callable[[], bool] | None = None,
        shortening_nodes: int = 0,
        capacity: int = 0,
    ) -> Mate:
        """Searches a forced mate by the side to move, expanding at most `nodes` positions.

        should_stop: asked now and then; no other thread runs meanwhile. shortening_nodes, capacity: as of the
            native search; 0 is the usual capacity.
        """
        engine, errors = self._ready(), list[BaseException]()

        def stops() -> bool:
            try:
                return should_stop is not None and should_stop()
            except BaseException as error:  # It must not pass through the module.
                errors.append(error)
                return True

        engine.set_position(board)
        engine.should_stop = stops
        try:
            with in_one_go():
                verdict = VERDICTS[int(engine.run("solve", nodes, shortening_nodes, capacity))]
        finally:
            engine.should_stop = lambda: False
        if errors:
            raise errors[0]
        line = engine.text("mate_line").split() if verdict is MateVerdict.MATE else []
        return Mate(verdict, tuple(map(move_from_usi, line)), int(engine.run("mate_nodes")))

    def _ready(self) -> Engine:
        if self._engine.is_lost:
            self._engine = self._new_engine()
        self._engine.set_options({"missing_king": 1})
        return self._engine
