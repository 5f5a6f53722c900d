"""Counts what an archive of games holds: results, endings, lengths, ratings, players."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from goryu.kifu.archives import Candidate
from goryu.kifu.handicaps import handicap_of_sfen


@dataclass(slots=True)
class ArchiveStatistics:
    """Counts of the games that were added.

    kept: games that are kept. reasons: how many games were left out for which reason. damaged: records that
    could not be read. winners: draws and games without a result under None.
    """

    kept: int = 0
    damaged: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    winners: Counter[int | None] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    starts: Counter[str] = field(default_factory=Counter)
    players: Counter[str] = field(default_factory=Counter)
    plies: list[int] = field(default_factory=list)
    ratings: list[float] = field(default_factory=list)

    def add(self, candidate: Candidate) -> None:
        """Counts a game, or why it is left out."""
        game = candidate.game
        if game is None:
            self.damaged += 1
            return
        if candidate.reason:
            reason = candidate.reason
            self.reasons["duplicates" if reason.startswith("the same moves as") else reason] += 1
            return
        self.kept += 1
        self.winners[game.winner] += 1
        self.endings[str(game.ending) or "not recorded"] += 1
        handicap = handicap_of_sfen(game.start)
        self.starts[handicap.english if handicap else "a position"] += 1
        self.players.update(name for name in game.names if name)
        self.plies.append(len(game.plies))
        self.ratings += [rating for rating in game.ratings if rating is not None]

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yields the names and the texts of a table."""
        left_out = sum(self.reasons.values())
        yield "games", f"{self.kept} kept, {left_out} left out, {self.damaged} damaged"
        yield from (("left out", f"{count}: {reason}") for reason, count in self.reasons.most_common(12))
        if not self.kept:
            return
        decided = self.winners[0] + self.winners[1]
        black = f" ({100 * self.winners[0] / decided:.1f} %)" if decided else ""
        rest = self.winners[None]
        yield "results", f"black won {self.winners[0]}{black}, white {self.winners[1]}, no winner {rest}"
        yield "endings", _counts(self.endings)
        yield "moves", f"{sum(self.plies)}; a game: {_quantiles(self.plies)}"
        if self.ratings:
            yield "ratings", _quantiles(self.ratings)
        yield "start", _counts(self.starts)
        if self.players:
            yield "players", f"{len(self.players)}; {_counts(self.players, 5)}"


def _counts(counter: Counter[str], most: int = 12) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common(most))


def _quantiles(numbers: Sequence[float]) -> str:
    """Returns the least, three quartiles and the greatest."""
    ordered = sorted(numbers)
    places = (0, len(ordered) // 4, len(ordered) // 2, 3 * len(ordered) // 4, len(ordered) - 1)
    least, quarter, median, three, greatest = (f"{ordered[place]:g}" for place in places)
    return f"{least} to {greatest}, half of them {quarter} to {three}, median {median}"
