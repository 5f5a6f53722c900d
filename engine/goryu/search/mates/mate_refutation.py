"""Refutations that hold on every path.

df-pn counts a repetition on its path as an escape, and its table merges paths. So a position that it calls
refuted may hold a mate on another path: the graph-history-interaction problem.

A refutation is certain if the defender can answer every check for ever with moves to refuted positions. Where
no such move is known, df-pn searches the position as if the path began there. It finds the move, or a mate
that it had missed before. After a missed mate the examination starts again from the root.

Weakness: each restart visits all positions of the refutation again, and their keys are kept in memory.
Source: the problem is described in A. Kishimoto, M. Müller, "A General Solution to the Graph History
Interaction Problem", AAAI 2004; this solution is simpler, and only for the answer at the root.
"""

from goryu.games.state import Move
from goryu.search.mates.df_pn import DfPn
from goryu.search.mates.mate_table import LOST, UNSEEN, Entry

__all__ = ["certain_root"]


def certain_root(df_pn: DfPn) -> Entry:
    """Returns the entry, on every path, of a root that df-pn calls refuted.

    That is LOST, or the proof of a mate that the search had missed, or UNSEEN if the search was stopped.
    """
    return _Refutation(df_pn).certain_root()


class _Refutation:
    """The examination of one refutation; `state` is the position that is examined."""

    def __init__(self, df_pn: DfPn) -> None:
        self.df_pn = df_pn
        self.state = df_pn.state
        self.root = LOST
        self.seen: set[int] = set()  # Positions with the attacker to move.
        self.is_mated = False  # Was a mate found that df-pn had missed?
        self.is_stopped = False

    def certain_root(self) -> Entry:
        while self.root.delta == 0 and not self.is_stopped:
            self.seen.clear()
            if self.refutes(depth=0):
                return self.root
        return UNSEEN if self.is_stopped else self.root

    def refutes(self, depth: int) -> bool:
        """Does every check of the attacker lead to a known escape?"""
        self.is_stopped = self.is_stopped or depth >= self.df_pn.limit or self.df_pn.should_stop()
        if self.is_stopped:
            return False
        self.seen.add(self.state.position_key)
        for check in self.state.checks():
            self.state.push(check)
            is_answered = self.escapes(depth + 1)
            self.state.pop()
            if not is_answered:
                if self.is_mated:
                    self.learn_mate(depth)
                return False
        return True

    def escapes(self, depth: int) -> bool:
        """Has the defender an evasion that leads to an escape?"""
        end = self.df_pn.end(is_attacker=True)
        if end is not None:
            self.is_mated = end.delta == 0
            return not self.is_mated
        evasion = self.known_evasion(depth)
        if evasion is None:
            evasion = self.searched_evasion()
        if evasion is None:
            return False
        self.state.push(evasion)
        is_escape = self.is_settled(depth + 1) or self.refutes(depth + 1)
        self.state.pop()
        return is_escape

    def known_evasion(self, depth: int) -> Move | None:
        """Returns the first evasion whose position is known to be refuted, or None."""
        table = self.df_pn.table
        for evasion in self.state.all_legal_moves():
            self.state.push(evasion)
            is_known = self.is_settled(depth + 1) or (
                table.get(self.state.key).phi != 0 and table.get(self.state.position_key).delta == 0
            )
            self.state.pop()
            if is_known:
                return evasion
        return None

    def searched_evasion(self) -> Move | None:
        """Returns the evasion that a search from here finds, or None."""
        entry = self.df_pn.search(is_attacker=False)
        self.is_mated = entry.delta == 0
        for move, child in zip(*self.df_pn.listed, strict=False):
            if child.delta == 0:
                return move
        self.is_stopped = self.is_stopped or not self.is_mated
        return None

    def is_settled(self, depth: int) -> bool:
        """Is there nothing left to examine after an evasion?"""
        state = self.state
        return (
            state.position_key in self.seen
            or state.recurs(self.df_pn.attacker, depth)
            or self.df_pn.end(is_attacker=False) is not None
        )

    def learn_mate(self, depth: int) -> None:
        """Stores that `state` is a mate and not refuted."""
        self.is_mated = False
        entry = self.df_pn.search(is_attacker=True)
        self.df_pn.table.store(self.state.position_key, UNSEEN, 0)
        self.is_stopped = self.is_stopped or entry.phi != 0
        if depth == 0:
            self.root = entry
