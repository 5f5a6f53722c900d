"""Finished games on their way to a file: the worker compresses them, the driver only appends the bytes.

Compression is most of what a driver would have to do for a game. A block is larger than the same games in a
larger block (`pack_games` merges blocks), so workers that have time send several games together.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from goryu.learning.records.game_records import GameRecord, decode_block, encode_block
from goryu.learning.records.summary import GameSummary
from goryu.work.seam import Result


@dataclass(frozen=True, slots=True)
class GameBlock:
    """A bundle (`goryu.work.seam`) of games. numbers: of their tasks. content: a block of a file of games."""

    numbers: Sequence[int]
    content: bytes
    summary: GameSummary

    @classmethod
    def of(cls, results: Sequence[Result]) -> "GameBlock":
        """Returns a block of games, which are the results of tasks."""
        summary = GameSummary()
        games: list[GameRecord] = [game for _, game in results]
        for game in games:
            summary.add(game, is_new=True)
        return cls(tuple(number for number, _ in results), encode_block(games), summary)

    @property
    def positions(self) -> int:
        """How many positions for training the games have."""
        return self.summary.positions

    def only(self, numbers: Collection[int]) -> "GameBlock":
        """Returns a block of some of the games."""
        return GameBlock.of([result for result in self.results() if result[0] in numbers])

    def results(self) -> Sequence[Result]:
        """Returns the games."""
        return list(zip(self.numbers, decode_block(self.content), strict=True))
