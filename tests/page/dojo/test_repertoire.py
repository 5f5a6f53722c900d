from datetime import UTC, datetime

import pytest

from goryu.analysis.description import board_after
from goryu.games.shogi import START_SFEN
from goryu_page.dojo.answering import judge_answer
from goryu_page.dojo.database import Database
from goryu_page.dojo.problems import Problems
from goryu_page.dojo.repertoire import Repertoire
from goryu_page.dojo.schedule import Schedule


def test_a_position_has_the_moves_that_were_learnt_by_any_order_of_moves(database: Database) -> None:
    repertoire = Repertoire(database)
    repertoire.learn(START_SFEN, ("7g7f", "3c3d", "2g2f"), "4c4d")
    repertoire.learn(START_SFEN, ("2g2f", "3c3d", "7g7f"), "8c8d")
    board = board_after(START_SFEN, ("7g7f", "3c3d", "2g2f"))
    assert repertoire.moves(board) == ["4c4d", "8c8d"]
    (problem,) = Problems(database).sound()
    assert Schedule(database).day(datetime(2026, 11, 26, 12, tzinfo=UTC)).problems == (problem.id,)
    answer = judge_answer(problem, "8c8d", lambda: pytest.fail("no search is needed"), 0.1, lambda: False)
    assert answer is not None
    assert answer.is_right
    repertoire.forget(board, "4c4d")
    assert repertoire.moves(board) == ["8c8d"]
    repertoire.forget(board, "8c8d")
    assert repertoire.moves(board) == []
    assert Problems(database).sound() == []


def test_a_move_that_was_removed_from_the_training_can_be_learnt_again(database: Database) -> None:
    repertoire, problems = Repertoire(database), Problems(database)
    repertoire.learn(START_SFEN, (), "7g7f")
    problems.remove(problems.sound()[0].id)
    assert repertoire.moves(board_after(START_SFEN, ())) == []
    repertoire.learn(START_SFEN, (), "2g2f")
    assert repertoire.moves(board_after(START_SFEN, ())) == ["2g2f"]
