"""The clocks of a game: main time, byoyomi, increment, pauses."""

from goryu.table.clock import ClockConfig, Clocks


def clocks_of(config: ClockConfig) -> tuple[Clocks, list[float]]:
    """Returns clocks, and the time that they read, for a test to change."""
    now = [100.0]
    return Clocks(config, lambda: now[0]), now


def test_main_time_comes_before_byoyomi() -> None:
    clocks, now = clocks_of(ClockConfig(60, byoyomi_s=30))
    clocks.start(0)
    now[0] += 50
    assert clocks.budget_s(0) == 40
    clocks.press()
    assert clocks.left_s == (10, 60)


def test_byoyomi_begins_anew_with_each_move() -> None:
    clocks, now = clocks_of(ClockConfig(10, byoyomi_s=30))
    for seconds in (35, 25, 29):
        clocks.start(0)
        now[0] += seconds
        assert clocks.budget_s(0) > 0
        clocks.press()
        assert clocks.left_s[0] == 0
        assert clocks.budget_s(0) == 30


def test_the_increment_is_added_after_the_move() -> None:
    clocks, now = clocks_of(ClockConfig(60, increment_s=5))
    clocks.start(1)
    now[0] += 10
    assert clocks.budget_s(1) == 50
    clocks.press()
    assert clocks.left_s == (60, 55)


def test_the_increment_follows_a_move_in_byoyomi() -> None:
    clocks, now = clocks_of(ClockConfig(10, byoyomi_s=30, increment_s=5))
    clocks.start(0)
    now[0] += 35
    clocks.press()
    assert clocks.left_s == (5, 10)


def test_time_stands_still_in_a_pause() -> None:
    clocks, now = clocks_of(ClockConfig(60, byoyomi_s=30))
    clocks.start(0)
    now[0] += 20
    clocks.stop()
    now[0] += 3600
    clocks.start(0)
    now[0] += 20
    assert clocks.budget_s(0) == 50


def test_byoyomi_that_was_used_stays_used_over_a_pause() -> None:
    clocks, now = clocks_of(ClockConfig(0, byoyomi_s=30))
    clocks.start(0)
    now[0] += 20
    clocks.stop()
    clocks.start(0)
    assert clocks.budget_s(0) == 10


def test_a_running_clock_is_not_started_again() -> None:
    clocks, now = clocks_of(ClockConfig(60))
    clocks.start(0)
    now[0] += 20
    clocks.start(0)
    assert clocks.main_left_s() == (40, 60)


def test_a_search_gets_what_a_pause_has_left_of_the_byoyomi() -> None:
    clocks, _now = clocks_of(ClockConfig(0, byoyomi_s=30, increment_s=2))
    assert clocks.limits(1).byoyomi_ms == 30_000
    assert clocks.limits(1).increment_ms == (2000, 2000)
    clocks.left_s = (0, -20)
    limits = clocks.limits(1)
    assert (limits.time_ms, limits.byoyomi_ms) == ((0, 0), 10_000)
    clocks.left_s = (-20, 5)
    limits = clocks.limits(1)
    assert (limits.time_ms, limits.byoyomi_ms) == ((0, 5000), 30_000)
