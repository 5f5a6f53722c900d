"""Mate searches: mate in one, and df-pn, a proof-number search that needs little memory.

The attacker gives check with every move and the defender has no way out. Proof-number
search always works on the node that is cheapest to prove or to disprove: its `phi` is the
least number of leaves that must still turn out well for the side to move to reach its goal
(mate for the attacker, escape for the defender), its `delta` the same for the other side,
so that
    phi(node) = min delta(child), delta(node) = sum of phi(child)
hold for both. df-pn explores depth first, leaving a subtree only once its numbers pass the
thresholds at which another one became cheaper, and keeps the numbers in a table.

Weakness: the mate found need not be the shortest, and repetition is judged on the path at
hand, so that a mate may be missed (never invented) where paths merge.
Source: Nagai, "Df-pn Algorithm for Searching AND/OR Trees and Its Applications", 2002.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from goryu.games.state import MateState, Move

__all__ = ["Mate", "MateVerdict", "mate_in_one", "solve"]

INFINITE = 1 << 28
MAX_DEPTH = 200
"""Longer lines count as escapes; the longest known tsume problem aside, none is met in play."""


class MateVerdict(Enum):
    """What a mate search found out."""

    MATE = "mate"
    NO_MATE = "no mate"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Mate:
    """The answer of a mate search.

    moves: the line, with the longest defence found at each step; empty unless verdict is MATE.
    nodes: positions that were expanded.
    """

    verdict: MateVerdict
    moves: tuple[Move, ...]
    nodes: int


def mate_in_one(state: MateState) -> Move | None:
    """Returns the first move that mates at once, or None."""
    for move in state.checks():
        state.push(move)
        is_mate = not state.evasions()
        state.pop()
        if is_mate:
            return move
    return None


def solve(state: MateState, nodes: int, should_stop: Callable[[], bool] = lambda: False) -> Mate:
    """Searches a forced mate by the side to move, expanding at most `nodes` positions.

    `state` is as it was when the search returns.
    """
    search = _DfPn(nodes, should_stop)
    search.expand(state, INFINITE, INFINITE, is_attacker=True, depth=0)
    root = search.table[state.key]
    if root.phi == 0 and (line := search.line(state)):
        return Mate(MateVerdict.MATE, line, search.nodes)
    verdict = MateVerdict.NO_MATE if root.delta == 0 else MateVerdict.UNKNOWN
    return Mate(verdict, (), search.nodes)


@dataclass(frozen=True, slots=True)
class _Entry:
    """phi and delta of a position, from its side to move; distance: plies to mate, once proven."""

    phi: int
    delta: int
    distance: int = 0


UNSEEN = _Entry(1, 1)
WON, LOST = _Entry(0, INFINITE), _Entry(INFINITE, 0)
"""The side to move has reached its goal, or can no longer reach it."""


class _DfPn:
    """The table and the budget of one search."""

    def __init__(self, budget: int, should_stop: Callable[[], bool]) -> None:
        self.budget = budget
        self.should_stop = should_stop
        self.nodes = 0
        self.table: dict[int, _Entry] = {}

    def expand(
        self, state: MateState, phi_limit: int, delta_limit: int, *, is_attacker: bool, depth: int
    ) -> None:
        """Searches below `state` until its phi or delta reaches its limit or the budget is spent."""
        self.nodes += 1
        moves = state.checks() if is_attacker else state.evasions()
        children = [self._look(state, move, is_attacker, depth) for move in moves]
        while True:
            phi, second, best, delta, distance = INFINITE, INFINITE, -1, 0, 0
            entries = [fixed or self.table.get(key, UNSEEN) for key, fixed in children]
            for i, entry in enumerate(entries):
                delta = min(delta + entry.phi, INFINITE)
                if entry.delta < phi:
                    phi, second, best = entry.delta, phi, i
                elif entry.delta < second:
                    second = entry.delta
            if phi == 0 and is_attacker:  # Mated by the quickest of the replies that are known to lose.
                distance = 1 + min(entry.distance for entry in entries if entry.delta == 0)
            elif delta == 0 and not is_attacker:  # Every defence loses; the longest is chosen.
                distance = 1 + max((entry.distance for entry in entries), default=-1)
            self.table[state.key] = _Entry(phi, delta, distance)
            if phi >= phi_limit or delta >= delta_limit or self.nodes >= self.budget or self.should_stop():
                return
            state.push(moves[best])
            self.expand(
                state,
                phi_limit=delta_limit - delta + entries[best].phi,
                delta_limit=min(phi_limit, second + 1),
                is_attacker=not is_attacker,
                depth=depth + 1,
            )
            state.pop()

    def _look(self, state: MateState, move: Move, is_attacker: bool, depth: int) -> tuple[int, _Entry | None]:
        """Returns a child's key, and its entry where the path or the end of the game decides it."""
        state.push(move)
        key, fixed = state.key, None
        is_over = depth + 1 >= MAX_DEPTH or state.repetition() is not None
        if not is_over and (outcome := state.outcome()) is not None:
            is_over = True
            if is_attacker and outcome.value < 0 and state.is_check():
                fixed = LOST  # The defender is mated.
        if is_over and fixed is None:
            fixed = WON if is_attacker else LOST  # The defender escapes, or the attacker is at an end.
        state.pop()
        return key, fixed

    def line(self, state: MateState) -> tuple[Move, ...]:
        """Returns the proven line from `state`, or () if this path's repetitions contradict it."""
        moves: list[Move] = []
        is_attacker, is_mate, is_sound = True, False, True
        while is_sound and not is_mate:
            entries = []
            for move in state.checks() if is_attacker else state.evasions():
                key, fixed = self._look(state, move, is_attacker, len(moves))
                entries.append((fixed or self.table.get(key, UNSEEN), move))
            if is_attacker:
                entries = [(entry, move) for entry, move in entries if entry.delta == 0]
            is_sound = bool(entries) and all(entry.phi == 0 or is_attacker for entry, _ in entries)
            if is_sound:
                choose = min if is_attacker else max
                entry, move = choose(entries, key=lambda scored: scored[0].distance)
                moves.append(move)
                state.push(move)
                is_mate = is_attacker and entry.distance == 0
                is_attacker = not is_attacker
        for _ in moves:
            state.pop()
        return tuple(moves) if is_sound else ()
