"""What the page is told of a problem before and after the answer, as JSON's types."""

from collections.abc import Sequence
from typing import Any

from goryu.analysis.description import board_after, named_line, shown_position
from goryu.analysis.review import PlyReview
from goryu.implementation import Board
from goryu.kifu.handicaps import has_handicap
from goryu_page.dojo.answering import Answer
from goryu_page.dojo.problems import Problem, ProblemKind
from goryu_page.dojo.schedule import Attempt, Day
from goryu_page.reasons.sentences import told_reason
from goryu_page.tsume.solution import problem_board

Json = dict[str, Any]


def board_of(problem: Problem) -> Board:
    """Returns the position in which a problem asks for a move."""
    if problem.kind is ProblemKind.TSUME and not problem.moves:
        return problem_board(problem.start)
    return board_after(problem.start, problem.moves)


def board_after_move(board: Board, move: str) -> Board:
    """Returns a copy of a board after a legal move."""
    after = board.copy()
    after.push_usi(move)
    return after


def problem_json(problem: Problem, mode: str) -> Json:
    """Returns what is shown before the answer. mode: of `train.next`."""
    board = board_of(problem)
    source = problem.content.get("source", {})
    return {
        **{name: getattr(problem, name) for name in ("id", "kind", "game", "ply", "start")},
        "mode": mode,
        "moves": list(problem.moves),
        "lastMove": problem.moves[-1] if problem.moves else None,
        "length": problem.content.get("length"),
        "names": source.get("names"),
        "date": source.get("date"),
        "title": problem.content.get("title"),
        "allowsMate": problem.content.get("allows_mate"),
        "turn": board.turn,
        "isHandicap": has_handicap(problem.start),
        **shown_position(board),
    }


def solution_json(
    problem: Problem, past: Sequence[Attempt], judged: PlyReview | None, me: Sequence[str]
) -> Json:
    """Returns what may be told after the first answer.

    past: the attempts before it, the newest first. judged: the move of the game in its review, if any.
    me: the names of the user.
    """
    board = board_of(problem)
    content = problem.content
    lines = [(content["line"], None)] if problem.kind is ProblemKind.TSUME else []
    lines += [(one["line"], one["win_rate"]) for one in content.get("answers", []) if one["accepted"]]
    last = past[0] if past else None
    return {
        "solutions": [{"line": named_line(board, line), "winRate": rate} for line, rate in lines],
        "played": _played(problem, board, judged, me),
        "before": last
        and {
            "at": last.at.isoformat(),
            "isRight": last.is_right,
            "move": named_line(board, [last.move]) if last.move else None,
        },
    }


def answer_json(problem: Problem, answer: Answer) -> Json:
    """Returns what is told of an answer."""
    told = judged_json(board_of(problem), answer.move, answer.is_right, answer.review)
    return told | {"isListed": answer.is_listed}


def judged_json(board: Board, move: str, is_right: bool, review: PlyReview | None) -> Json:
    """Returns what is told of a move: its name, its loss, and the line that punishes it."""
    return {
        "isRight": is_right,
        "move": named_line(board, [move]),
        "loss": round(review.loss, 4) if review else None,
        "winRate": round(review.played_win_rate, 4) if review else None,
        "allowsMate": review.allows_mate if review else None,
        "refutation": named_line(board_after_move(board, move), review.refutation if review else ()),
        "reason": told_reason(board, review) if review and not is_right else None,
    }


def _played(problem: Problem, board: Board, judged: PlyReview | None, me: Sequence[str]) -> Json | None:
    """Returns the move of the game, what it lost and why, and the line that punishes it."""
    if not problem.played:
        return None
    answers, names = problem.content.get("answers", []), problem.content.get("source", {}).get("names")
    known = next((one for one in answers if one["move"] == problem.played), None)
    loss = problem.content.get("loss")
    if known and None not in (known["win_rate"], answers[0]["win_rate"]):
        loss = max(0.0, answers[0]["win_rate"] - known["win_rate"])
    refutation = known["line"][1:] if known else []
    return {
        "move": named_line(board, [problem.played]),
        "isMine": bool(names) and names[board.turn] in me,
        "isAnswer": bool(known and known["accepted"]),
        "loss": loss,
        "refutation": named_line(board_after_move(board, problem.played), refutation),
        "reason": told_reason(board, judged) if judged else None,
    }


def day_json(day: Day) -> Json:
    """Returns what is left of the list of the day, and what was done."""
    return {
        "left": len(day.problems),
        "done": day.done,
        "right": day.right,
        "seconds": day.seconds,
        "tomorrow": day.due_tomorrow,
    }
