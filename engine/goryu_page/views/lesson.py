"""The teaching game: what is known of the person's moves, and the question that waits for an answer."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import Meta, Struct

from goryu.analysis.description import ply_json
from goryu.analysis.review import PlyReview
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.implementation import Board
from goryu_page.session.messages import MessageError

THRESHOLDS = (0.05, 0.10, 0.15, 0.20, 0.30)
"""How much win rate a move may lose before the page asks."""

MOST_MOVES = 4000
"""Judged moves that a page may bring back, those that were taken back included."""


Name = Annotated[str, Meta(max_length=40)]


class Fate(StrEnum):
    """What became of a move."""

    FINE = "fine"  # It lost less than the threshold.
    KEPT = "kept"
    TAKEN_BACK = "taken back"


@dataclass(slots=True)
class JudgedMove:
    """A move of the person.

    ply: 1 for the first move of the game. name: USI. ja, en: as people write it.
    loss: of win rate, in [0, 1].
    """

    ply: int
    name: Name
    ja: Name
    en: Name
    loss: Annotated[float, Meta(ge=0, le=1)]
    fate: Fate


class KeptLesson(Struct, frozen=True, rename="camel"):
    """The lesson of a game that the page begins or brings back; see `Lesson`."""

    threshold: float
    moves: Annotated[list[JudgedMove], Meta(max_length=MOST_MOVES)] = []
    is_due: bool = False


@dataclass(slots=True)
class Lesson:
    """The state of a teaching game.

    threshold: the least loss at which the page asks. moves: in the order in which they were played.
    is_due: must the last move of the game be judged before the opponent answers?
    question: while the person must choose, the last move as `ply_json` describes it, with its names.
    """

    threshold: float
    moves: list[JudgedMove] = field(default_factory=list)
    is_due: bool = False
    question: dict[str, Any] | None = None

    @property
    def is_waiting(self) -> bool:
        """Must the opponent wait?"""
        return self.is_due or self.question is not None

    def ask(
        self, before: Board, judged: PlyReview, texts: dict[str, str], reason: dict[str, str] | None
    ) -> None:
        """Asks about the last move.

        before: the position before it. texts: its names. reason: what `told_reason` returns.
        """
        self.is_due = False
        self.question = {**ply_json(before, judged), **texts, "reason": reason, "before": before.sfen()}

    def accept(self, ply: int, texts: dict[str, str], loss: float, fate: Fate) -> None:
        """Notes the last move, about which nothing is asked any more."""
        self.is_due, self.question = False, None
        self.moves.append(JudgedMove(ply, **texts, loss=round(loss, 4), fate=fate))

    def keep(self) -> None:
        """Goes on with the move about which the page asks; raises InputError if it asks about none."""
        asked = self.question
        if asked is None:
            raise InputError(tr("nothing is asked about the last move"))
        names = {name: asked[name] for name in ("name", "ja", "en")}
        self.accept(asked["ply"], names, asked["loss"], Fate.KEPT)

    def taken_back(self, ply: int) -> None:
        """Notes that the moves from `ply` on were taken back."""
        if self.question is not None:
            self.keep()
        self.is_due = False
        self.moves = [one for one in self.moves if one.ply < ply or one.fate is not Fate.FINE]
        for one in self.moves:
            if one.ply >= ply:
                one.fate = Fate.TAKEN_BACK

    def to_json(self) -> dict[str, Any]:
        """Returns the state for the page."""
        moves = [asdict(one) for one in self.moves]
        return {
            "threshold": self.threshold,
            "moves": moves,
            "isJudging": self.is_due,
            "question": self.question,
        }

    @classmethod
    def kept(cls, kept: KeptLesson) -> Self:
        """Returns the lesson that a page has kept; raises MessageError for another threshold than those."""
        if kept.threshold not in THRESHOLDS:
            raise MessageError(f"lesson.threshold: expected one of {THRESHOLDS}, received {kept.threshold}")
        return cls(kept.threshold, kept.moves, kept.is_due)
