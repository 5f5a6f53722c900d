"""A job that returns games without playing them: it shows what the driver of a large cluster has to do."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle, islice
from pathlib import Path

from goryu_lab.records.game_block import GameBlock
from goryu_lab.records.game_records import GameRecord, read_games
from goryu_lab.work.seam import Bundle, Inbox, Job, Result, Results


@dataclass(frozen=True, slots=True)
class PretendedGames(Job):
    """Returns games of a file, one every `seconds`, without playing them.

    is_bundled: compressed by the worker. The numbers in the block are then wrong, and its bytes always the
    same: to compress each one would take this computer the time that is measured.
    """

    games_file: Path
    seconds: float
    is_bundled: bool
    at_once: int = 32

    @property
    def files(self) -> Sequence[Path]:
        return [self.games_file]

    def prepared(self, place: Callable[[Path], Path]) -> "PretendedGames":
        return replace(self, games_file=place(self.games_file))

    def work(self, inbox: Inbox) -> Iterator[Result]:
        games = sample(self.games_file)
        next_s = time.monotonic() + self.seconds
        while (task := inbox.take(wait=True)) is not None:
            time.sleep(max(0.0, next_s - time.monotonic()))
            next_s = max(next_s + self.seconds, time.monotonic() - 1.0)
            yield task[0], games[task[0] % len(games)]

    def bundled(self, results: Sequence[Result]) -> Bundle:
        if not self.is_bundled:
            return Results(results)
        block = sample_block(self.games_file, results[0][0] // 10, len(results))
        numbers = [number for number, _ in results]
        return replace(block, numbers=numbers, owners=numbers)


@cache
def sample(path: Path) -> list[GameRecord]:
    """Returns games of a file."""
    return list(islice(read_games(path), 100))


@cache
def sample_block(path: Path, start: int, size: int) -> GameBlock:
    """Returns a block of games of a file; different starts give different games."""
    first = 10 * (start % 10)
    return GameBlock.of(list(islice(cycle(enumerate(sample(path))), first, first + size)))
