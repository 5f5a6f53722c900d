"""What makes an answer right."""

from typing import Any, cast

import pytest

from goryu.analysis.judgement import MoveClass
from goryu.analysis.review import PlyReview
from goryu_page.dojo.answering import judge_answer
from goryu_page.dojo.move_judge import MoveJudge
from goryu_page.dojo.problems import Problem, ProblemKind, ProblemState

CONTENT = {"answers": [{"move": "2h2f", "accepted": True}, {"move": "9g9f", "accepted": False}]}


def judged(move: str, loss: float, kind: ProblemKind = ProblemKind.MISTAKE) -> Any:
    """The answer to a problem whose best move is 2h2f, by a search that finds this loss."""

    class Judge:
        def judge(self, *_: Any) -> PlyReview:
            rates = (0.6, 0.6 - loss, loss)
            return PlyReview(
                1, 0, move, *rates, MoveClass.GOOD, "2h2f", (), ("3c3d",), 0.1, 9, 3, None, None, True
            )  # fmt: skip

    problem = Problem(1, None, None, kind, "", (), "9g9f", ProblemState.SOUND, 1, CONTENT)
    return judge_answer(problem, move, lambda: cast(MoveJudge, Judge()), 0.10, lambda: False)


@pytest.mark.parametrize(
    ("move", "loss", "kind", "is_right"),
    [
        ("2h2f", 0.9, ProblemKind.MISTAKE, True),  # The check knew better than a short search.
        ("7g7f", 0.04, ProblemKind.MISTAKE, True),  # In no list, and as good.
        ("9g9f", 0.04, ProblemKind.MISTAKE, True),  # A list calls it wrong; that forbids nothing.
        ("9g9f", 0.105, ProblemKind.MISTAKE, True),  # Within the error of the search.
        ("9g9f", 0.30, ProblemKind.MISTAKE, False),
        ("2h2f", 0.30, ProblemKind.IMPORTED, True),  # The file accepts it.
        ("7g7f", 0.30, ProblemKind.IMPORTED, False),
    ],
)
def test_an_answer_is_right_unless_the_search_is_sure_that_it_is_bad(
    move: str, loss: float, kind: ProblemKind, is_right: bool
) -> None:
    answer = judged(move, loss, kind)
    assert answer.is_right is is_right
    assert (answer.review is None) is (move == "2h2f" and kind is ProblemKind.MISTAKE)
