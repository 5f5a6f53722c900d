"""When lost games were decided, and when each engine knew it, from the scores that the engines reported."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from goryu.match.engine_stats import loser
from goryu.match.game_log import GameEntry

CLEAR_CP = 300
"""From this score on a game is clearly won or lost."""


@dataclass(frozen=True, slots=True)
class LostGames:
    """The games that one engine lost. Plies count from the start of the game, opening included.

    The other fields are medians over these games, None if no game has the number.
    winner_knew, loser_knew: the ply from which on the engine's own score always showed the winner ahead by
        `CLEAR_CP` centipawns or more.
    fall_cp: the greatest fall of the loser's score from one of its moves to the next; fall_ply: its ply.

    A loser that knows much later than the winner evaluates positions wrongly. A great fall is a move that it
    did not foresee.
    """

    games: int
    winner_knew: float | None
    loser_knew: float | None
    fall_cp: float | None
    fall_ply: float | None

    @classmethod
    def of(cls, engine: int, entries: Sequence[GameEntry]) -> "LostGames":
        """Returns the statistics of the games that engine 1 or 2 lost."""
        lost = [entry for entry in entries if loser(entry) == engine]
        falls = [fall for entry in lost if (fall := _greatest_fall(_scores(entry, engine))) is not None]
        return cls(
            games=len(lost),
            winner_knew=_median([_knew(_scores(entry, 3 - engine), 1) for entry in lost]),
            loser_knew=_median([_knew(_scores(entry, engine), -1) for entry in lost]),
            fall_cp=_median([fall for fall, _ in falls]),
            fall_ply=_median([ply for _, ply in falls]),
        )

    def text(self, names: Sequence[str]) -> str:
        """Returns one line; names: the loser's and the winner's."""
        if self.winner_knew is None or self.loser_knew is None:
            return f"{names[0]} lost {self.games}; too few games have scores of both engines to show when"
        fall = "" if self.fall_cp is None else f", greatest fall {self.fall_cp:.0f} cp at {self.fall_ply:.0f}"
        return (
            f"{names[0]} lost {self.games}: {names[1]} knew at ply {self.winner_knew:.0f}, {names[0]} at "
            f"{self.loser_knew:.0f}{fall} (medians)"
        )


def _scores(entry: GameEntry, engine: int) -> list[tuple[int, int]]:
    """Returns ply and score in centipawns of the moves of an engine for which it reported a score."""
    opening = entry.plies - len(entry.moves)
    return [
        (opening + index + 1, cp)
        for index, cp in enumerate(entry.cps)
        if cp is not None and entry.engine_of_move(index) == engine
    ]


def _knew(scores: Sequence[tuple[int, int]], sign: int) -> int | None:
    """Returns the first ply from which on all scores are clear, or None."""
    known = None
    for ply, cp in reversed(scores):
        if sign * cp < CLEAR_CP:
            break
        known = ply
    return known


def _greatest_fall(scores: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Returns the greatest fall from a score that was not yet clear, and the ply of the lower score."""
    falls = [
        (before - after, ply)
        for (_, before), (ply, after) in pairwise(scores)
        if before > -CLEAR_CP and after < before
    ]
    return max(falls, default=None)


def _median(numbers: Sequence[int | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return median(known) if known else None
