"""How fast and how deep the two engines of a match searched, from its log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goryu_lab.match.game_log import GameEntry
from goryu_lab.match.referee import Reason


@dataclass(frozen=True, slots=True)
class EngineStats:
    """How one engine searched. Means over its moves; None if it never reported the number.

    nps: nodes per second of the time that the referee measured. slowest_ms: its longest answer.
    late_ms: the most by which it exceeded a limit, forgiven or not. Both include answers that lost on time.
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
        """Returns the statistics of engine 1 or 2."""
        moves = [(entry, i) for entry in entries for i in _moves_of(engine, entry)]
        times = [entry.times_ms[i] for entry, i in moves]
        late = [entry.late_ms[i] for entry, i in moves]
        nodes = [(count, entry.times_ms[i]) for entry, i in moves if (count := entry.nodes[i]) is not None]
        depths = [depth for entry, i in moves if (depth := entry.depths[i]) is not None]
        losses = [entry for entry in entries if entry.reason == Reason.TIME and loser(entry) == engine]
        too_late = [entry.too_late_ms for entry in losses if entry.too_late_ms]  # Not among the moves.
        total, total_ms = sum(count for count, _ in nodes), sum(ms for _, ms in nodes)
        return cls(
            moves=len(times),
            ms_per_move=sum(times) / len(times) if times else None,
            nodes_per_move=total / len(nodes) if nodes else None,
            nps=1000 * total / total_ms if total_ms else None,
            depth=sum(depths) / len(depths) if depths else None,
            slowest_ms=max([0, *times, *(elapsed_ms for elapsed_ms, _ in too_late)]),
            late_ms=max([0, *late, *(late_ms for _, late_ms in too_late)]),
            time_losses=len(losses),
        )


def _moves_of(engine: int, entry: GameEntry) -> Iterator[int]:
    """Yields the indices of the moves that engine 1 or 2 played."""
    return (index for index in range(len(entry.moves)) if entry.engine_of_move(index) == engine)


def loser(entry: GameEntry) -> int | None:
    """Returns which engine lost, 1 or 2, or None for a draw."""
    return {0.0: 1, 1.0: 2}.get(entry.score)


COLUMNS = ("ms/move", "nodes/move", "nps", "depth", "slowest ms", "late ms", "time losses")


def stats_table(names: Sequence[str], entries: Sequence[GameEntry]) -> list[str]:
    """Returns the lines of a table with the statistics of both engines."""
    width = max(len(name) for name in names)
    lines = [" ".join([f"  {'':{width}}", *(f"{column:>11}" for column in COLUMNS)])]
    for engine, name in enumerate(names, 1):
        stats = EngineStats.of(engine, entries)
        means = (stats.ms_per_move, stats.nodes_per_move, stats.nps)
        cells = [*map(_number, means), _number(stats.depth, 1)]
        cells += [str(stats.slowest_ms), str(stats.late_ms), str(stats.time_losses)]
        lines.append(" ".join([f"  {name:{width}}", *(f"{cell:>11}" for cell in cells)]))
    return lines


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
