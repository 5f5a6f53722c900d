"""Mate searches: mate in one, and df-pn, a proof-number search that needs little memory.

The attacker gives check with every move and the defender has no way out. Proof-number
search always works on the node that is cheapest to prove or to disprove: its `phi` is the
least number of leaves that must still turn out well for the side to move to reach its goal
(mate for the attacker, escape for the defender), its `delta` the same for the other side,
so that
    phi(node) = min delta(child), delta(node) = sum of phi(child)
hold for both. df-pn explores depth first, leaving a subtree only once its numbers pass the
thresholds at which another one became cheaper, and keeps the numbers in a table.

To come to a board again with no more in hand mates nobody: on the path of this search it counts as an
escape. With more in hand it may be what a mate takes, and so may be a position of the game before the
search, short of its fourth occurrence.

Weakness: the mate found need not be the shortest. What rests on a repetition holds for its path, while the
table merges paths: a mate may be missed there, but it is neither invented nor denied.
Source: Nagai, "Df-pn Algorithm for Searching AND/OR Trees and Its Applications", 2002.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from goryu.games.state import Move, State

__all__ = ["Mate", "MateState", "MateVerdict", "mate_in_one", "solve"]

INFINITE = 1 << 28
MAX_DEPTH = 200
"""Longer lines count as escapes: such mates are composed, and not met in play."""


@runtime_checkable
class MateState(State, Protocol):
    """A game with checks, for the mate searches."""

    @property
    def position_key(self) -> int:
        """64-bit Zobrist key of position and side to move, without the ply."""
        ...

    def recurs(self, attacker: int, plies: int) -> bool:
        """Was the position there before, up to `plies` plies back, and as good or better for the attacker?"""
        ...

    def is_check(self) -> bool:
        """Is the side to move in check?"""
        ...

    def checks(self) -> list[Move]:
        """Returns every legal move that gives check, in ascending order."""
        ...

    def all_legal_moves(self) -> list[Move]:
        """Returns every legal move, in ascending order, leaving none out as pointless.

        `legal_moves` may leave moves out that a player need not consider; a proof may not.
        """
        ...


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
        is_mate = not state.all_legal_moves()
        state.pop()
        if is_mate:
            return move
    return None


def solve(state: MateState, nodes: int, should_stop: Callable[[], bool] = lambda: False) -> Mate:
    """Searches a forced mate by the side to move, expanding at most `nodes` positions.

    `state` is as it was when the search returns.
    """
    search = _DfPn(state.turn, nodes, should_stop)
    search.expand(state, INFINITE, INFINITE, is_attacker=True, depth=0)
    root = search.table[state.key]
    if root.phi == 0 and (line := search.line(state)):
        return Mate(MateVerdict.MATE, line, search.nodes)
    is_refuted = root.delta == 0 and (not search.is_cut or search.refutes(state, set()))
    return Mate(MateVerdict.NO_MATE if is_refuted else MateVerdict.UNKNOWN, (), search.nodes)


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

    def __init__(self, attacker: int, budget: int, should_stop: Callable[[], bool]) -> None:
        self.attacker = attacker
        self.budget = budget
        self.should_stop = should_stop
        self.nodes = 0
        self.table: dict[int, _Entry] = {}
        self.refuted: set[int] = set()  # Positions that were found to hold no mate, without the ply.
        self.is_cut = False  # Has a line been given up for its repetition or its length?

    def expand(
        self, state: MateState, phi_limit: int, delta_limit: int, *, is_attacker: bool, depth: int
    ) -> None:
        """Searches below `state` until its phi or delta reaches its limit or the budget is spent."""
        self.nodes += 1
        moves = state.checks() if is_attacker else state.all_legal_moves()
        children: list[tuple[int, _Entry | None]] = []
        for move in moves:
            children.append(self._look(state, move, is_attacker, depth))
            entry = self._known(*children[-1])
            if entry.delta == 0 and entry.distance == 0:
                break  # The others change nothing any more.
        while True:
            phi, second, best, delta, distance = INFINITE, INFINITE, -1, 0, 0
            entries = [self._known(key, fixed) for key, fixed in children]
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
                if is_attacker and delta == 0:
                    self.refuted.add(state.position_key)
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
        key = state.key
        if depth + 1 >= MAX_DEPTH or state.recurs(self.attacker, depth + 1):
            self.is_cut = True
            fixed: _Entry | None = WON if is_attacker else LOST  # The defender escapes.
        else:
            fixed = _end(state, is_attacker)
        state.pop()
        return key, fixed

    def _known(self, key: int, fixed: _Entry | None) -> _Entry:
        return fixed or self.table.get(key, UNSEEN)

    def line(self, state: MateState) -> tuple[Move, ...]:
        """Returns the proven line from `state`, or () if a fourth occurrence contradicts it."""
        moves: list[Move] = []
        is_attacker, is_mate, is_sound = True, False, True
        while is_sound and not is_mate:
            entries = []
            for move in state.checks() if is_attacker else state.all_legal_moves():
                key, fixed = self._look(state, move, is_attacker, depth=0)  # A proof rests on no repetition.
                entries.append((self._known(key, fixed), move))
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

    def refutes(self, state: MateState, seen: set[int], depth: int = 0) -> bool:
        """Is it certain that the attacker cannot mate, whatever rests on a repetition?

        So it is if the defender can lead from check to check among refuted positions for ever.
        """
        if depth >= MAX_DEPTH:
            return False
        seen.add(state.position_key)
        for check in state.checks():
            state.push(check)
            end = _end(state, is_attacker=True)
            escapes = end.phi == 0 if end is not None else self._evades(state, seen, depth + 1)
            state.pop()
            if not escapes:
                return False
        return True

    def _evades(self, state: MateState, seen: set[int], depth: int) -> bool:
        """Tries one evasion that is known to do."""
        for evasion in state.all_legal_moves():
            state.push(evasion)
            position = state.position_key
            recurs = position in seen or state.recurs(self.attacker, depth + 1)
            is_known = recurs or _end(state, is_attacker=False) is not None
            is_chosen = is_known or position in self.refuted
            escapes = is_known or (is_chosen and self.refutes(state, seen, depth + 1))
            state.pop()
            if is_chosen:
                return escapes
        return False


def _end(state: MateState, is_attacker: bool) -> _Entry | None:
    """Returns the entry of a position that ends the game after a move of the attacker, or of the defender."""
    outcome = state.outcome()
    if outcome is None or (outcome.value > 0 and not is_attacker):  # Who may declare a win may mate instead.
        return None
    if is_attacker and outcome.value < 0 and state.is_check():
        return LOST  # The defender is mated.
    return WON if is_attacker else LOST  # The defender escapes, or the attacker is at an end.
