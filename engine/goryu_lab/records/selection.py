"""Chooses the games to learn from: by rating, length, ending, and without duplicates.

The idea is that of filter_csa in 山岡忠夫『将棋AIで学ぶディープラーニング』(2018).
"""

import hashlib
import pickle
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from goryu.base.config_fields import check_ranges, option, ranged
from goryu.base.errors import InputError
from goryu.games.shogi import START_SFEN
from goryu.kifu.archives import Candidate
from goryu.kifu.record import Ending, GameRecord

DEFAULT_ENDINGS = (Ending.RESIGNATION, Ending.CHECKMATE, Ending.DECLARATION)
DRAWS = (Ending.REPETITION, Ending.IMPASSE, Ending.MAX_PLIES, Ending.DRAW)
"""The endings without a winner that are a result."""

DATES = ("開始日時", "対局日")
"""The headers that tell when a game was played."""


@dataclass(frozen=True, slots=True)
class GameFilter:
    """Which games to keep; the help of an option of `goryu records` is the help of its field.

    endings: those that are kept. needs_result: leave out games that neither side has won nor drawn?
    """

    min_rating: float = ranged(
        0.0, "least rating of both players; games without ratings are then left out", least=0
    )
    min_plies: int = ranged(0, "least number of moves", least=0)
    max_plies: int = ranged(10_000, "greatest number of moves", least=0)
    handicaps: bool = option(False, "keep games that do not begin in the usual position")
    player: str = option("", "keep games of players whose name contains this text")
    endings: tuple[Ending, ...] = DEFAULT_ENDINGS
    needs_result: bool = True

    def __post_init__(self) -> None:
        """Raises InputError for numbers that leave no game."""
        check_ranges(self)
        if self.min_plies > self.max_plies:
            raise InputError(
                f"plies: expected 0 <= MIN <= MAX, received {self.min_plies} and {self.max_plies}"
            )

    def __str__(self) -> str:
        """Returns the endings, and what else differs from the defaults, as on the command line.

        >>> str(GameFilter(min_rating=2500.0, endings=(Ending.RESIGNATION,)))
        'ending resignation, min-rating 2500'
        """
        texts = [f"ending {ending}" for ending in self.endings]
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name != "endings" and value != one.default:
                name = one.name.replace("_", "-")
                texts.append(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}")
        return ", ".join(texts)

    def reason_against(self, game: GameRecord) -> str:
        """Returns why a game is left out, or an empty text."""
        plies = len(game.plies)
        if game.ending not in self.endings:
            return f"ended by {game.ending or 'nothing that is recorded'}"
        if self.needs_result and game.winner is None and game.ending not in DRAWS:
            return "the winner is not recorded"
        if not self.handicaps and game.start != START_SFEN:
            return "another start position"
        if plies < self.min_plies:
            return f"fewer than {self.min_plies} moves"
        if plies > self.max_plies:
            return f"more than {self.max_plies} moves"
        if self.player and not any(self.player in name for name in game.names):
            return f"no player with {self.player!r} in the name"
        black, white = game.ratings
        if self.min_rating > 0 and (black is None or white is None):
            return "without both ratings"
        if min(black or 0.0, white or 0.0) < self.min_rating:
            return f"a rating below {self.min_rating:g}"
        return ""


def select(
    candidates: Iterable[Candidate], game_filter: GameFilter, *, keep_duplicates: bool = False
) -> Iterator[Candidate]:
    """Yields all candidates, those that are left out with the reason.

    Two games with the same start and the same moves are duplicates, whoever played them. The record that
    knows most is kept; of equals, the first. So a record that lacks something waits, packed, until all others
    are read: it comes at the end.
    """
    duplicates = _Duplicates()
    for candidate in candidates:
        if candidate.game is None or candidate.reason:
            yield candidate
        elif reason := game_filter.reason_against(candidate.game):
            yield Candidate(candidate.name, candidate.game, reason)
        elif keep_duplicates:
            yield candidate
        else:
            yield from duplicates.add(candidate, candidate.game)
    yield from duplicates.rest()


class _Duplicates:
    """Finds among records of the same game the one that knows most."""

    def __init__(self) -> None:
        self._best: dict[bytes, tuple[Knowledge, str]] = {}
        self._waiting: dict[bytes, bytes] = {}

    def add(self, candidate: Candidate, game: GameRecord) -> Iterator[Candidate]:
        """Takes a candidate and its game; yields what is decided by it."""
        key, known = game_hash(game), knowledge(game)
        best, name = self._best.get(key, (None, ""))
        if best is not None and known <= best:
            yield Candidate(candidate.name, game, f"the same moves as {name}")
            return
        self._best[key] = (known, candidate.name)
        if best is not None:
            earlier = _unpacked(self._waiting.pop(key))
            yield Candidate(earlier.name, earlier.game, f"the same moves as {candidate.name}")
        if known == EVERYTHING:
            yield candidate
        else:
            self._waiting[key] = zlib.compress(pickle.dumps(candidate), 1)

    def rest(self) -> Iterator[Candidate]:
        """Yields the records for which no better one came, in the order of their games."""
        yield from map(_unpacked, self._waiting.values())


def _unpacked(data: bytes) -> Candidate:
    candidate: Candidate = pickle.loads(zlib.decompress(data))
    return candidate


Knowledge = tuple[bool, int, bool]
"""Is the result known, how many names are, and is the date? A greater tuple knows more."""

EVERYTHING: Knowledge = (True, 2, True)


def knowledge(game: GameRecord) -> Knowledge:
    """Returns how much a record tells about its game besides the moves."""
    has_result = game.winner is not None or game.ending in DRAWS
    return has_result, sum(map(bool, game.names)), any(game.headers.get(name) for name in DATES)


def game_hash(game: GameRecord) -> bytes:
    """Returns 16 bytes that identify the start and the moves of a game."""
    return hashlib.blake2b(" ".join([game.start, *game.moves]).encode(), digest_size=16).digest()
