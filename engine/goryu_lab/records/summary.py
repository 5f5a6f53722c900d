"""Counts the games of a file: how many, how they ended, and how many positions they have for training."""

from collections import Counter
from dataclasses import dataclass, field

from goryu_lab.records.game_records import GameRecord


@dataclass(slots=True)
class GameSummary:
    """Counts of the games of one teacher or of one run.

    positions: those for training. new_positions: those added since the run was started.
    soft: positions with a policy target. results: draws, wins of Black, wins of White.
    endings: how many games ended in which way. tasks: the tasks of a run that are done, if it counts them; a
        task may make several records.
    failures: why tasks of the run made nothing. failed_in_a_row: such tasks since the last one that made a
        game.
    """

    games: int = 0
    positions: int = 0
    new_positions: int = 0
    soft: int = 0
    results: list[int] = field(default_factory=lambda: [0, 0, 0])
    endings: Counter[str] = field(default_factory=Counter)
    tasks: int = 0
    failures: list[str] = field(default_factory=list)
    failed_in_a_row: int = 0

    def add(self, game: GameRecord, *, is_new: bool) -> None:
        """Counts a game."""
        positions = sum(score is not None for score in game.evals)
        self.games += 1
        self.positions += positions
        self.new_positions += positions if is_new else 0
        self.soft += sum(policy is not None for policy in game.policies or ())
        self.results[game.result] += 1
        self.endings[game.ending] += 1

    def join(self, other: "GameSummary") -> None:
        """Adds the counts of other games."""
        self.games += other.games
        self.positions += other.positions
        self.new_positions += other.new_positions
        self.soft += other.soft
        self.results = [ours + theirs for ours, theirs in zip(self.results, other.results, strict=True)]
        self.endings.update(other.endings)
        self.tasks += other.tasks
        self.failures += other.failures
        self.failed_in_a_row = 0 if other.games else self.failed_in_a_row + len(other.failures)

    def __str__(self) -> str:
        draws, black, white = self.results
        endings = ", ".join(
            f"{number} {ending or 'unknown ending'}" for ending, number in self.endings.most_common()
        )
        return (
            f"{self.games} games, {self.positions} positions, {self.soft} with soft targets; "
            f"{draws} drawn, Black won {black}, White won {white}; {endings}"
        )
