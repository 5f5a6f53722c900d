"""Time management: a plan for one move, made from the clocks, and a stopwatch that carries it out.

The plan has a soft end, the optimum, and a hard one, the maximum. The optimum maximizes the expected sum of
log(time) over our moves, because a doubling of the time is worth about the same at any length, and nobody
knows how long the game will be:

- the main time is divided by the number of moves that we expect to play;
- byoyomi (秒読み) begins only when the main time is used up, and then costs nothing. n moves that share the
  main time M gain n log(M / (n byoyomi)) over byoyomi, the most where each takes e times the byoyomi. So no
  move takes less while there is main time;
- an increment comes with every move, also with late ones that may never be played. The optimum T solves
  T = share + increment (1 + log(T / increment)); we take one step of this from T = share + increment.

If nothing follows the main time, the network delays of a long game are subtracted first. The stopwatch asks
one question of the search (`SearchStats.lead`): how many playouts would another move need to be the one that
we play? It ends a search early when fewer are left, and doubles the optimum once when few would do.

Weakness: every move counts the same, in the opening and in the middle game.
Sources: dlshogi's share of the main time; lc0's "smart pruning"; YaneuraOu for the two network delays.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, e, inf, log1p
from random import Random

from goryu.players.clock.limits import DEFAULT_MOVETIME_MS, Limits
from goryu.search.result import SearchStats

UNDECIDED_PLY, LAST_MOVES = 70, 15
"""Few games are decided before this ply, and after it one of some 15 moves decides. In 20,257 games of
`models/data/fsf*.games` each side had 53, 34, 20 and 15 moves left on average at plies 0, 40, 80 and 120."""

MAXIMUM_SHARE = 0.42
"""No move may take more than this share of the time left (lc0's value), unless its own share is greater."""

MAXIMUM_FACTOR = 4.0
"""No move may take more than this multiple of its optimum (FukauraOu's largest value)."""

PONDER_FACTOR = 1.25
"""An engine that ponders may use more of its own time (YaneuraOu's value)."""

LONG_GAME = 60
"""After the expected number of moves there must be time for this many more, one network delay each."""

CLOSE_RACE = 0.2
"""The optimum is doubled if another move would need at most this share of the playouts of one optimum. With
most of the visits on two moves, one then has two thirds of the other's (dlshogi's value)."""

BOTH_HAVE_MOVED_PLY = 30
"""From this ply on both sides of a game have moved, even if it began from an opening."""

LAST_SHARE = 0.25
"""A search is nearly over in this last share of its time until the soft end. In a quarter of 240 ms df-pn can
search 40,000 nodes."""

EARLIEST_STOP = 0.1
"""The share of the optimum before which no search ends early: the rate of playouts is noise (dlshogi)."""

NEARLY_FULL = 990
"""From this share of the table on, in thousandths, a batch may have to free memory first."""

FREEING_MS = 6e-5
"""How long that takes for a node of the table, in milliseconds."""

LATENCY_HALF_LIFE_S = 1.0
"""The time in which the longest batch loses half its weight: a machine that was slow will be slow again."""


@dataclass(frozen=True, slots=True)
class TimeConfig:
    """The user's options for time; milliseconds unless the name says otherwise.

    network_delay_ms: how much later the GUI's clock stops than ours, on average.
    network_delay2_ms: the same at worst; subtracted from every time that must not be exceeded.
    time_margin_ms: main time that is never used if no byoyomi follows it; at most half of it.
    minimum_ms: do not answer sooner, except with a proven move or the only one.
    slow_mover_percent: the optimum is this share of what the plan gives.
    does_round_up: the GUI counts whole seconds, so the rest of a second costs nothing.
    stops_early_in_byoyomi: answer early when the best move is decided, though byoyomi cannot be saved.
    moves_to_draw: the ply at which the game is drawn; 0 for none.
    ponders: does the engine also think on the opponent's time? Then it uses more of its own.
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

    optimum_ms: the soft end. maximum_ms: the hard end, at which the answer must have been sent.
    minimum_ms: the earliest end. may_stop_early, may_extend: may the search's lead move the soft end?
    second_ms: how long before the end of a second of the GUI's clock the answer must be sent, if the soft end
        may only move to such an end; None if it may move anywhere.
    """

    optimum_ms: float
    maximum_ms: float
    minimum_ms: float = 0.0
    may_stop_early: bool = False
    may_extend: bool = False
    second_ms: float | None = None


def plan(limits: Limits, turn: int, ply: int, config: TimeConfig, rng: Random) -> Budget | None:
    """Returns the budget of the side to move, or None if no clock ends this search.

    turn: 0 for black, whose clock is the first of each pair. ply: moves played so far.

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
        # A GUI that adds the increment after the move has added one by our second move, so it sends about
        # that much or more. If it sends far less, or nothing, the increment comes on top of it.
        if 2 * time_ms < increment_ms and (time_ms == 0 or ply >= BOTH_HAVE_MOVED_PLY):
            time_ms += increment_ms
        time_ms -= min(config.time_margin_ms, 0.5 * time_ms)
    usable_ms = time_ms + byoyomi_ms
    margin_ms = max(config.network_delay_ms, config.network_delay2_ms)
    # A margin greater than the time itself would forbid all thinking; half of it is then the best guess.
    limit_ms = usable_ms - min(margin_ms, 0.5 * usable_ms)
    if time_ms <= byoyomi_ms:
        # The rest of the main time and the byoyomi after it are one budget: neither can be saved.
        early = config.stops_early_in_byoyomi
        return Budget(limit_ms, limit_ms, min(config.minimum_ms, limit_ms), may_stop_early=early)

    moves_left, moves_beyond = _expected_moves(ply, config.moves_to_draw)
    free_ms = max(0.0, limit_ms - time_ms)  # The part of the byoyomi that can be used.
    share_ms = max(usable_ms / moves_left, min(usable_ms, e * free_ms))
    if byoyomi_ms == 0:
        delays_ms = moves_beyond * max(0.0, config.network_delay_ms - increment_ms)
        share_ms = max((time_ms - delays_ms) / moves_left, time_ms / (moves_left + moves_beyond))
    optimum_ms = share_ms
    if increment_ms > 0:
        optimum_ms += increment_ms * (1 + log1p(share_ms / increment_ms))
    optimum_ms *= config.slow_mover_percent / 100
    if config.ponders:
        optimum_ms *= PONDER_FACTOR
    maximum_ms = min(limit_ms, max(MAXIMUM_SHARE * usable_ms, share_ms), MAXIMUM_FACTOR * optimum_ms)
    return _rounded(min(optimum_ms, maximum_ms), maximum_ms, limit_ms, config)


def _expected_moves(ply: int, moves_to_draw: int) -> tuple[float, float]:
    """Returns how many moves share the main time, and how many more must be possible in a long game."""
    most = max(1, (moves_to_draw - ply + 1) // 2) if moves_to_draw else inf
    moves_left = min(LAST_MOVES + max(0, UNDECIDED_PLY - ply) / 2, most)
    return moves_left, min(LONG_GAME, most - moves_left)


def _rounded(optimum_ms: float, maximum_ms: float, limit_ms: float, config: TimeConfig) -> Budget:
    """Returns the budget, with both ends at the end of a second if the GUI counts whole seconds."""
    second_ms = config.network_delay_ms if config.does_round_up else None
    if second_ms is not None:
        optimum_ms = min(_end_of_second(optimum_ms, second_ms), limit_ms)
        maximum_ms = min(_end_of_second(maximum_ms, second_ms), limit_ms)
    minimum_ms = min(config.minimum_ms, maximum_ms)
    optimum_ms = max(optimum_ms, minimum_ms)
    return Budget(
        optimum_ms,
        maximum_ms,
        minimum_ms,
        may_stop_early=True,
        may_extend=True,
        second_ms=second_ms,
    )


def _end_of_second(ms: float, before_ms: float) -> float:
    """Returns the first moment from `ms` on that is `before_ms` before the end of a second."""
    return 1000.0 * ceil((ms + before_ms) / 1000) - before_ms


class TimeManager:
    """A stopwatch that decides between two batches whether the search goes on.

    clock: in seconds. The longest recent batch is remembered between moves: the answer must wait for a batch
    that has begun.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._latency_ms = 0.0
        self._next_batch_ms = 0.0
        self._budget: Budget | None = None
        self._started_s = self._batch_start_s = self._first_batch_s = clock()
        self._playouts_before = 0
        self._soft_ms = 0.0
        self._is_soft_end_final = False

    @property
    def soft_ms(self) -> float:
        """The soft end of this search, in milliseconds from its start; infinite if no clock ends it."""
        return self._soft_ms if self._budget is not None else inf

    def left_ms(self) -> float:
        """Returns the milliseconds until the soft end; infinite if no clock ends this search."""
        return self.soft_ms - self.milliseconds_since(self._started_s)

    def hard_left_ms(self) -> float:
        """Returns the milliseconds until the hard end; infinite if no clock ends this search."""
        if self._budget is None:
            return inf
        return self._budget.maximum_ms - self.milliseconds_since(self._started_s)

    @property
    def latency_ms(self) -> float:
        """How long the next batch may take, in milliseconds: as long as the longest recent one."""
        return self._latency_ms

    @property
    def is_nearly_over(self) -> bool:
        """Has all but the last quarter of the time until the soft end passed?"""
        return self._budget is not None and self.left_ms() <= LAST_SHARE * self._soft_ms

    def least_left_ms(self) -> float:
        """Returns the milliseconds for which no answer may be sent yet; 0 if it may be sent now."""
        if self._budget is None:
            return 0.0
        return max(0.0, self._budget.minimum_ms - self.milliseconds_since(self._started_s))

    def start(self, budget: Budget | None, started_s: float, playouts: int = 0) -> None:
        """Starts the stopwatch at `started_s`, when `playouts` had already been made (by pondering)."""
        self._budget = budget
        self._started_s = started_s
        self._batch_start_s = self._first_batch_s = self._clock()
        self._playouts_before = playouts
        self._soft_ms = budget.optimum_ms if budget is not None else 0.0
        self._is_soft_end_final = False

    def begin_batch(self) -> None:
        """Starts the measurement of a batch; the time since the last one does not belong to it."""
        self._batch_start_s = self._clock()

    def begin_first_batch(self) -> None:
        """Starts the measurement of the first batch, and of the rate of playouts."""
        self._batch_start_s = self._first_batch_s = self._clock()

    def observe(self) -> float:
        """Ends the measurement of a batch; returns the milliseconds since the start."""
        now = self._clock()
        batch_s = now - self._batch_start_s
        self._latency_ms = max(1000 * batch_s, self._latency_ms * 0.5 ** (batch_s / LATENCY_HALF_LIFE_S))
        self._batch_start_s = now
        return 1000 * (now - self._started_s)

    def milliseconds_since(self, moment_s: float) -> float:
        """Returns the milliseconds since a moment of the same clock."""
        return 1000 * (self._clock() - moment_s)

    def should_stop(self, stats: SearchStats, is_forced: bool = False) -> bool:
        """Must the search end? Call it once after every batch.

        is_forced: there is only one legal move, so the search only serves to show a score.
        """
        elapsed_ms = self.observe()
        if stats.playouts == self._playouts_before:
            self._first_batch_s = self._batch_start_s  # Before it the old nodes of a large graph are freed.
        is_full = stats.hashfull >= NEARLY_FULL
        self._next_batch_ms = max(self._latency_ms, FREEING_MS * stats.nodes if is_full else 0.0)
        if stats.is_proven or (is_forced and self._budget is not None and stats.playouts > 0):
            return True
        if self._budget is None:
            return False
        if self._would_exceed(self._budget.maximum_ms, elapsed_ms):
            return True
        if elapsed_ms < self._budget.minimum_ms:
            return False
        is_over = self._would_exceed(self._soft_ms, elapsed_ms)
        if not is_over and not (self._budget.may_stop_early and self._is_decided(stats, elapsed_ms)):
            return False
        if self._is_close(stats) and self.extend():
            return False
        if is_over or self._budget.second_ms is None:
            return True
        self._soft_ms = min(self._soft_ms, _end_of_second(elapsed_ms, self._budget.second_ms))
        self._is_soft_end_final = True  # The move is decided.
        return self._would_exceed(self._soft_ms, elapsed_ms)

    def extend(self) -> bool:
        """Doubles the soft end for a search that must choose another move; returns whether there is time."""
        if self._budget is None or not self._budget.may_extend or self.hard_left_ms() <= self._latency_ms:
            return False
        before_ms = self._soft_ms
        self._is_soft_end_final = True
        self._move_soft_end(2 * self._soft_ms)
        return self._soft_ms > before_ms

    def _would_exceed(self, end_ms: float, elapsed_ms: float) -> bool:
        """Would the next batch end after `end_ms`, if it takes as long as the longest recent one?

        If the table is nearly full, it takes at least the time in which memory is freed. At most half of the
        time until `end_ms` is given up for that batch. So a slow batch ends this search before the next
        batch, but the next searches not before their first.
        """
        return elapsed_ms + min(self._next_batch_ms, 0.5 * end_ms) >= end_ms

    def _move_soft_end(self, ms: float) -> None:
        """Moves the soft end to `ms`, or to the end of that second, but never beyond the hard end."""
        assert self._budget is not None
        if self._budget.second_ms is not None:
            ms = _end_of_second(ms, self._budget.second_ms)
        self._soft_ms = min(ms, self._budget.maximum_ms)

    def _is_decided(self, stats: SearchStats, elapsed_ms: float) -> bool:
        """Can no other move become the one that we play in the time that is left?"""
        if stats.lead is None or elapsed_ms < EARLIEST_STOP * self._soft_ms:
            return False
        return stats.lead > self._playouts_in(self._soft_ms - elapsed_ms, stats)

    def _is_close(self, stats: SearchStats) -> bool:
        """May the time still be doubled, and would a few of the added playouts suffice for another move?"""
        if self._is_soft_end_final or stats.lead is None:
            return False
        return stats.lead <= CLOSE_RACE * self._playouts_in(self._soft_ms, stats)

    def _playouts_in(self, ms: float, stats: SearchStats) -> float:
        """Returns how many playouts the search will make in this time; infinite if it has made none yet."""
        made = stats.playouts - self._playouts_before
        return made * ms / max(1000 * (self._batch_start_s - self._first_batch_s), 1.0) if made else inf
