"""How long to think: from the clocks to a plan for one move, and the stopwatch that holds to it.

The plan has a soft end, the optimum, and a hard one, the maximum. The optimum is the
share of the main time that dlshogi uses, time / (14 + max(0, 30 - ply)) + increment,
and never less than the byoyomi (秒読み), which is lost if it is not used. Where nothing follows
the main time, what the network's delay takes from a long game is set aside first. The stopwatch
ends a search early when the second move can no longer catch up, and doubles the optimum
once when the first two moves are close: the time saved goes where it is needed.
Sources: dlshogi's time control; lc0's "smart pruning"; YaneuraOu for the two network delays.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf
from random import Random

from goryu.players.limits import DEFAULT_MOVETIME_MS, Limits
from goryu.search.result import SearchStats

MAXIMUM_SHARE = 0.42
"""No move may take more than this share of the main time (lc0's value)."""

MAXIMUM_FACTOR = 4.0
"""No move may take more than this multiple of its optimum (FukauraOu's largest value)."""

PONDER_FACTOR = 1.25
"""Who also thinks on the opponent's time may spend more of its own (YaneuraOu's value)."""

LONG_GAME = 60
"""So many moves more than expected must be playable before the flag falls, each in the network's delay."""

CLOSE_RACE = 1.5
"""The optimum is doubled if the first move has less than this multiple of the second's visits (dlshogi)."""

EARLIEST_STOP = 0.1
"""The share of the optimum before which a race is not called: rates are noise until then (dlshogi)."""

LATENCY_HALF_LIFE_S = 1.0
"""How long it takes to forget half of the longest batch: a machine that held us up will do so again."""


@dataclass(frozen=True, slots=True)
class TimeConfig:
    """What the user may say about time; milliseconds unless the name says otherwise.

    network_delay_ms: on average, how much later the GUI's clock stops than ours; used for round numbers.
    network_delay2_ms: the same at worst; kept back from everything that must not be exceeded.
    time_margin_ms: not planned with where no byoyomi follows the main time, up to half of it.
    minimum_ms: do not answer sooner, except with a proven or the only move.
    does_round_up: the GUI counts whole seconds, so that the rest of a second that was begun is free.
    stops_early_in_byoyomi: answer a decided race early even where the time saved is worth nothing.
    moves_to_draw: the ply at which the game is drawn; 0 for none.
    """

    network_delay_ms: float = 30.0
    network_delay2_ms: float = 100.0
    time_margin_ms: float = 0.0
    minimum_ms: float = 0.0
    slow_mover_percent: int = 100
    does_round_up: bool = False
    stops_early_in_byoyomi: bool = False
    moves_to_draw: int = 0
    ponders: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """The plan for one move, in milliseconds from the start of its clock.

    optimum_ms: the soft end. maximum_ms: the hard end, at which the answer must have left us.
    minimum_ms: not before. may_stop_early, may_extend: may a look at the tree move the soft end?
    second_ms: where the soft end may only be moved to the end of a second on the GUI's clock, how long
        before that the answer must leave us; None where it may be moved to anywhere.
    """

    optimum_ms: float
    maximum_ms: float
    minimum_ms: float = 0.0
    may_stop_early: bool = False
    may_extend: bool = False
    second_ms: float | None = None


def plan(limits: Limits, turn: int, ply: int, config: TimeConfig, rng: Random) -> Budget | None:
    """Returns the budget of the side to move, or None if no clock ends this search.

    turn: 0 for the first player, whose clock is the first of each pair. ply: moves played so far.

    >>> plan(Limits(time_ms=(0, 0), byoyomi_ms=1000), 0, 0, TimeConfig(), Random(0)).maximum_ms
    900.0
    """
    if limits.infinite:
        return None
    fixed_ms = _fixed_time_ms(limits, rng)
    clock = _plan_clock(limits, turn, ply, config) if limits.time_ms is not None else None
    if fixed_ms is None:
        return clock
    end_ms = fixed_ms - min(config.network_delay_ms, 0.1 * fixed_ms)
    if clock is not None:
        end_ms = min(end_ms, clock.maximum_ms)
    return Budget(end_ms, end_ms)


def _fixed_time_ms(limits: Limits, rng: Random) -> float | None:
    if limits.movetime_ms is not None:
        return limits.movetime_ms
    if limits.rtime_ms is not None:
        return limits.rtime_ms * rng.uniform(1.0, 3.0)
    return DEFAULT_MOVETIME_MS if limits.is_unlimited else None


def _plan_clock(limits: Limits, turn: int, ply: int, config: TimeConfig) -> Budget:
    assert limits.time_ms is not None
    time_ms, increment_ms, byoyomi_ms = limits.time_ms[turn], limits.increment_ms[turn], limits.byoyomi_ms
    if byoyomi_ms == 0:
        time_ms -= min(config.time_margin_ms, 0.5 * time_ms)
    usable_ms = time_ms + byoyomi_ms
    margin_ms = max(config.network_delay_ms, config.network_delay2_ms)
    # A margin greater than the time itself would forbid all thinking; half of it is then the best guess.
    limit_ms = usable_ms - min(margin_ms, 0.5 * usable_ms)
    if time_ms <= byoyomi_ms:
        # The last of the main time and the byoyomi behind it are one budget: neither can be saved.
        early = config.stops_early_in_byoyomi
        return Budget(limit_ms, limit_ms, min(config.minimum_ms, limit_ms), may_stop_early=early)

    moves_left, moves_beyond = 14 + max(0, 30 - ply), LONG_GAME
    if config.moves_to_draw:
        most = max(1, (config.moves_to_draw - ply + 1) // 2)
        moves_left = min(moves_left, most)
        moves_beyond = min(moves_beyond, most - moves_left)
    share_ms = time_ms / moves_left
    if byoyomi_ms == 0:
        kept_ms = moves_beyond * max(0.0, config.network_delay_ms - increment_ms)
        share_ms = max((time_ms - kept_ms) / moves_left, time_ms / (moves_left + moves_beyond))
    optimum_ms = max(share_ms + increment_ms, byoyomi_ms) * config.slow_mover_percent / 100
    if config.ponders:
        optimum_ms *= PONDER_FACTOR
    maximum_ms = min(limit_ms, max(byoyomi_ms, MAXIMUM_SHARE * time_ms, time_ms / moves_left))
    maximum_ms = min(maximum_ms, max(MAXIMUM_FACTOR * optimum_ms, byoyomi_ms))
    optimum_ms = min(optimum_ms, maximum_ms)
    second_ms = config.network_delay_ms if config.does_round_up else None
    if second_ms is not None:
        optimum_ms = min(_end_of_second(optimum_ms, second_ms), limit_ms)
        maximum_ms = min(_end_of_second(maximum_ms, second_ms), limit_ms)
    minimum_ms = min(config.minimum_ms, maximum_ms)
    optimum_ms = max(optimum_ms, minimum_ms)
    return Budget(
        optimum_ms, maximum_ms, minimum_ms, may_stop_early=True, may_extend=True, second_ms=second_ms
    )


def _end_of_second(ms: float, before_ms: float) -> float:
    """Returns the first moment from `ms` on that is so long before the end of a second."""
    return 1000.0 * ceil((ms + before_ms) / 1000) - before_ms


class TimeManager:
    """A stopwatch that is asked between two batches whether to go on.

    clock: seconds, monotonic. The longest recent batch is measured and remembered between moves,
    because a batch that has begun must be waited for.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._latency_ms = 0.0
        self._budget: Budget | None = None
        self._started_s = self._asked_s = self._first_batch_s = clock()
        self._playouts_before = 0
        self._soft_ms = 0.0
        self._was_extended = False

    @property
    def latency_ms(self) -> float:
        """How long a batch has been seen to take lately."""
        return self._latency_ms

    @property
    def soft_ms(self) -> float:
        """The soft end of this search, in milliseconds from its start; infinite if no clock ends it."""
        return self._soft_ms if self._budget is not None else inf

    def start(self, budget: Budget | None, started_s: float, playouts: int = 0) -> None:
        """Starts the stopwatch at `started_s`, when `playouts` had already been made (by pondering)."""
        self._budget = budget
        self._started_s = started_s
        self._asked_s = self._first_batch_s = self._clock()
        self._playouts_before = playouts
        self._soft_ms = budget.optimum_ms if budget is not None else 0.0
        self._was_extended = False

    def begin(self) -> None:
        """Notes that the first batch begins: whatever was done since the start was none."""
        self._asked_s = self._clock()

    def observe(self) -> float:
        """Notes that a batch has ended; returns the milliseconds since the start."""
        now = self._clock()
        batch_s = now - self._asked_s
        self._latency_ms = max(1000 * batch_s, self._latency_ms * 0.5 ** (batch_s / LATENCY_HALF_LIFE_S))
        self._asked_s = now
        return 1000 * (now - self._started_s)

    def milliseconds_since(self, moment_s: float) -> float:
        """Returns the milliseconds since a moment of the same clock."""
        return 1000 * (self._clock() - moment_s)

    def should_stop(self, stats: SearchStats, is_forced: bool = False) -> bool:
        """Is it time to answer? To be asked once after every batch.

        is_forced: there is only one legal move, so that thinking only serves to show a score.
        """
        elapsed_ms = self.observe()
        if stats.playouts == self._playouts_before:
            self._first_batch_s = self._asked_s  # Before it a large graph is cleared of what is old.
        if stats.is_proven or (is_forced and self._budget is not None and stats.playouts > 0):
            return True
        if self._budget is None:
            return False
        # Not more than half of the time is given up for the latency: a slow batch ends the search
        # before the next one, not before the first.
        next_ms = elapsed_ms + min(self._latency_ms, 0.5 * self._budget.maximum_ms)
        if next_ms >= self._budget.maximum_ms:
            return True
        if elapsed_ms < self._budget.minimum_ms:
            return False
        if next_ms >= self._soft_ms:
            return not self._extend(stats)
        if not (self._budget.may_stop_early and self._is_race_over(stats, elapsed_ms)):
            return False
        if self._budget.second_ms is None:
            return True
        self._soft_ms = min(self._soft_ms, _end_of_second(elapsed_ms, self._budget.second_ms))
        self._was_extended = True  # It is over, so that it will not be.
        return next_ms >= self._soft_ms

    def _extend(self, stats: SearchStats) -> bool:
        """Doubles the soft end, once, if the race for the best move is close; returns whether it did."""
        assert self._budget is not None
        if self._was_extended or not self._budget.may_extend:
            return False
        if stats.best_visits >= CLOSE_RACE * stats.second_visits:
            return False
        self._was_extended = True
        self._soft_ms *= 2
        if self._budget.second_ms is not None:
            self._soft_ms = _end_of_second(self._soft_ms, self._budget.second_ms)
        self._soft_ms = min(self._soft_ms, self._budget.maximum_ms)
        return True

    def _is_race_over(self, stats: SearchStats, elapsed_ms: float) -> bool:
        """Can the second move not catch up any more, even if it got every remaining playout?"""
        made = stats.playouts - self._playouts_before
        if made == 0 or elapsed_ms < EARLIEST_STOP * self._soft_ms:
            return False
        rate = made / max(1000 * (self._asked_s - self._first_batch_s), 1.0)
        return stats.best_visits - stats.second_visits > rate * (self._soft_ms - elapsed_ms)
