"""Finished games on their way to a file: the worker compresses them, the driver only appends the bytes.

Compression is most of what a driver would have to do for a game. A block is larger than the same games in a
larger block (`pack_games` merges blocks), so workers that have time send several games together.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from goryu_lab.records.game_records import GameRecord, decode_block, encode_block
from goryu_lab.records.summary import GameSummary
from goryu_lab.work.seam import Result


@dataclass(frozen=True, slots=True)
class GameBlock:
    """A bundle (`goryu_lab.work.seam`) of games.

    numbers: of the tasks. owners: for each game, the number of the task that made it.
    content: a block of a file of games. failures: why tasks made nothing, by their numbers.
    """

    numbers: Sequence[int]
    owners: Sequence[int]
    content: bytes
    summary: GameSummary
    failures: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Sequence[Result]) -> "GameBlock":
        """Returns a block of games, which are the results of tasks."""
        return cls.of_several([(number, [game]) for number, game in results])

    @classmethod
    def of_several(
        cls, results: Sequence[tuple[int, Sequence[GameRecord]]], failures: Mapping[int, str] | None = None
    ) -> "GameBlock":
        """Returns a block of all the games of tasks that make any number of games."""
        failures = failures or {}
        summary = GameSummary(tasks=len(results), failures=list(failures.values()))
        games = [game for _, made in results for game in made]
        for game in games:
            summary.add(game, is_new=True)
        numbers = tuple(number for number, _ in results)
        owners = tuple(number for number, made in results for _ in made)
        return cls(numbers, owners, encode_block(games), summary, failures)

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
        failures = {number: text for number, text in self.failures.items() if number in made}
        return GameBlock.of_several(list(made.items()), failures)

    def results(self) -> Sequence[Result]:
        """Returns the games with the numbers of their tasks."""
        return list(zip(self.owners, decode_block(self.content), strict=True))
