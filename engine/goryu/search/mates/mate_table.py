"""The table of a mate search: a fixed number of positions, with small-tree garbage collection.

A search that lasts long enough fills any memory and must forget something. The positions with the smallest
subtrees are found again at the least cost: when the table is full, a third of it is deleted, smallest first.
df-pn stays correct whatever is deleted, because the numbers of the children of all positions on its path are
on the stack.

Weakness: a large subtree that has become irrelevant is never deleted.
Source: A. Nagai, "A new depth-first-search algorithm for AND/OR trees", master's thesis, University of Tokyo,
1999 (SmallTreeGC).
"""

from dataclasses import dataclass

__all__ = ["CAPACITY", "INFINITE", "LOST", "UNSEEN", "WON", "Entry", "MateTable"]

INFINITE = 1 << 28

CAPACITY = 1 << 18
"""Positions that a table holds unless the caller says otherwise: 12 MiB in C++."""


@dataclass(frozen=True, slots=True)
class Entry:
    """phi and delta of a position, for its side to move; distance: plies to mate, once proven."""

    phi: int
    delta: int
    distance: int = 0


UNSEEN = Entry(1, 1)
WON, LOST = Entry(0, INFINITE), Entry(INFINITE, 0)
"""The side to move has reached its goal, or can no longer reach it."""


class MateTable:
    """Entries, `capacity` of them at most.

    The numbers of df-pn stand under `State.key`, which has the ply. A position that was refuted at some ply
    is also LOST under `position_key`, which has none (`mate_refutation.py`).
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: dict[int, tuple[Entry, int]] = {}  # With the size of the subtree.

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        self._entries.clear()

    def get(self, key: int) -> Entry:
        """Returns the entry of a position, or UNSEEN."""
        known = self._entries.get(key)
        return known[0] if known is not None else UNSEEN

    def store(self, key: int, entry: Entry, size: int) -> None:
        """Stores an entry. size: positions that were expanded below this one since it was stored last."""
        known = self._entries.get(key)
        if known is not None:
            size += known[1]
        elif len(self._entries) >= self._capacity:
            self._delete_small()
        self._entries[key] = entry, min(size, INFINITE)

    def _delete_small(self) -> None:
        """Deletes the entries with the smallest subtrees: a third of all, and those of equal size."""
        sizes = sorted(size for _, size in self._entries.values())
        largest = sizes[len(sizes) // 3]
        self._entries = {key: known for key, known in self._entries.items() if known[1] > largest}
