"""Searches single positions of a game and describes them as `PositionAnalysis`."""

from collections.abc import Callable
from dataclasses import replace

from goryu.analysis.position_analysis import MoveAnalysis, PositionAnalysis
from goryu.evaluators.network.providers import RUN_ERRORS
from goryu.games.shogi import move_from_usi, move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board, mate_in_one, solve
from goryu.players.config import EngineConfig
from goryu.players.kept_graph import new_puct
from goryu.players.position import GamePosition, rules_of
from goryu.players.reply_mates import SHORTENING_NODES
from goryu.players.set_up.loading import LoadedEvaluator
from goryu.search.mates.mate import MateVerdict
from goryu.search.result import RootMove

LINES = 5
"""Moves of a position whose expected continuation is kept."""

PV_LENGTH = 24
"""Moves that are kept of a continuation without a mate: the far ones had few playouts."""


def kept_stop(should_stop: Callable[[], bool]) -> Callable[[], bool]:
    """Returns a `should_stop` that stays true once it was: what was stopped for a moment is not whole."""
    is_stopped = False

    def stop() -> bool:
        nonlocal is_stopped
        is_stopped = is_stopped or should_stop()
        return is_stopped

    return stop


class PositionSearcher:
    """Searches one position after the other with one search graph, for one thread.

    If a position follows from the last one, its part of the graph is kept, and its playouts count.
    loaded: the network. If it fails, as after the loss of a GPU, it is marked as lost.
    """

    def __init__(self, loaded: LoadedEvaluator, config: EngineConfig, threads: int = 1) -> None:
        """threads: of the native search."""
        self.loaded = loaded
        self._threads = threads
        self._last: GamePosition | None = None
        self._set_up(config)

    def configure(self, config: EngineConfig) -> None:
        """Makes the numbers and rules of a config valid for the next searches; the network stays."""
        if config != self._config:
            self._last = None
            self._set_up(config)

    def _set_up(self, config: EngineConfig) -> None:
        self._config = config
        # An analysis favours neither side, so a draw is worth nothing to both.
        config = replace(config, rules=replace(config.rules, draw_value_black=0.0, draw_value_white=0.0))
        self._rules = rules_of(config)
        self._mate_nodes = config.mate.root_nodes
        self._puct = new_puct(self.loaded, config, self._threads)

    @property
    def board(self) -> Board:
        """The position of the present search, or the last one."""
        assert self._last is not None
        return self._last.board

    def clear(self) -> None:
        """Frees the search graph."""
        self._puct.clear()
        self._last = None

    def search(
        self,
        start: str,
        moves: tuple[str, ...],
        playouts: int,
        should_stop: Callable[[], bool],
        lines: int = LINES,
    ) -> PositionAnalysis:
        """Returns the analysis of the position after `moves`, with fewer playouts if `should_stop` ended it.

        start: SFEN. moves: in USI, legal. playouts: through the position, inherited ones included.
        should_stop: called between two batches, and may call `analysis`. lines: as there.

        Raises LostError if the network has failed.
        """
        position = GamePosition(start, moves, self._rules, self._last)
        is_same = self._last is not None and (self._last.sfen, self._last.moves) == (start, moves)
        if not self._follows(position):
            self._puct.clear()
        self._last = position
        board = position.board
        if (over := _ended(board)) is not None:
            return over
        try:
            self._search(board, playouts, should_stop, solves_mate=not is_same)
        except RUN_ERRORS as error:
            raise self.loaded.lose(error) from error
        return self.analysis(lines)

    def deepen(self, move: str, playouts: int, should_stop: Callable[[], bool]) -> MoveAnalysis:
        """Searches the last position through one of its moves alone; returns what is known of the move.

        move: in USI, legal. playouts: through it, those that it has included. Raises LostError.
        """
        wanted = [move_from_usi(move)]
        try:
            found = self._puct.search(self.board, lambda stats: True, root_moves=wanted).moves[0]
            missing = playouts - found.visits
            if missing > 0 and not found.is_certain:
                result = self._puct.search(
                    self.board, lambda stats: should_stop(), max_playouts=missing, root_moves=wanted
                )
                found = result.moves[0]
        except RUN_ERRORS as error:
            raise self.loaded.lose(error) from error
        return _move_analysis(found)

    def _follows(self, position: GamePosition) -> bool:
        """Does the position follow from the last one, so that the graph is valid for it?"""
        last = self._last
        return (
            last is not None
            and last.sfen == position.sfen
            and position.moves[: len(last.moves)] == last.moves
        )

    def _search(
        self, board: Board, playouts: int, should_stop: Callable[[], bool], *, solves_mate: bool
    ) -> None:
        self._puct.search(board, lambda stats: True)  # Makes the position the root.
        if solves_mate and (mate := self._mate(board, should_stop)):
            self._puct.add_mate(board, mate)
        if (missing := playouts - self.playouts) > 0:
            self._puct.search(board, lambda stats: should_stop(), max_playouts=missing)

    def _mate(self, board: Board, should_stop: Callable[[], bool]) -> tuple[Move, ...]:
        if (move := mate_in_one(board)) is not None:
            return (move,)
        if not self._mate_nodes:
            return ()
        mate = solve(board, self._mate_nodes, should_stop, SHORTENING_NODES)
        return mate.moves if mate.verdict is MateVerdict.MATE else ()

    @property
    def playouts(self) -> int:
        """Those through the position by now; may be asked between two batches."""
        root = self._puct.root
        return 0 if root is None else root.total_visits

    def analysis(self, lines: int = LINES) -> PositionAnalysis:
        """Returns what the present search has found, or the last one; `lines` moves have a continuation."""
        board = self.board
        result = self._puct.result(lines)
        moves = tuple(map(_move_analysis, result.moves))
        declares = board.declaration()
        return PositionAnalysis(
            playouts=self.playouts,
            is_final=result.stats.is_exhausted,
            value=1.0 if declares else result.moves[0].value,
            moves=moves,
            ending="declaration" if declares else "",
        )


def _ended(board: Board) -> PositionAnalysis | None:
    """Returns the analysis of a position in which the game is over, or None."""
    if not board.legal_moves():
        reason = "checkmate" if board.is_check() else "no legal move"
        return PositionAnalysis(0, True, -1.0, (), reason)
    outcome = board.outcome()
    if outcome is None or board.declaration():
        return None
    return PositionAnalysis(0, True, outcome.value, (), outcome.reason)


def _move_analysis(move: RootMove) -> MoveAnalysis:
    pv = move.pv if move.mate is not None else move.pv[:PV_LENGTH]
    value = None if move.visits == 0 and move.mate is None else round(move.value, 5)
    return MoveAnalysis(
        move_to_usi(move.move),
        round(move.prior, 5),
        move.visits,
        value,
        move.mate,
        tuple(map(move_to_usi, pv)),
    )
