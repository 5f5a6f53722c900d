"""What docs/rules.md says of its boards is what the rules do, and the pictures are those of tools/draw.py."""

import re
import sys

import pytest

from goryu.games.shogi import Board, EnteringKingRule, Rules, move_to_usi
from paths import ROOT
from present import present

cshogi = pytest.importorskip("cshogi", reason="draws the boards")

sys.path.insert(0, str(ROOT / "tools"))

from draw import RULES, rule_board  # noqa: E402

PAGES = [ROOT / "docs" / name for name in ("rules.md", "rules.ja.md")]


def position(rule: str, times: int = 1, rules: Rules | None = None) -> Board:
    """Returns the position of a picture, its moves played `times` times."""
    sfen, moves = RULES[rule]
    board = Board(sfen, rules) if rules is not None else Board(sfen)
    for move in moves.split() * times:
        board.push_usi(move)
    return board


def legal(rule: str) -> set[str]:
    """Returns the legal moves in a picture; cshogi has the same."""
    board = position(rule)
    moves = {move_to_usi(move) for move in board.legal_moves()}
    assert moves == {cshogi.move_to_usi(move) for move in cshogi.Board(board.sfen()).legal_moves}
    return moves


@pytest.mark.parametrize("rule", RULES)
def test_pictures_are_up_to_date_and_shown(rule: str) -> None:
    """If they are not: `python tools/draw.py`."""
    name = f"rule-{rule}.svg"
    assert (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8") == rule_board(rule)
    for page in PAGES:
        assert f"pictures/{name}" in page.read_text(encoding="utf-8")


def test_a_second_pawn_in_a_file_is_illegal() -> None:
    moves = legal("two-pawns")
    assert "P*6e" in moves
    assert not any(re.fullmatch(r"P\*7.", move) for move in moves)


def test_a_pawn_drop_that_mates_is_illegal() -> None:
    moves = legal("pawn-mate")
    assert "P*1b" not in moves
    assert "P*1c" in moves
    board = position("pawn-mate")
    board.push_usi("L*1b")
    outcome = present(board.outcome())
    assert outcome.reason == "checkmate"


def test_the_fourth_occurrence_is_a_draw_and_a_search_takes_the_second_for_it() -> None:
    second, fourth = position("repetition"), position("repetition", 3)
    assert second.outcome() is None
    repetition, outcome = second.repetition(), fourth.outcome()
    assert repetition is not None
    assert outcome is not None
    assert (repetition.value, repetition.reason) == (0.0, "repetition")
    assert (outcome.value, outcome.reason) == (0.0, "fourfold repetition")


def test_the_side_that_gives_perpetual_check_loses() -> None:
    sfen, moves = RULES["perpetual-check"]
    board = Board(sfen)
    for move in moves.split() + moves.split()[2:] * 2:
        board.push_usi(move)
    outcome = present(board.outcome())
    assert (outcome.value, outcome.reason) == (-1.0, "perpetual check")
    assert board.turn == 0, "Black gave the checks"


def test_the_same_board_with_more_in_hand_counts_as_a_win_in_a_search() -> None:
    board = position("superior")
    assert board.outcome() is None
    outcome = present(board.repetition())
    assert (outcome.value, outcome.reason) == (1.0, "superior position")


def test_black_may_declare_with_28_points() -> None:
    board = position("declaration")
    assert board.declaration()
    assert cshogi.Board(board.sfen()).is_nyugyoku()
    assert not position("declaration", rules=Rules(EnteringKingRule.CSARule24)).declaration()


def test_under_the_try_rule_the_king_wins_on_its_opponents_square() -> None:
    move = present(position("try", rules=Rules(EnteringKingRule.TryRule)).try_move())
    assert move_to_usi(move) == "5b5a"
    assert position("try").try_move() is None
