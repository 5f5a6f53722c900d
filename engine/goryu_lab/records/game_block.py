"""Finished games on their way to a file: the worker compresses them, the driver only appends the bytes.

Compression is most of what a driver would have to do for a game. A block is larger than the same games in a
larger block (`pack_games` merges blocks), so workers that have time send several games together.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from goryu_lab.records.game_records import GameRecord, decode_block, encode_block
from goryu_lab.records.summary import GameSummary
from goryu_lab.work.seam import Result


@dataclass(frozen=True, slots=True)
class GameBlock:
    """A bundle (`goryu_lab.work.seam`) of games.

    numbers: of the tasks. owners: for each game, the number of the task that made it.
    content: a block of a file of games.
    """

    numbers: Sequence[int]
    owners: Sequence[int]
    content: bytes
    summary: GameSummary

    @classmethod
    def of(cls, results: Sequence[Result]) -> "GameBlock":
        """Returns a block of games, which are the results of tasks."""
        return cls.of_several([(number, [game]) for number, game in results])

    @classmethod
    def of_several(cls, results: Sequence[tuple[int, Sequence[GameRecord]]]) -> "GameBlock":
        """Returns a block of all the games of tasks that make any number of games."""
        summary = GameSummary(tasks=len(results))
        games = [game for _, made in results for game in made]
        for game in games:
            summary.add(game, is_new=True)
        numbers = tuple(number for number, _ in results)
        owners = tuple(number for number, made in results for _ in made)
        return cls(numbers, owners, encode_block(games), summary)

    @property
    def positions(self) -> int:
        """How many positions for training the games have."""
        return self.summary.positions

    def only(self, numbers: Collection[int]) -> "GameBlock":
        """Returns a block of the games of some of the tasks."""
        made: dict[int, list[GameRecord]] = {number: [] for number in self.numbers if number in numbers}
        for number, game in self.results():
            if number in made:
                made[number].append(game)
        return GameBlock.of_several(list(made.items()))

    def results(self) -> Sequence[Result]:
        """Returns the games with the numbers of their tasks."""
        return list(zip(self.owners, decode_block(self.content), strict=True))
