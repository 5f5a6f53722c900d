"""Mate searches: mate in one, and a forced mate by checks of any length.

df-pn (`df_pn.py`) finds the mate or calls the position refuted. A refutation that rests on a repetition is
examined again, since it holds for one path only (`mate_refutation.py`).

Weakness: the first mate found need not be the shortest; `shortening_nodes` buys shorter ones. The search may
miss a mate where paths repeat. It never reports a mate that does not exist, nor "no mate" where it has missed
one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from goryu.games.state import Move
from goryu.search.mates.df_pn import DfPn, MateState
from goryu.search.mates.mate_refutation import certain_root
from goryu.search.mates.mate_table import CAPACITY

__all__ = ["Mate", "MateVerdict", "mate_in_one", "solve"]


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


def solve(
    state: MateState,
    nodes: int,
    should_stop: Callable[[], bool] = lambda: False,
    shortening_nodes: int = 0,
    capacity: int = CAPACITY,
) -> Mate:
    """Searches a forced mate by the side to move, expanding at most `nodes` positions.

    shortening_nodes: further positions that may be expanded for a shorter mate, once one is found.
    capacity: entries of the table. If it forgets a part of the proof, more positions are expanded to find the
        line. `state` is as it was when the search returns.
    """
    if capacity < 1:
        raise ValueError(f"capacity {capacity}: expected at least 1")
    df_pn = DfPn(state, nodes, should_stop, capacity)
    root = df_pn.search(is_attacker=True)
    if root.delta == 0 and df_pn.is_cut:
        root = certain_root(df_pn)
    if root.phi == 0 and (line := df_pn.line()):
        line = df_pn.shorter_line(line, shortening_nodes)
        return Mate(MateVerdict.MATE, line, df_pn.nodes)
    return Mate(MateVerdict.NO_MATE if root.delta == 0 else MateVerdict.UNKNOWN, (), df_pn.nodes)


def mate_in_one(state: MateState) -> Move | None:
    """Returns the first move that mates at once, or None."""
    for move in state.checks():
        state.push(move)
        is_mate = not state.all_legal_moves()
        state.pop()
        if is_mate:
            return move
    return None
