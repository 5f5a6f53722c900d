"""When a move deserves more or less than its usual time; the tables are computed from Monty's formulas."""

from math import log

import pytest

from goryu.players.clock.course import Course, falling_factor, instability_factor, share_factor
from goryu.players.config import EngineConfig, with_fields
from goryu.search.result import SearchStats

STATS = SearchStats(
    1000, 1000, 500, 300, 3, 6, 100, 1000, is_proven=False, is_exhausted=False, visits=1000, best_move=0
)


@pytest.mark.parametrize(
    ("fall", "factor"), [(0.0, 1.0), (0.01, 1.4), (0.02, 1.8), (2.0, 1.8), (-0.005, 0.8), (-2.0, 0.6)]
)
def test_a_falling_value_asks_for_more_time_and_a_rising_one_for_less(fall: float, factor: float) -> None:
    assert falling_factor(fall) == pytest.approx(factor)


@pytest.mark.parametrize(("changes", "factor"), [(0, 1.0), (1, 1 + log(1.3)), (4, 1 + log(2.2)), (100, 3.2)])
def test_every_change_of_the_best_move_asks_for_more_time(changes: float, factor: float) -> None:
    assert instability_factor(changes) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("share", "factor"), [(0.0, 1.5), (0.5, 2.5 - 4 * log(1.44)), (0.7, 2.5 - 4 * log(1.55)), (1.0, 0.55)]
)
def test_the_greater_the_share_of_the_best_move_the_less_time(share: float, factor: float) -> None:
    assert share_factor(share) == pytest.approx(factor)


def factors(*seen: SearchStats, optimum_ms: float = 2000) -> list[float]:
    """Returns the factor after each of these batches, one every 100 ms: each is a sample."""
    course = Course(optimum_ms)
    return [course.factor(stats, 100.0 * n) for n, stats in enumerate(seen, start=1)]


def test_the_value_is_compared_with_the_mean_of_those_before() -> None:
    """The mean goes from 0.2 to 0.2, 0.195, 0.1925 and 0.19125."""
    found = factors(*(STATS._replace(value=value) for value in (0.2, 0.19, 0.19, 0.19)))
    falls = (0.0, 0.01, 0.005, 0.0025)
    assert found == pytest.approx([falling_factor(fall) * share_factor(0.5) for fall in falls])


def test_a_change_of_the_best_move_counts_half_at_the_next_sample() -> None:
    found = factors(*(STATS._replace(best_move=move) for move in (3, 3, 5, 5, 5)))
    changes = (0, 0, 1, 0.5, 0.25)
    assert found == pytest.approx([instability_factor(n) * share_factor(0.5) for n in changes])


def test_changes_between_two_samples_all_count() -> None:
    course = Course(2000)
    for ms, move in ((10, 1), (20, 2), (30, 1), (40, 2)):
        assert course.factor(STATS._replace(best_move=move), ms) == 1.0
    found = course.factor(STATS._replace(best_move=2), 100)
    assert found == pytest.approx(instability_factor(3) * share_factor(0.5))


def test_a_search_that_knows_no_visits_has_its_usual_time() -> None:
    assert factors(STATS._replace(visits=0), STATS._replace(visits=0, value=-1.0)) == [1.0, 1.0]


def test_only_the_search_that_knows_its_visits_follows_its_course() -> None:
    asked = with_fields(EngineConfig(), {"clock.follows_course": True})
    assert asked.time_config().follows_course
    assert not with_fields(asked, {"algorithm.name": "alpha-beta"}).time_config().follows_course
    assert not EngineConfig().time_config().follows_course, "off unless asked for"
