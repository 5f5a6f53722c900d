"""df-pn, a proof-number search for mates that needs little memory.

The attacker gives check with every move and the defender has no way out. Proof-number search always works on
the node that is cheapest to prove or to disprove: its `phi` is the least number of leaves that must still
turn out well for the side to move to reach its goal (mate for the attacker, escape for the defender), its
`delta` the same for the other side, so that

    phi(node) = min delta(child), delta(node) = sum of phi(child)

hold for both. df-pn explores depth first, leaving a subtree only once its numbers pass the thresholds at
which another one became cheaper, and keeps the numbers in a table.

A position that recurs on the path of the search counts as an escape, unless the attacker now has more in
hand: such a recurrence may be part of a mate. Positions of the game before the search do not count; only the
fourth occurrence of one ends the game.

Weakness: an escape by repetition holds for its path, while the table merges paths, so the search may miss a
mate there, and call a position refuted that is not: see `mate_refutation.py`.
Source: A. Nagai, "Df-pn Algorithm for Searching AND/OR Trees and Its Applications", 2002.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Protocol, runtime_checkable

from goryu.games.state import Move, State
from goryu.search.mates.mate_table import INFINITE, LOST, UNSEEN, WON, Entry, MateTable

__all__ = ["DfPn", "MateState", "combine"]

MAX_PLIES = 199
"""Longer lines count as escapes: such mates are composed and do not occur in games."""


@runtime_checkable
class MateState(State, Protocol):
    """A game with checks, for the mate searches."""

    @property
    def position_key(self) -> int:
        """64-bit Zobrist key of position and side to move, without the ply."""
        ...

    def recurs(self, attacker: int, plies: int) -> bool:
        """Did the board occur up to `plies` plies ago, with as much or more in the attacker's hand?"""
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


