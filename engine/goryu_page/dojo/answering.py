"""Judges answers: whatever the search finds to be good enough is right, also if no list has it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from goryu.analysis.review import PlyReview
from goryu_page.dojo.move_judge import MoveJudge, loses
from goryu_page.dojo.problems import Problem, ProblemKind

PLAYOUTS = 800
"""For each position of a judgement, by default."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The judgement of an answer.

    is_right: see `judge_answer`. review: of the search; None if the check of the problem knew the move.
    is_listed: is the move an answer of the check, or of the file that the problem came from?
    """

    move: str
    is_right: bool
    is_listed: bool
    review: PlyReview | None


def judge_answer(
    problem: Problem,
    move: str,
    judge: Callable[[], MoveJudge],
    threshold: float,
    should_stop: Callable[[], bool],
    playouts: int = PLAYOUTS,
) -> Answer | None:
    """Returns the judgement of a legal move; None if `should_stop` ended it.

    An answer that the check has found is right at once. Any other move is right unless the search finds that
    it loses the threshold against the best move, with a margin for the error of few playouts; so is a move
    that the file of an imported problem accepts. In an opening only the moves of the user's repertoire are
    right.
    """
    is_listed = any(one["move"] == move and one["accepted"] for one in problem.content["answers"])
    if is_listed and problem.kind is not ProblemKind.IMPORTED:
        return Answer(move, True, True, None)
    review = judge().judge(problem.start, problem.moves, move, playouts, should_stop)
    if review is None:
        return None
    is_good = problem.kind is not ProblemKind.OPENING and not loses(review, threshold, playouts)
    return Answer(move, is_listed or is_good, is_listed, review)


def following(problem: Problem, answer: Answer) -> Sequence[str]:
    """Returns the moves that should follow an answer: of the check if that knew it, else of the search."""
    if answer.review is not None:
        return answer.review.refutation
    return next(one["line"][1:] for one in problem.content["answers"] if one["move"] == answer.move)


def hint_move(problem: Problem) -> str:
    """Returns the best move of a problem that asks for one move."""
    return str(problem.content["answers"][0]["move"])
