"""Mates along the principal variation, searched for while the game search runs.

A mate search at every leaf has to be short. The positions that matter most, those on the line the search
expects, deserve a long one, and on a machine with a core to spare, or whose search waits for a GPU, it
costs nothing: threads of their own take one position after the other, the root first. Between two
batches the search enters what they found into its graph, from where it spreads like any proof.

Only mates are entered, never a mate that was not found: the mate search counts a repetition for the
defender, so a mate does not hang on the path by which the position was reached, but a refutation can.

Weakness: which playout learns of a mate depends on the clock, so a search with such threads is not
the same twice. Source: dlshogi's PV mate search.
"""

from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Self

from goryu.games.state import Move
from goryu.implementation import Board, Puct, solve
from goryu.search.mate import MateVerdict
from goryu.search.result import RootMove, SearchResult

LOOK_INTERVAL_MS = 100.0
"""How often the line is looked at for positions to search. Listing it takes a millisecond of the search."""

POSITIONS_PER_THREAD = 2
"""Positions that wait for each thread: more would be searched when the line has long become another."""


class PvMates:
    """The mate searches beside one search, as a context: they work while it lasts.

    threads: 0 for none. nodes: the budget for each position.
    """

    def __init__(self, puct: Puct, board: Board, threads: int, nodes: int) -> None:
        self._puct = puct
        self._board = board
        self._nodes = nodes
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(threads)]
        self._tasks: SimpleQueue[Board | None] = SimpleQueue()
        self._found: SimpleQueue[tuple[Board, tuple[Move, ...]]] = SimpleQueue()
        self._unentered: list[tuple[Board, tuple[Move, ...]]] = []
        self._lines: dict[int, tuple[Move, ...]] = {}  # By the key of the position.
        self._asked: set[int] = set()
        self._next_look_ms = 0.0
        self._is_over = False

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_over = True
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:  # They notice at the next position they look at.
            thread.join()

    def add(self, board: Board, line: tuple[Move, ...]) -> None:
        """Takes a mate that was found elsewhere, to be entered like the others."""
        self._found.put((board.copy(), line))

    def look(self, elapsed_ms: float) -> None:
        """Enters what was found, and finds the idle threads something to do. To be called between batches."""
        while not self._found.empty():
            board, line = self._found.get()
            self._lines[board.key] = line
            self._unentered.append((board, line))
        # A position whose evaluation is under way cannot be settled yet.
        self._unentered = [
            (board, line)
            for board, line in self._unentered
            if not self._puct.add_mate(board, line[0], len(line))
        ]
        if self._threads and elapsed_ms >= self._next_look_ms and self._tasks.empty():
            self._next_look_ms = elapsed_ms + LOOK_INTERVAL_MS
            self._give_tasks()

    def completed(self, result: SearchResult) -> SearchResult:
        """Returns the result with the lines of play that lead into a mate found here shown to their end."""
        if not self._lines:
            return result
        return replace(result, moves=tuple(map(self._back_up, result.moves)))

    def _back_up(self, move: RootMove) -> RootMove:
        known = self._lines.get(self._board.key, ())
        if known[:1] == (move.move,):
            return replace(move, pv=known)
        board = self._board.copy()
        for played, next_move in enumerate(move.pv, start=1):
            board.push(next_move)
            if (line := self._lines.get(board.key)) is not None:
                return replace(move, pv=(*move.pv[:played], *line))
        return move

    def _give_tasks(self) -> None:
        """Gives the threads the next positions of the line that were not searched yet."""
        moves = self._puct.result().moves
        board = self._board.copy()
        wanted = POSITIONS_PER_THREAD * len(self._threads)
        for move in (None, *(moves[0].pv if moves else ())):
            if move is not None:
                board.push(move)
            if board.key in self._asked or board.outcome() is not None:
                continue
            self._asked.add(board.key)
            self._tasks.put(board.copy())
            wanted -= 1
            if wanted == 0:
                break

    def _work(self) -> None:
        while (board := self._tasks.get()) is not None and not self._is_over:
            mate = solve(board, self._nodes, lambda: self._is_over)
            if mate.verdict is MateVerdict.MATE:
                self._found.put((board, mate.moves))
