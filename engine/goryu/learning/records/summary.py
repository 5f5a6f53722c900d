"""What a file of games holds, counted game by game."""

from collections import Counter
from dataclasses import dataclass, field

from goryu.learning.records.game_records import GameRecord

__all__ = ["GameTally"]


@dataclass(slots=True)
class GameTally:
    """What a file holds of one teacher or of one run.

    positions: those for training. results: draws, wins of black, wins of white. endings: how many games ended
    in which way. new_positions: since the run was started.
    """

    games: int = 0
    positions: int = 0
    new_positions: int = 0
    results: list[int] = field(default_factory=lambda: [0, 0, 0])
    endings: Counter[str] = field(default_factory=Counter)

    def add(self, game: GameRecord, *, is_new: bool) -> None:
        """Counts a game."""
        positions = sum(score is not None for score in game.evals)
        self.games += 1
        self.positions += positions
        self.new_positions += positions if is_new else 0
        self.results[game.result] += 1
        self.endings[game.ending] += 1
