"""Policy targets over several moves, for many positions.

Most positions have few entries or none, so three flat arrays hold rows of different lengths.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from goryu_lab.records.game_records import Policy


@dataclass(frozen=True, slots=True)
class SoftPolicies:
    """The policy targets of N positions; the target of a position without entries is the move played.

    starts: int64 [N + 1]; the entries of position i are those from starts[i] to starts[i + 1].
    moves: uint16 [M], 16-bit moves as in HCPE. probabilities: float32 [M]; they sum to 1 for each position.
    """

    starts: npt.NDArray[np.int64]
    moves: npt.NDArray[np.uint16]
    probabilities: npt.NDArray[np.float32]

    @classmethod
    def of(cls, policies: Sequence[Policy | None]) -> Self:
        """Makes the targets from one policy per position; the policies need not sum to 1."""
        rows = [policy or () for policy in policies]
        sizes = np.array([len(row) for row in rows], np.int64)
        probabilities = np.array([p for row in rows for _, p in row], np.float32)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        totals = np.array([sum(p for _, p in row) for row in rows], np.float32)
        moves = np.array([move for row in rows for move, _ in row], np.uint16)
        return cls(starts, moves, np.divide(probabilities, np.repeat(totals, sizes), dtype=np.float32))

    @classmethod
    def none(cls, count: int) -> Self:
        """Makes the targets of `count` positions without entries."""
        return cls(np.zeros(count + 1, np.int64), np.zeros(0, np.uint16), np.zeros(0, np.float32))

    @classmethod
    def concatenate(cls, parts: Iterable[Self]) -> Self:
        """Concatenates targets."""
        parts = list(parts)
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([part.moves for part in parts]),
            np.concatenate([part.probabilities for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def entries(self, position: int) -> list[tuple[int, float]]:
        """Returns the moves of a position and their probabilities; empty if it has none."""
        row = slice(self.starts[position], self.starts[position + 1])
        if row.start == row.stop:
            return []
        return list(zip(self.moves[row].tolist(), self.probabilities[row].tolist(), strict=True))

    def select(self, chosen: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Self:
        """Returns the targets of some positions, given by indices or by a mask."""
        indices = np.arange(len(self))[chosen]
        sizes = np.diff(self.starts)[indices]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        # An entry keeps its distance from the start of its row.
        entries = np.arange(starts[-1]) + np.repeat(self.starts[indices] - starts[:-1], sizes)
        return type(self)(starts, self.moves[entries], self.probabilities[entries])

    def means(
        self,
        groups: npt.NDArray[np.int64],
        weights: npt.NDArray[np.float64],
        played: npt.NDArray[np.uint16],
    ) -> Self:
        """Returns the weighted mean of the targets of each group of positions.

        groups: the group of each position, every number from 0 up. played: the move played in each position.
        """
        sizes = np.diff(self.starts)
        is_bare = sizes == 0
        entry_groups = np.concatenate([np.repeat(groups, sizes), groups[is_bare]])
        moves = np.concatenate([self.moves, played[is_bare]]).astype(np.int64)
        shares = np.concatenate([np.repeat(weights, sizes) * self.probabilities, weights[is_bare]])
        keys, entry = np.unique(entry_groups << 16 | moves, return_inverse=True)
        sums = np.bincount(entry, shares)
        starts = np.concatenate([[0], np.cumsum(np.bincount(keys >> 16))])
        totals = np.bincount(groups, weights)
        return type(self)(
            starts, (keys & 0xFFFF).astype(np.uint16), (sums / totals[keys >> 16]).astype(np.float32)
        )
