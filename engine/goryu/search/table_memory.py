"""What the native node table's arrays take: the accounts of the memory limit, kept alike on both sides.

The search must stop storing at the same playout, whichever implementation runs. So the Python table counts
what its native twin would hold, to the byte, although its own nodes are some thirty times as large. Twin of
native/core/blocks.h, without the memory.
"""

from collections import Counter
from collections.abc import Iterable

__all__ = ["EDGE_BYTES", "MOVE_BYTES", "NODE_BYTES", "REPETITION_BYTES", "Blocks", "room_for"]

NODE_BYTES = 72
"""A node, its place in the index, and two bits that say that it lives and is reached."""

REPETITION_BYTES = 128
"""Twice its entry of a hash table that may be half empty."""

MOVE_BYTES, EDGE_BYTES = 4, 12
"""A legal move with its prior, and one that was tried."""

_UNIT = 16


class Blocks:
    """Counts blocks of memory; one that was given back serves only whoever asks for the same size."""

    def __init__(self, used: Iterable[int] = ()) -> None:
        """used: the sizes in bytes of blocks that are in use; nothing else is held."""
        self._units = sum(map(_units_of, used))
        self._free: Counter[int] = Counter()

    def allocate(self, size: int) -> None:
        """Hands a block of `size` bytes out."""
        units = _units_of(size)
        if self._free[units]:
            self._free[units] -= 1
        else:
            self._units += units

    def release(self, size: int) -> None:
        """Takes a block of `size` bytes back."""
        self._free[_units_of(size)] += 1

    @property
    def bytes(self) -> int:
        """Memory that is in use or waits to be used again."""
        return self._units * _UNIT


def room_for(count: int, room: int, moves: int) -> int:
    """Returns for how many edges there is room once `count` of the `moves` moves are tried.

    One edge fills a block of 16 bytes, four fill three such units; from there, doubling.
    """
    if count <= room:
        return room
    return min(max(1 if room == 0 else 4 if room == 1 else 2 * room, count), moves)


def _units_of(size: int) -> int:
    return -(-size // _UNIT)
