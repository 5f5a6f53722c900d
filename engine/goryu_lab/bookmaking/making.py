"""Makes a book: searches the position that games reach most often, again and again.

The workers are a thread of this process, several processes, or those of a cluster.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from goryu.implementation import Board
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import load_evaluator
from goryu_lab.bookmaking.graph import BookGraph
from goryu_lab.bookmaking.searched import BookSearcher, SearchedPosition
from goryu_lab.bookmaking.state import BookState
from goryu_lab.work.driver import Workforce, run_tasks
from goryu_lab.work.seam import Inbox, Job, Pool, Result, Task


@dataclass(frozen=True, slots=True)
class SearchJob(Job):
    """Searches positions. Its evaluator must be what the config names, without a fallback."""

    config: EngineConfig
    playouts: int
    files: Sequence[Path] = ()

    def prepared(self, place: Callable[[Path], Path]) -> Self:
        model = str(place(self.files[0])) if self.files else self.config.evaluator.model
        return replace(
            self, config=replace(self.config, evaluator=replace(self.config.evaluator, model=model))
        )

    def work(self, inbox: Inbox) -> Iterator[Result]:
        config = replace(
            self.config, evaluator=replace(self.config.evaluator, threads=1, allows_fallback=False)
        )
        searcher = BookSearcher(load_evaluator(config.evaluator, lambda message: None), config)
        while (task := inbox.take(wait=True)) is not None:
            number, sfen = task
            searched = searcher.search(sfen, self.playouts, lambda: inbox.is_closed)
            if searched is None:
                return
            yield number, searched


def make_book(
    state: BookState,
    graph: BookGraph,
    job: SearchJob,
    new_pool: Callable[[], Pool],
    positions: int,
    report: Callable[[BookGraph], None] = lambda graph: None,
    watch: Callable[[Workforce], None] = lambda workforce: None,
    *,
    deepens: bool = False,
) -> None:
    """Searches positions until the graph has `positions` of them, or until none is left.

    new_pool: returns the workers. report: called after every search, in this thread. watch: see `run_tasks`.
    deepens: also search positions again, in the same order, that had fewer playouts than the job makes.
    """
    for searched in state.positions:
        graph.add(searched)
    graph.update()
    report(graph)
    least = job.playouts if deepens else 0
    # A worker may find nothing to do while the others still search the positions that lead on.
    while (tasks := _Tasks(graph, positions, least)).has_next():
        with closing(run_tasks(new_pool(), job, iter(tasks), watch=watch)) as finished:
            for results in finished:
                found: list[SearchedPosition] = [searched for _, searched in results]
                state.append(found)
                for searched in found:
                    graph.add(searched)
                    tasks.done(searched.sfen)
                graph.update()
                report(graph)


class _Tasks:
    """The next positions to search, without those that somebody searches already."""

    def __init__(self, graph: BookGraph, positions: int, playouts: int) -> None:
        """playouts: positions with fewer are searched again."""
        self._graph = graph
        self._positions = positions
        self._playouts = playouts
        self._open: set[str] = set()

    def __iter__(self) -> Iterator[Task]:
        number = 0
        while (sfen := self._next()) is not None:
            self._open.add(sfen)
            yield number, sfen
            number += 1

    def has_next(self) -> bool:
        return self._next() is not None

    def done(self, sfen: str) -> None:
        self._open.discard(sfen)

    def _next(self) -> str | None:
        new = sum(sfen not in self._graph for sfen in self._open)
        is_full = len(self._graph.nodes) + new >= self._positions
        for wanted in self._graph.wanted(self._playouts):
            is_allowed = wanted.sfen not in self._open and (not is_full or wanted.sfen in self._graph)
            if is_allowed and not _is_over(wanted.sfen):
                return wanted.sfen
        return None


def _is_over(sfen: str) -> bool:
    board = Board(sfen)
    return not board.legal_moves() or board.declaration() or board.outcome() is not None