class DfPn:
    """A df-pn search with its table and budget; `state` is the position that it has reached."""

    def __init__(self, state: MateState, budget: int, should_stop: Callable[[], bool], capacity: int) -> None:
        self.state = state
        self.attacker = state.turn
        self.root_ply = state.ply
        self.limit = MAX_PLIES  # Longer lines count as escapes.
        self.budget: float = budget
        self.should_stop = should_stop
        self.nodes = 0
        self.table = MateTable(capacity)
        self.is_cut = False  # Was a line given up for its repetition or its length?
        self.listed: tuple[list[Move], list[Entry]] = [], []  # The children of the last position of `search`.

    def search(self, is_attacker: bool) -> Entry:
        """Searches `state` until it is solved or the budget is spent, as if the path began here. Leaves its
        children in `listed`.
        """
        return self.expand(INFINITE, INFINITE, is_attacker, depth=0)

    def expand(self, phi_limit: int, delta_limit: int, is_attacker: bool, depth: int) -> Entry:
        """Searches below `state` until its phi or delta reaches its limit or the budget is spent.

        The loop ends whatever the table forgets: each turn replaces the smallest delta of the children by one
        above the second smallest, or ends the loop, so that phi rises to its limit.
        """
        before = self.nodes
        self.nodes += 1
        moves, children = self.children(is_attacker, depth)
        while True:
            entry, best, second = combine(children, is_attacker)
            if entry.phi >= phi_limit or entry.delta >= delta_limit or self.is_over():
                break
            self.state.push(moves[best])
            children[best] = self.expand(
                delta_limit - entry.delta + children[best].phi,
                min(phi_limit, second + 1),
                not is_attacker,
                depth + 1,
            )
            self.state.pop()
        if depth == 0:
            self.listed = moves, children
        self.table.store(self.state.key, entry, self.nodes - before)
        if is_attacker and entry.delta == 0:
            self.table.store(self.state.position_key, LOST, self.nodes - before)  # For `mate_refutation`.
        return entry

    def children(self, is_attacker: bool, depth: int) -> tuple[list[Move], list[Entry]]:
        """Returns the moves of `state` and the entries of the positions after them, perhaps not of all.

        Keys contain the ply, so a search below one child changes no entry of the others.
        """
        moves = self.state.checks() if is_attacker else self.state.all_legal_moves()
        entries: list[Entry] = []
        for move in moves:
            self.state.push(move)
            entries.append(self.child_entry(is_attacker, depth + 1))
            self.state.pop()
            if entries[-1].delta == 0 and entries[-1].distance == 0:
                break  # This move decides.
        return moves, entries

    def child_entry(self, is_attacker: bool, depth: int) -> Entry:
        """Returns the entry of `state`, after a move of the attacker or of the defender."""
        remaining = self.root_ply + self.limit - self.state.ply
        recurs = self.state.recurs(self.attacker, depth)
        end = None if recurs else self.end(is_attacker)
        if end is not None:
            return end
        if recurs or remaining <= 0:
            self.is_cut = True
            return WON if is_attacker else LOST  # The defender escapes.
        entry = self.table.get(self.state.key)
        return entry if entry.distance <= remaining else UNSEEN

    def end(self, is_attacker: bool) -> Entry | None:
        """Returns the entry of `state` if a move of the attacker, or of the defender, has ended the game."""
        outcome = self.state.outcome()
        if outcome is None:
            return None
        if outcome.value > 0 and not is_attacker:
            return None  # The attacker may declare a win, but may mate instead.
        if is_attacker and outcome.reason == "checkmate":
            return LOST  # The defender is mated.
        return WON if is_attacker else LOST  # The defender escapes, or the attacker wins in another way.

    def is_over(self) -> bool:
        return self.nodes >= self.budget or self.should_stop()

    def line(self) -> tuple[Move, ...]:
        """Returns the proven line, or () if the fourth occurrence of a position contradicts it."""
        budget, self.budget = self.budget, inf
        line: list[Move] = []
        is_attacker, is_mate = True, False
        while not is_mate and (proven := self.proven_child(is_attacker)) is not None:
            entry, move = proven
            is_mate = is_attacker and entry.distance == 0
            line.append(move)
            self.state.push(move)
            is_attacker = not is_attacker
        for _ in line:
            self.state.pop()
        self.budget = budget
        return tuple(line) if is_mate else ()

    def proven_child(self, is_attacker: bool) -> tuple[Entry, Move] | None:
        """Returns the attacker's quickest mating move or the defender's longest defence, or None."""
        self.listed = self.children(is_attacker, depth=0)  # A proof does not depend on a repetition.
        if not mates(self.listed[1], is_attacker):  # The table has lost a part of the proof.
            self.search(is_attacker)
        if not mates(self.listed[1], is_attacker):  # Its refutations belong to other paths.
            self.table.clear()
            self.search(is_attacker)
        if not mates(self.listed[1], is_attacker):
            return None
        scored = zip(self.listed[1], self.listed[0], strict=False)
        if is_attacker:
            return min((child for child in scored if child[0].delta == 0), key=distance_of)
        return max(scored, key=distance_of)

    def shorter_line(self, line: tuple[Move, ...], nodes: int) -> tuple[Move, ...]:
        """Returns the shortest line found with `nodes` more positions; `line` is the one known so far."""
        self.budget = self.nodes + nodes
        while len(line) > 1 and not self.is_over():
            self.limit = len(line) - 2
            shorter = self.line() if self.search(is_attacker=True).phi == 0 else ()
            if not shorter:
                break
            line = shorter
        return line


def combine(children: Sequence[Entry], is_attacker: bool) -> tuple[Entry, int, int]:
    """Returns the entry of a position from its children's, the index of the child that is cheapest to prove,
    and the delta of the next one.
    """
    phi, second, best, delta, distance = INFINITE, INFINITE, -1, 0, 0
    for i, entry in enumerate(children):
        delta += entry.phi
        if entry.delta < phi:
            phi, second, best = entry.delta, phi, i
        elif entry.delta < second:
            second = entry.delta
    # Only a solved position is infinite; transpositions may be counted often enough to reach any number.
    delta = INFINITE if phi == 0 else min(delta, INFINITE - 1)
    if phi == 0 and is_attacker:  # Mated by the quickest of the replies that are known to lose.
        distance = 1 + min(entry.distance for entry in children if entry.delta == 0)
    elif delta == 0 and not is_attacker:  # Every defence loses; the longest is chosen.
        distance = 1 + max((entry.distance for entry in children), default=-1)
    return Entry(phi, delta, distance), best, second


def mates(children: Sequence[Entry], is_attacker: bool) -> bool:
    """Does the attacker mate, from a position with these children?"""
    if is_attacker:
        return any(entry.delta == 0 for entry in children)
    return all(entry.phi == 0 for entry in children)


def distance_of(child: tuple[Entry, Move]) -> int:
    return child[0].distance
