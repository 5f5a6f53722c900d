"""The deeper search of a review's mistakes."""

from goryu.analysis.deepening import Progress, deepen
from goryu.analysis.judgement import MISTAKES
from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.games.shogi import START_SFEN
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from sample_games import ROOK_HANGS

LOW, HIGH = 20, 150


def reviewed(evaluator: EvaluatorConfig) -> tuple[Reviewer, GameReview]:
    reviewer = Reviewer(load_evaluator(evaluator, print), EngineConfig(evaluator))
    review = GameReview(START_SFEN, ROOK_HANGS, LOW)
    assert reviewer.review(review)
    return reviewer, review


def comparisons_fit(review: GameReview) -> bool:
    """Is every comparison that of the better move, and as deep as the search after the played move?"""
    for index, better in review.better.items():
        before, after = review.analyses[index], review.analyses[index + 1]
        assert before is not None
        assert after is not None
        if not better.is_final and better.playouts < min(before.playouts, after.playouts):
            return False
    return True


def test_only_the_mistakes_are_searched_deeper_and_judged_anew() -> None:
    reviewer, review = reviewed(EvaluatorConfig(threads=1))
    mistakes = [ply.ply - 1 for ply in review.mistakes()]
    assert 10 in mistakes  # The rook goes where a rook takes it.
    told: list[Progress] = []
    changed: set[int] = set()
    assert deepen(reviewer, review, HIGH, lambda _, index: changed.add(index), told.append, lambda: False)
    deep = {index for index, one in enumerate(review.analyses) if one and one.playouts >= HIGH}
    final = {index for index, one in enumerate(review.analyses) if one and one.is_final}
    assert deep | final >= {position for index in mistakes for position in (index, index + 1)}
    assert deep <= changed | final
    assert told[0] == Progress(0, len(mistakes))
    assert told[-1] == Progress(len(mistakes), len(mistakes), None, 1.0)
    assert {one.ply for one in told[1:-1]} == {move + 1 for move in mistakes}
    shares = [one.share for one in told]
    assert shares == sorted(shares)
    assert len(set(shares)) > 3 * len(mistakes)  # It moves while a position is searched.
    assert all(review.is_judged(index) for index in range(len(ROOK_HANGS)))
    assert comparisons_fit(review)
    again = GameReview(START_SFEN, ROOK_HANGS, HIGH)  # What a review of the same depth says of these moves.
    reviewer.review(again, moves=mistakes)
    for index in mistakes:
        new, other = review.ply(index), again.ply(index)
        assert new is not None
        assert other is not None
        assert (new.kind in MISTAKES) == (other.kind in MISTAKES)


def test_a_stopped_search_leaves_the_old_judgements() -> None:
    reviewer, review = reviewed(EvaluatorConfig("hashed"))
    before = list(review.plies())
    assert not deepen(reviewer, review, HIGH, lambda *_: None, lambda *_: None, lambda: True)
    assert list(review.plies()) == before


def test_more_playouts_for_all_positions_compare_anew() -> None:
    reviewer, review = reviewed(EvaluatorConfig("hashed"))
    review.playouts = HIGH
    assert reviewer.review(review)
    assert all(review.is_judged(index) for index in range(len(ROOK_HANGS)))
    assert all(better.is_final or better.playouts >= HIGH for better in review.better.values())
