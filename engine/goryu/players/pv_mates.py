"""Mate searches along the principal variation, while the game search runs.

The mate search at a leaf has to be short. The positions of the principal variation matter most and get a
longer one, in separate threads, the root first; this costs nothing on a machine with a free core, or while
the search waits for a GPU. Between two batches the search enters the mates into its graph, where they spread
like any proof.

Only mates are entered, never refutations: the mate search counts a repetition as an escape, so a mate does
not depend on the path to the position, but a refutation can.

Weakness: which playout sees a mate first depends on the clock, so a search with such threads cannot be
repeated exactly. Source: dlshogi's PV mate search.
"""

from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Self

from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, Board, Puct, solve
from goryu.search.mates.mate import MateVerdict
from goryu.search.result import RootMove, SearchResult

SHORTENING_NODES = {"python": 1_000, "native": 50_000}[IMPLEMENTATION]
"""Budget for shortening a mate: 80 ms in C++. Of 151 mates of 5 to 33 plies from games, 93 were longer than
the shortest known; after 10,000 nodes 15 were, after 50,000 nodes 3."""

TASK_INTERVAL_MS = 100.0
"""How often the threads get new positions. Listing the principal variation takes the search a millisecond."""

POSITIONS_PER_THREAD = 2
"""Positions waiting for each thread; with more, most would be searched after the line has changed."""


class PvMates:
    """The mate searches during one search; a context manager, whose threads run while it is open.

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
        self._searched: set[int] = set()
        self._next_tasks_ms = 0.0
        self._is_over = False

    def __enter__(self) -> Self:
        wanted, self._threads = self._threads, []
        try:
            for thread in wanted:
                thread.start()
                self._threads.append(thread)
        except BaseException:  # The system has no more threads; those that run must end.
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        self._is_over = True
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:  # A running mate search checks `_is_over` all the time.
            thread.join()

    def add(self, board: Board, line: tuple[Move, ...]) -> None:
        """Adds a mate that was found elsewhere, to be entered like the others."""
        self._found.put((board.copy(), line))

    def update(self, elapsed_ms: float) -> None:
        """Enters the mates found so far, and gives new positions to idle threads; call it between batches."""
        while not self._found.empty():
            board, line = self._found.get()
            self._lines[board.key] = line
            self._unentered.append((board, line))
        # A position cannot be marked as proven while it is being evaluated.
        self._unentered = [
            (board, line) for board, line in self._unentered if not self._puct.add_mate(board, line)
        ]
        if self._threads and elapsed_ms >= self._next_tasks_ms and self._tasks.empty():
            self._next_tasks_ms = elapsed_ms + TASK_INTERVAL_MS
            self._give_tasks()

    def completed(self, result: SearchResult) -> SearchResult:
        """Returns the result, with every line that leads into a mate found here extended to the mate."""
        if not self._lines:
            return result
        return replace(result, moves=tuple(map(self._extended, result.moves)))

    def _extended(self, move: RootMove) -> RootMove:
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
        """Gives the threads the next positions of the principal variation that were not searched yet."""
        moves = self._puct.result().moves
        board = self._board.copy()
        wanted = POSITIONS_PER_THREAD * len(self._threads)
        for move in (None, *(moves[0].pv if moves else ())):
            if move is not None:
                board.push(move)
            if board.key in self._searched or board.outcome() is not None:
                continue
            self._searched.add(board.key)
            self._tasks.put(board.copy())
            wanted -= 1
            if wanted == 0:
                break

    def _work(self) -> None:
        while (board := self._tasks.get()) is not None and not self._is_over:
            mate = solve(board, self._nodes, lambda: self._is_over, SHORTENING_NODES)
            if mate.verdict is MateVerdict.MATE:
                self._found.put((board, mate.moves))
