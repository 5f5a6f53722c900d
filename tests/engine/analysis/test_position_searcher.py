"""A searcher of positions: what one search found serves the next one."""

import pytest

from goryu.analysis.position_searcher import PositionSearcher
from goryu.games.shogi import START_SFEN
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator


@pytest.fixture
def searcher() -> PositionSearcher:
    config = EngineConfig(evaluator=EvaluatorConfig(kind="material"))
    return PositionSearcher(load_evaluator(config.evaluator, print), config)


def test_a_move_is_deepened_alone_with_the_playouts_that_it_had(searcher: PositionSearcher) -> None:
    before = {move.move: move.visits for move in searcher.search(START_SFEN, (), 60, lambda: False).moves}
    found = searcher.deepen("1g1f", 100, lambda: False)
    assert (found.move, found.visits, found.pv[0]) == ("1g1f", 100, "1g1f")
    assert searcher.deepen("1g1f", 20, lambda: False).visits == 100
    assert searcher.deepen("9g9f", 5, lambda: False).visits == max(5, before["9g9f"])
    after = searcher.search(START_SFEN, (), 60, lambda: False)
    changed = {"1g1f": 100, "9g9f": max(5, before["9g9f"])}
    assert {move.move: move.visits for move in after.moves} == before | changed


def test_a_move_that_mates_needs_no_playout(searcher: PositionSearcher) -> None:
    searcher.search("4k4/9/4P4/9/9/9/9/r8/4K4 b G 1", (), 20, lambda: False)
    found = searcher.deepen("G*5b", 500, lambda: False)
    assert (found.mate, found.value) == (1, 1.0)
    assert found.visits < 500
