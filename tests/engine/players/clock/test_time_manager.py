"""The plan for a move, and the stopwatch that keeps to it; with a clock that the tests move."""

from dataclasses import replace
from math import log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goryu.players.clock.limits import Limits
from goryu.players.clock.time_manager import BOTH_HAVE_MOVED_PLY, Budget, TimeConfig, TimeManager, plan
from goryu.search.result import SearchStats
from present import present

CONFIG = TimeConfig(network_delay_ms=30, network_delay2_ms=100)
STATS = SearchStats(
    playouts=100, evaluations=100, depth=3, max_depth=6, nodes=100, capacity=1000, is_proven=False,
    is_exhausted=False, lead=10,
)  # fmt: skip


class Clock:
    """Seconds that pass only by `wait_ms`."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s

    def wait_ms(self, ms: float) -> None:
        self.now_s += ms / 1000


def budget_of(limits: Limits, turn: int = 0, ply: int = 0, config: TimeConfig = CONFIG) -> Budget:
    return present(plan(limits, turn, ply, config, Random(1)))


def started(budget: Budget, playouts: int = 0) -> tuple[TimeManager, Clock]:
    """Returns a manager that has just started, and its clock."""
    clock = Clock()
    manager = TimeManager(clock)
    manager.start(budget, clock(), playouts)
    return manager, clock


def thinking_ms(budget: Budget, stats: SearchStats, batch_ms: float, is_forced: bool = False) -> float:
    """Returns how long a search with batches of this length goes on."""
    manager, clock = started(budget)
    while not manager.should_stop(stats, is_forced):
        clock.wait_ms(batch_ms)
    return 1000 * (clock() - 1000.0)


def test_byoyomi_is_used_up_but_for_the_margin() -> None:
    budget = budget_of(Limits(time_ms=(0, 0), byoyomi_ms=1000))
    assert (budget.optimum_ms, budget.maximum_ms) == (900, 900)


def test_a_margin_never_takes_more_than_half() -> None:
    assert budget_of(Limits(time_ms=(0, 0), byoyomi_ms=100)).maximum_ms == 50
    assert budget_of(Limits(time_ms=(50, 50))).maximum_ms <= 25
    assert budget_of(Limits(time_ms=(0, 0))).maximum_ms == 0


def test_each_side_has_its_own_clock() -> None:
    limits = Limits(time_ms=(1000, 60_000), increment_ms=(0, 500))
    assert budget_of(limits, turn=0).optimum_ms < 50
    assert budget_of(limits, turn=1).optimum_ms > 60_000 / 50 + 500


def test_the_increment_is_planned_with_but_not_counted_on() -> None:
    budget = budget_of(Limits(time_ms=(200, 200), increment_ms=(5000, 5000)))
    assert budget.optimum_ms <= budget.maximum_ms <= 100


@pytest.mark.parametrize(("time_ms", "ply"), [(0, 0), (0, 1), (0, 60), (200, 60)])
def test_a_clock_below_its_increment_comes_from_a_gui_that_adds_it_before_the_move(
    time_ms: int, ply: int
) -> None:
    """ShogiHome sends `go btime 0 wtime 0 binc 10000 winc 10000` when each move may take ten seconds."""
    budget = budget_of(Limits(time_ms=(time_ms, time_ms), increment_ms=(10_000, 10_000)), ply=ply)
    assert 3000 < budget.optimum_ms <= budget.maximum_ms <= time_ms + 10_000 - 100
    with_byoyomi = Limits(time_ms=(0, 0), increment_ms=(10_000, 10_000), byoyomi_ms=1000)
    assert budget_of(with_byoyomi, ply=ply).maximum_ms <= 900, "servers that send both add it after the move"


@pytest.mark.parametrize(("time_ms", "ply"), [(200, 6), (9_900, 60)])
def test_an_increment_that_may_come_after_the_move_is_not_spent(time_ms: int, ply: int) -> None:
    """The first move of a match from an opening, and a clock that was overstepped by a tenth of a second."""
    budget = budget_of(Limits(time_ms=(time_ms, time_ms), increment_ms=(10_000, 10_000)), ply=ply)
    assert budget.maximum_ms <= time_ms - 100


def test_less_main_time_than_byoyomi_is_spent_with_it() -> None:
    budget = budget_of(Limits(time_ms=(800, 800), byoyomi_ms=1000))
    assert budget.optimum_ms == budget.maximum_ms == 1700


def test_the_main_time_is_divided_by_the_moves_left_to_the_draw() -> None:
    limits = Limits(time_ms=(60_000, 60_000))
    near_the_end = budget_of(limits, ply=316, config=replace(CONFIG, moves_to_draw=320))
    assert near_the_end.optimum_ms == pytest.approx(60_000 / 2, rel=0.2)
    assert near_the_end.maximum_ms <= 0.5 * 60_000


def game_of(
    limits: Limits, moves: int, config: TimeConfig = CONFIG, use: float = 1.0
) -> tuple[list[float], float]:
    """Plays a game on a clock like a match's; returns the times of our moves and the main time left, in ms.

    use: the share of the soft end that is used while there is main time.
    """
    assert limits.time_ms is not None
    left_ms, times = limits.time_ms[0], []
    for move in range(moves):
        budget = budget_of(replace(limits, time_ms=(left_ms, left_ms)), ply=2 * move, config=config)
        # At least a batch of 10 ms.
        used_ms = max(budget.optimum_ms * (use if left_ms else 1.0), 10) + config.network_delay_ms
        assert used_ms <= left_ms + limits.byoyomi_ms, f"flagged at move {move}"
        left_ms = max(0.0, left_ms - used_ms) + limits.increment_ms[0]
        times.append(used_ms)
    return times, left_ms


MINUTE = 60_000.0


@pytest.mark.parametrize(("seconds", "moves"), [(10, 90), (60, 120), (600, 150)])
def test_without_byoyomi_or_increment_a_long_game_is_played_to_its_end(seconds: int, moves: int) -> None:
    times, left_ms = game_of(Limits((1000.0 * seconds, 0.0)), moves)
    assert times[0] == max(times)
    assert left_ms > 0


@pytest.mark.parametrize("use", [1.0, 0.75])
@pytest.mark.parametrize(("minutes", "byoyomi_s"), [(10, 10), (15, 60), (5, 3), (0.2, 0.5)])
def test_with_byoyomi_a_usual_game_uses_up_the_main_time(
    minutes: float, byoyomi_s: float, use: float
) -> None:
    limits = Limits((minutes * MINUTE, 0.0), byoyomi_ms=1000 * byoyomi_s)
    times, left_ms = game_of(limits, 60, use=use)
    assert left_ms == 0
    assert times[-1] == pytest.approx(limits.byoyomi_ms - 70)
    if minutes == 10:
        assert game_of(limits, 45, use=use)[1] < 20_000


def test_the_main_time_ends_where_more_moves_with_it_would_gain_no_more() -> None:
    """n moves share the main time M and the byoyomi b of the last; they gain n log((M + b) / (n b))."""
    times, _ = game_of(Limits((10 * MINUTE, 0.0), byoyomi_ms=10_000), 45)
    moves = sum(ms > 10_000 for ms in times)
    best = max(n * log(61 / n) for n in range(1, 45))
    assert moves * log(61 / moves) > 0.99 * best


@pytest.mark.parametrize("minutes", [5, 10])
def test_with_an_increment_a_long_game_falls_back_on_it(minutes: int) -> None:
    limits = Limits((minutes * MINUTE, 0.0), (10_000.0, 0.0))
    times, left_ms = game_of(limits, 90)
    assert times[0] == max(times)
    assert times[-1] < 13_000
    assert left_ms < 0.05 * minutes * MINUTE + 10_000


def test_time_is_kept_for_a_long_game_only_if_there_may_be_one() -> None:
    limits = Limits(time_ms=(10_000, 10_000))
    assert budget_of(limits, ply=80).optimum_ms == pytest.approx((10_000 - 60 * 30) / 15)
    near_the_end = replace(CONFIG, moves_to_draw=100)
    assert budget_of(limits, ply=80, config=near_the_end).optimum_ms == pytest.approx(10_000 / 10, rel=0.1)
    with_increment = replace(limits, increment_ms=(30, 30))
    assert budget_of(with_increment, ply=80).optimum_ms > 10_000 / 15 + 30


def test_a_clock_of_whole_seconds_is_used_to_the_end_of_the_second() -> None:
    budget = budget_of(Limits(time_ms=(60_000, 60_000)), config=replace(CONFIG, does_round_up=True))
    assert budget.optimum_ms == 2000 - 30


@pytest.mark.parametrize(("lead", "seconds"), [(200, 1), (40, 2), (5, 4)])
def test_a_clock_of_whole_seconds_leaves_no_second_half_used(lead: int, seconds: int) -> None:
    config = replace(CONFIG, does_round_up=True)
    budget = budget_of(Limits(time_ms=(60_000, 60_000)), config=config)
    assert budget.maximum_ms % 1000 == 1000 - 30
    stats = STATS._replace(lead=lead)
    assert thinking_ms(budget, stats, 10) == pytest.approx(1000 * seconds - 30, abs=25)


def test_a_margin_of_the_main_time_is_not_planned_with() -> None:
    minute, margin = Limits(time_ms=(60_000, 60_000)), replace(CONFIG, time_margin_ms=20_000)
    assert budget_of(minute, config=margin) == budget_of(Limits(time_ms=(40_000, 40_000)))
    little = Limits(time_ms=(10_000, 10_000))
    assert budget_of(little, config=margin) == budget_of(Limits(time_ms=(5000, 5000)))
    byoyomi = replace(minute, byoyomi_ms=1000)
    assert budget_of(byoyomi, config=margin) == budget_of(byoyomi)


def test_the_user_may_lengthen_or_shorten_the_search() -> None:
    limits = Limits(time_ms=(600_000, 600_000), increment_ms=(2000, 2000))
    plain = budget_of(limits).optimum_ms
    assert budget_of(limits, config=replace(CONFIG, slow_mover_percent=50)).optimum_ms == plain / 2
    assert budget_of(limits, config=replace(CONFIG, ponders=True)).optimum_ms == 1.25 * plain


def test_no_move_takes_more_than_four_times_its_share() -> None:
    budget = budget_of(Limits(time_ms=(600_000, 600_000)))
    assert budget.maximum_ms == 4 * budget.optimum_ms


def test_no_move_takes_more_than_42_percent_of_the_main_time() -> None:
    budget = budget_of(Limits(time_ms=(10_000, 10_000), increment_ms=(5000, 5000)), ply=60)
    assert budget.optimum_ms == budget.maximum_ms == 4200


@given(
    time_ms=st.lists(st.floats(0, 1e6), min_size=2, max_size=2).map(sorted),
    increment_ms=st.sampled_from([0.0, 10_000.0]),
    byoyomi_ms=st.sampled_from([0.0, 300.0, 10_000.0]),
    ply=st.integers(0, 300),
)
def test_more_time_on_the_clock_gives_no_move_less(
    time_ms: list[float], increment_ms: float, byoyomi_ms: float, ply: int
) -> None:
    less, more = (max(ms, increment_ms) for ms in time_ms)  # As after a move.
    short, long = (
        budget_of(Limits((ms, 0.0), (increment_ms, 0.0), byoyomi_ms), ply=ply) for ms in (less, more)
    )
    assert short.optimum_ms <= long.optimum_ms + 1e-6
    assert short.maximum_ms <= long.maximum_ms + 1e-6


def test_a_fixed_time_does_not_exceed_the_clock() -> None:
    clock = Limits(time_ms=(0, 0), byoyomi_ms=1000)
    assert budget_of(replace(clock, movetime_ms=5000)).maximum_ms == budget_of(clock).maximum_ms
    assert budget_of(replace(clock, movetime_ms=500)) == budget_of(Limits(movetime_ms=500))


def test_movetime_ends_a_little_early() -> None:
    assert budget_of(Limits(movetime_ms=500)).maximum_ms == 470
    assert budget_of(Limits(movetime_ms=100)).maximum_ms == 90


def test_a_random_time_is_one_to_three_times_the_given_one() -> None:
    times = [plan(Limits(rtime_ms=100), 0, 0, TimeConfig(0, 0), Random(seed)) for seed in range(50)]
    found = [budget.maximum_ms for budget in times if budget is not None]
    assert min(found) >= 100
    assert max(found) <= 300
    assert max(found) > 2 * min(found)


def test_a_go_without_limits_is_given_a_second() -> None:
    assert 900 <= budget_of(Limits()).maximum_ms <= 1000


@pytest.mark.parametrize("limits", [Limits(infinite=True), Limits(nodes=5), Limits(depth=5)])
def test_other_limits_need_no_clock(limits: Limits) -> None:
    assert plan(limits, 0, 0, CONFIG, Random(1)) is None


@given(
    time_ms=st.floats(0, 1e7),
    increment_ms=st.floats(0, 1e5),
    byoyomi_ms=st.floats(0, 1e6),
    ply=st.integers(0, 600),
    config=st.builds(
        TimeConfig,
        network_delay_ms=st.floats(0, 10_000),
        network_delay2_ms=st.floats(0, 60_000),
        time_margin_ms=st.floats(0, 60_000),
        minimum_ms=st.floats(0, 1e6),
        slow_mover_percent=st.integers(1, 1000),
        does_round_up=st.booleans(),
        stops_early_in_byoyomi=st.booleans(),
        moves_to_draw=st.integers(0, 600),
        ponders=st.booleans(),
    ),
)
def test_no_plan_exceeds_the_clock(
    time_ms: float, increment_ms: float, byoyomi_ms: float, ply: int, config: TimeConfig
) -> None:
    limits = Limits((time_ms, 0.0), (increment_ms, 0.0), byoyomi_ms)
    budget = budget_of(limits, ply=ply, config=config)
    assert 0 <= budget.minimum_ms <= budget.optimum_ms <= budget.maximum_ms
    is_low = 2 * time_ms < increment_ms and (time_ms == 0 or ply >= BOTH_HAVE_MOVED_PLY)
    is_before_the_move = byoyomi_ms == 0 and is_low
    usable_ms = time_ms + increment_ms if is_before_the_move else time_ms + byoyomi_ms
    assert budget.maximum_ms <= usable_ms


@pytest.mark.parametrize("batch_ms", [1, 7, 40, 150, 300])
def test_the_hard_end_holds_whatever_a_batch_takes(batch_ms: float) -> None:
    # The batch in flight is waited for, so its length is part of the margin once it was seen.
    assert thinking_ms(Budget(900, 900), STATS, batch_ms) <= 900


def test_a_batch_longer_than_the_budget_is_not_repeated() -> None:
    assert thinking_ms(Budget(900, 900), STATS, 500) <= 1000


def test_a_decided_race_ends_early_and_saves_the_main_time() -> None:
    decided = STATS._replace(playouts=1000, lead=890)
    assert thinking_ms(Budget(1000, 4000, may_stop_early=True), decided, 10) < 600


def test_no_race_is_called_in_the_first_tenth_of_the_time() -> None:
    """The lead is inherited, and the rate that of a few playouts."""
    decided = STATS._replace(playouts=10, lead=5000)
    assert thinking_ms(Budget(1000, 4000, may_stop_early=True), decided, 10) == pytest.approx(100, abs=15)


def test_byoyomi_is_used_up_unless_an_option_is_set() -> None:
    decided = STATS._replace(playouts=1000, lead=980)
    limits = Limits(time_ms=(0, 0), byoyomi_ms=1000)
    assert thinking_ms(budget_of(limits), decided, 10) > 800
    early = replace(CONFIG, stops_early_in_byoyomi=True)
    assert thinking_ms(budget_of(limits, config=early), decided, 10) < 600


def test_a_close_race_is_extended_once() -> None:
    """A fifth of the playouts of the longer search would be enough for another move."""
    cases = (20, 4000, 2000), (20, 1500, 1500), (22, 4000, 1000), (None, 4000, 1000)
    for lead, maximum_ms, expected_ms in cases:
        stats = STATS._replace(lead=lead)
        budget = Budget(1000, maximum_ms, may_extend=True)
        assert thinking_ms(budget, stats, 10) == pytest.approx(expected_ms, abs=25)


def test_a_move_that_leads_by_little_is_not_decided_because_the_time_is_nearly_over() -> None:
    budget = Budget(1000, 4000, may_stop_early=True, may_extend=True)
    assert 1500 < thinking_ms(budget, STATS, 10) < 2000


@pytest.mark.parametrize("is_forced", [True, False])
def test_a_proven_or_the_only_move_is_played_at_once(is_forced: bool) -> None:
    stats = STATS if is_forced else STATS._replace(is_proven=True)
    assert thinking_ms(Budget(1000, 4000, minimum_ms=500), stats, 10, is_forced) == 0


def test_no_other_answer_comes_before_the_minimum() -> None:
    decided = STATS._replace(playouts=1000, lead=990)
    budget = Budget(1000, 4000, minimum_ms=700, may_stop_early=True)
    assert thinking_ms(budget, decided, 10) == pytest.approx(700, abs=15)


def test_after_ponderhit_only_new_playouts_count_for_the_rate() -> None:
    manager, clock = started(Budget(1000, 1000, may_stop_early=True), playouts=10_000)
    clock.wait_ms(200)
    # 10 playouts in 200 ms: 40 more at best in the 800 ms left.
    stats = STATS._replace(playouts=10_010, lead=30)
    assert not manager.should_stop(stats)
    assert manager.should_stop(stats._replace(lead=50))


def test_time_without_playouts_decides_no_race() -> None:
    manager, clock = started(Budget(1000, 1000, may_stop_early=True))
    clock.wait_ms(400)  # The search frees the old nodes of a large graph.
    inherited = STATS._replace(playouts=0, lead=90)
    assert not manager.should_stop(inherited)
    clock.wait_ms(100)
    # 20 playouts in 100 ms: 100 more at best in the 500 ms left.
    assert not manager.should_stop(inherited._replace(playouts=20))
    assert manager.should_stop(inherited._replace(playouts=20, lead=110))


def test_the_time_before_the_first_batch_is_not_measured_as_one() -> None:
    manager, clock = started(Budget(1000, 1000))
    clock.wait_ms(50)
    manager.begin_batch()
    clock.wait_ms(5)
    assert manager.observe() == pytest.approx(55)
    assert manager._latency_ms == pytest.approx(5)


def test_the_rate_of_playouts_counts_from_the_first_batch_even_if_other_threads_were_faster() -> None:
    manager, clock = started(Budget(1000, 1000, may_stop_early=True))
    clock.wait_ms(400)  # The search frees the old nodes of a large graph.
    manager.begin_first_batch()
    first = STATS._replace(playouts=20, lead=90)
    assert not manager.should_stop(first)
    clock.wait_ms(100)
    # 100 playouts in 100 ms: 500 more in the time that is left.
    assert not manager.should_stop(first._replace(playouts=100))


@pytest.mark.parametrize(("hashfull", "expected_ms"), [(500, 895), (995, 600)])
def test_time_is_kept_for_freeing_the_memory_of_a_full_table(hashfull: int, expected_ms: float) -> None:
    stats = STATS._replace(nodes=5_000_000, hashfull=hashfull)
    assert thinking_ms(Budget(900, 900), stats, 5) == pytest.approx(expected_ms, abs=6)


def test_a_slow_batch_is_remembered_for_a_second() -> None:
    manager, clock = started(Budget(10_000, 10_000))
    clock.wait_ms(80)
    manager.observe()
    for _ in range(100):
        clock.wait_ms(10)
        manager.observe()
    assert manager._latency_ms == pytest.approx(40)


def test_a_slow_batch_of_an_earlier_search_costs_at_most_half_of_the_soft_end() -> None:
    manager, clock = started(Budget(10_000, 10_000))
    clock.wait_ms(300)
    manager.observe()
    manager.start(Budget(100, 400, may_extend=True), clock())
    decided = STATS._replace(lead=80)
    while not manager.should_stop(decided):
        clock.wait_ms(1)
    assert 45 <= 1000 * (clock() - 1000.0) - 300 <= 55
