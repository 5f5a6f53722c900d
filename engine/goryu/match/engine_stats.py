"""How fast and how deep the two engines of a match worked, from its log."""

from collections.abc import Sequence
from dataclasses import dataclass

from goryu.match.game_log import GameEntry
from goryu.match.referee import Reason

__all__ = ["EngineStats", "loser", "stats_table"]


@dataclass(frozen=True, slots=True)
class EngineStats:
    """How one engine worked. Means over its moves; None where it never said.

    nps: nodes over the time that the referee measured. slowest_ms: its longest answer.
    late_ms: its greatest excess over a limit, forgiven or not. Both count an answer that lost on time, too.
    """

    moves: int
    ms_per_move: float | None
    nodes_per_move: float | None
    nps: float | None
    depth: float | None
    slowest_ms: int
    late_ms: int
    time_losses: int

    @classmethod
    def of(cls, engine: int, entries: Sequence[GameEntry]) -> "EngineStats":
        """Sums up the moves of engine 1 or 2."""
        times: list[int] = []
        slowest_ms = 0
        nodes: list[tuple[int, int]] = []
        depths: list[int] = []
        late_ms = 0
        for entry in entries:
            if entry.too_late_ms and loser(entry) == engine:
                slowest_ms = max(slowest_ms, entry.too_late_ms[0])
                late_ms = max(late_ms, entry.too_late_ms[1])
            for index, elapsed_ms in enumerate(entry.times_ms):
                if entry.engine_of_move(index) != engine:
                    continue
                times.append(elapsed_ms)
                late_ms = max(late_ms, entry.late_ms[index])
                if (count := entry.nodes[index]) is not None:
                    nodes.append((count, elapsed_ms))
                if (depth := entry.depths[index]) is not None:
                    depths.append(depth)
        total, total_ms = sum(count for count, _ in nodes), sum(ms for _, ms in nodes)
        return cls(
            moves=len(times),
            ms_per_move=sum(times) / len(times) if times else None,
            nodes_per_move=total / len(nodes) if nodes else None,
            nps=1000 * total / total_ms if total_ms else None,
            depth=sum(depths) / len(depths) if depths else None,
            slowest_ms=max([slowest_ms, *times]),
            late_ms=late_ms,
            time_losses=sum(entry.reason == Reason.TIME and loser(entry) == engine for entry in entries),
        )


def loser(entry: GameEntry) -> int | None:
    """Returns which engine lost, 1 or 2, or None for a draw."""
    return {0.0: 1, 1.0: 2}.get(entry.score)


COLUMNS = ("ms/move", "nodes/move", "nps", "depth", "slowest ms", "late ms", "time losses")


def stats_table(names: Sequence[str], entries: Sequence[GameEntry]) -> list[str]:
    """Returns the lines of the table of both engines' work."""
    width = max(len(name) for name in names)
    lines = [" ".join([f"  {'':{width}}", *(f"{column:>11}" for column in COLUMNS)])]
    for engine, name in enumerate(names, 1):
        f = EngineStats.of(engine, entries)
        cells = [number(f.ms_per_move), number(f.nodes_per_move), number(f.nps), number(f.depth, 1)]
        cells += [str(f.slowest_ms), str(f.late_ms), str(f.time_losses)]
        lines.append(" ".join([f"  {name:{width}}", *(f"{cell:>11}" for cell in cells)]))
    return lines


def number(value: float | None, digits: int = 0) -> str:
    """Returns a number for the table, or a dash."""
    return "-" if value is None else f"{value:,.{digits}f}"
