"""The match that decides whether a candidate becomes champion, by a sequential test.

The pairs of games come from many computers in any order, and count in the order of their numbers, so that a
verdict does not depend on which computers are fast.

The test of `goryu_lab.match.sprt` accepts elo1 (promoted) or elo0 (not). A match that reaches its limit
without a verdict is decided by the sign of the log-likelihood ratio: the candidate is promoted if its result
is likelier at elo1 than at elo0. With 0 and 50 that takes some 25 Elo.
"""

from dataclasses import dataclass
from typing import Literal

from goryu.base.config_fields import check_ranges, option, ranged
from goryu.base.errors import InputError
from goryu_lab.match.match_statistics import MatchStatistics
from goryu_lab.match.sprt import SequentialTest, Sprt

Points = tuple[float, float]
"""The candidate's points in the two games of a pair."""


@dataclass(frozen=True, slots=True)
class GateConfig:
    """The test and the most games of a match.

    Elo is logistic, the usual kind. Normalised Elo, which `goryu match` prefers, learns nothing from drawn
    games, and good players of tic-tac-toe draw every game.
    """

    elo0: float = option(0.0, "Elo difference at which the sequential test rejects a candidate")
    elo1: float = option(50.0, "Elo difference at which the sequential test promotes a candidate")
    match_limit: int = ranged(200, "most games of a match; 0: always promote", least=0)

    def __post_init__(self) -> None:
        """Raises InputError or SprtError for impossible numbers."""
        check_ranges(self)
        if self.match_limit % 2:
            raise InputError(f"match_limit: expected an even number or 0, received {self.match_limit}")
        assert self.sprt.bounds

    @property
    def sprt(self) -> Sprt:
        """The sequential test."""
        return Sprt(self.elo0, self.elo1, elo_kind="logistic")

    @property
    def pairs(self) -> int:
        """The most pairs of games."""
        return self.match_limit // 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a match ended. statistics: of the pairs that counted, from the candidate's side."""

    is_promoted: bool
    by: Literal["sprt", "limit"]
    statistics: MatchStatistics
    llr: float


class Gate:
    """A match in progress of a candidate against the champion, both by number.

    verdict: None while the match must go on. test: of the pairs that have counted.
    """

    def __init__(self, config: GateConfig, candidate: int, champion: int) -> None:
        self.candidate = candidate
        self.champion = champion
        self.verdict: Verdict | None = None
        self.test = SequentialTest(config.sprt)
        self._config = config
        self._points: dict[int, Points] = {}
        self._given: set[int] = set()

    @property
    def played(self) -> int:
        """The pairs that have been played."""
        return len(self._points)

    def next_pair(self) -> int | None:
        """Returns the number of a pair that nobody plays yet, and notes it as given; None: all are given."""
        if self.verdict is not None:
            return None
        for number in range(self._config.pairs):
            if number not in self._given:
                self._given.add(number)
                return number
        return None

    def add(self, number: int, points: Points) -> bool:
        """Adds the result of a pair; returns False, and does nothing, if it was known or comes too late."""
        if number in self._points or self.verdict is not None:
            return False
        self._given.add(number)
        self._points[number] = points
        test = self.test
        while test.verdict is None and (pair := test.statistics.pairs) < self._config.pairs:
            if pair not in self._points:
                return True
            test.add(self._points[pair])
        if test.verdict is not None:
            self.verdict = Verdict(test.verdict == "elo1", "sprt", test.statistics, test.llr)
        else:
            self.verdict = Verdict(test.llr > 0.0, "limit", test.statistics, test.llr)
        return True
