"""The judgement of single moves: known moves, what is kept of them, and how the searches are stopped."""

from pathlib import Path

import pytest

from goryu.analysis.judgement import MoveClass
from goryu.analysis.position_analysis import PositionAnalysis
from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.store import AnalysisStore
from goryu.base.errors import GoryuError
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from goryu.players.set_up.model_path import read_model_options
from goryu.usi.option_values import OptionValues
from goryu_page.dojo.move_judge import MoveJudge, Verdict, loses, verdict_of
from present import present
from sample_games import ROOK_HANGS

BEFORE = ROOK_HANGS[:10]

MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"

PLAYOUTS = 60

QUICK = EngineConfig(EvaluatorConfig("hashed", threads=1))


@pytest.fixture(scope="module")
def judge() -> MoveJudge:
    """A judge with goryu-5x64 and its options."""
    options = OptionValues()
    options.set_model_options(*read_model_options(options.config.evaluator))
    return MoveJudge(load_evaluator(options.config.evaluator, print), options.config)


def quick_judge(store: AnalysisStore | None = None) -> MoveJudge:
    """A judge whose evaluations are reproducible noise."""
    return MoveJudge(load_evaluator(QUICK.evaluator, print), QUICK, store)


def test_a_rook_left_to_be_taken_loses_and_its_capture_refutes_it(judge: MoveJudge) -> None:
    judged = present(judge.judge("", BEFORE, "2d8d", PLAYOUTS))
    assert (judged.kind, judged.turn, judged.ply) == (MoveClass.BLUNDER, 0, len(BEFORE) + 1)
    assert judged.refutation[0] == "8b8d"
    assert judged.better_line[0] == judged.best
    assert judged.is_compared
    assert loses(judged, 0.3, PLAYOUTS)
    assert not loses(judged, judged.loss, PLAYOUTS)  # The margin of error.


def test_a_guess_is_right_as_good_or_worse(judge: MoveJudge) -> None:
    verdicts = {}
    for move in ("2d2h", "2d2f", "2d8d"):
        judged = present(judge.judge("", BEFORE, move, PLAYOUTS))
        verdicts[move] = verdict_of(judged, "2d2h", PLAYOUTS)
    assert verdicts == {"2d2h": Verdict.RIGHT, "2d2f": Verdict.AS_GOOD, "2d8d": Verdict.WORSE}


def test_mates_need_no_playouts_and_nothing_follows_a_mate(judge: MoveJudge) -> None:
    judged = present(judge.judge(MATE_IN_ONE, [], "G*5b", PLAYOUTS))
    assert (judged.loss, judged.played_win_rate, judged.refutation) == (0.0, 1.0, ())
    missed = present(judge.judge(MATE_IN_ONE, [], "G*1a", PLAYOUTS))
    assert (missed.missed_mate, missed.better_line) == (1, ("G*5b",))


def test_a_review_judges_a_move_in_the_same_way() -> None:
    reviewer = Reviewer(load_evaluator(QUICK.evaluator, print), QUICK)
    review = GameReview("", [*BEFORE, "2d8d"], PLAYOUTS)
    assert reviewer.review(review, moves=[len(BEFORE)])
    reviewed, judged = review.ply(len(BEFORE)), quick_judge().judge("", BEFORE, "2d8d", PLAYOUTS)
    assert judged is not None
    assert reviewed is not None
    assert (judged.is_compared, judged.best) == (reviewed.is_compared, reviewed.best)


def test_a_search_that_is_stopped_judges_nothing_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = list[PositionAnalysis]()
    monkeypatch.setattr(AnalysisStore, "put", lambda *values: kept.append(values[-1]))
    judge = quick_judge(AnalysisStore(tmp_path / "analyses.sqlite3"))
    assert judge.judge("", [], "7g7f", PLAYOUTS, lambda: True) is None
    assert judge.prepare("", [], PLAYOUTS, lambda: True) is None
    assert not kept
    assert judge.judge("", [], "7g7f", PLAYOUTS) is not None
    assert kept


def test_what_was_searched_is_not_searched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = AnalysisStore(tmp_path / "analyses.sqlite3")
    judge = quick_judge(store)
    judge.prepare("", [], PLAYOUTS)
    first = judge.judge("", [], "7g7f", PLAYOUTS)
    store.close()
    monkeypatch.setattr("goryu.analysis.position_searcher.PositionSearcher.search", None)
    assert judge.judge("", [], "7g7f", PLAYOUTS) == first  # From memory.
    again = quick_judge(AnalysisStore(tmp_path / "analyses.sqlite3"))
    assert again.judge("", [], "7g7f", PLAYOUTS) == first  # From the database.


@pytest.mark.parametrize(("start", "move"), [("", "7g7e"), ("", "rubbish"), ("not an SFEN", "7g7f")])
def test_what_breaks_the_rules_is_refused(start: str, move: str) -> None:
    with pytest.raises(GoryuError):
        quick_judge().judge(start, [], move, PLAYOUTS)
