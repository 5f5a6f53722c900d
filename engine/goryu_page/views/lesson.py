"""The teaching game: what is known of the person's moves, and the question that waits for an answer."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Self

from goryu.analysis.description import ply_json
from goryu.analysis.review import PlyReview
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.implementation import Board
from goryu_page.session.messages import Message, MessageError
from goryu_page.session.messages import field as field_of

THRESHOLDS = (0.05, 0.10, 0.15, 0.20, 0.30)
"""How much win rate a move may lose before the page asks."""

MOST_MOVES = 4000
"""Judged moves that a page may bring back, those that were taken back included."""


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
    name: str
    ja: str
    en: str
    loss: float
    fate: Fate


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

    def ask(self, before: Board, judged: PlyReview, texts: dict[str, str]) -> None:
        """Asks about the last move. before: the position before it. texts: its names."""
        self.is_due = False
        self.question = {**ply_json(before, judged), **texts, "before": before.sfen()}

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
    def from_message(cls, message: Message) -> Self | None:
        """Returns the lesson of a message "play.new": {threshold, moves, isDue}, or None if it has none.

        Raises MessageError if it has another form.
        """
        value = message.get("lesson")
        if value is None:
            return None
        if not isinstance(value, dict):
            raise MessageError(f"play.new: lesson is {str(value)[:40]!r}, expected a threshold and moves")
        threshold = field_of(value, "threshold", float)
        if threshold not in THRESHOLDS:
            raise MessageError(f"play.new: threshold is {threshold}, expected one of {THRESHOLDS}")
        moves = field_of(value, "moves", list, [])
        if len(moves) > MOST_MOVES:
            raise MessageError(f"play.new: lesson: expected at most {MOST_MOVES} moves")
        return cls(threshold, [_judged_move(move) for move in moves], field_of(value, "isDue", bool, False))


def _judged_move(value: Any) -> JudgedMove:
    if not isinstance(value, dict) or value.get("fate") not in list(Fate):
        raise MessageError(f"play.new: lesson: {str(value)[:80]!r} is not a judged move")
    name, japanese, english = (field_of(value, key, str)[:40] for key in ("name", "ja", "en"))
    loss = field_of(value, "loss", float)
    if not 0 <= loss <= 1:
        raise MessageError(f"play.new: lesson: loss is {loss}, expected a number from 0 to 1")
    return JudgedMove(field_of(value, "ply", int), name, japanese, english, loss, Fate(value["fate"]))
