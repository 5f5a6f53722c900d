"""Mate searches along the principal variation: their mates enter the graph and are shown to the end."""

from time import monotonic

import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.implementation import Board, Puct
from goryu.players.pv_mates import PvMates
from goryu.search.graph.config import PuctConfig
from goryu.search.result import SearchResult, SearchStats

MATE_IN_9 = "1n5nl/k1Ps1gs+B1/p4p1pp/7P1/Pp1p1Pp1P/7g1/1P1P2P2/4rgS1L/L1S1B1RNK w 3Pgnl 1"
MATED_IN_2 = "4k4/9/4G4/9/9/9/9/9/4K4 w G 1"

PATIENCE_S = 40.0


def search(sfen: str, threads: int, playouts: int | None = None) -> SearchResult:
    """Searches until the root is proven, with mate searches of 3000 nodes meanwhile."""
    board = Board(sfen)
    puct = Puct(HashedEvaluator(), PuctConfig())
    started_s = monotonic()

    def should_stop(stats: SearchStats) -> bool:
        mates.update(1000 * (monotonic() - started_s))
        return stats.is_proven or monotonic() - started_s > PATIENCE_S

    mates = PvMates(puct, board, threads, nodes=3000)
    with mates:
        puct.search(board, should_stop, max_playouts=playouts)
    return mates.completed(puct.result())


def test_a_mate_at_the_root_ends_the_search_and_is_shown_to_its_end() -> None:
    best = search(MATE_IN_9, threads=1).moves[0]
    assert best.mate == 9
    board = Board(MATE_IN_9)
    for move in best.pv:
        assert move in board.all_legal_moves()
        board.push(move)
    assert len(best.pv) == 9
    assert not board.all_legal_moves()


@pytest.mark.parametrize("threads", [1, 2])
def test_mates_along_the_line_prove_that_the_root_is_lost(threads: int) -> None:
    best = search(MATED_IN_2, threads).moves[0]
    assert best.mate == -2
    assert len(best.pv) == 2


def test_threads_end_if_the_system_refuses_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board(MATED_IN_2)
    mates = PvMates(Puct(HashedEvaluator(), PuctConfig()), board, threads=3, nodes=3000)
    started = list(mates._threads)

    def refuse() -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(started[2], "start", refuse)
    with pytest.raises(RuntimeError, match="can't start"), mates:
        pass
    assert not any(thread.is_alive() for thread in started)


def test_without_threads_nothing_is_searched() -> None:
    assert search(MATE_IN_9, threads=0, playouts=30).moves[0].mate is None
