"""Entering king: the point rules against cshogi, their numbers, and the try rule."""

from random import Random

import pytest

from boards import entered, turned
from goryu.games.shogi import Board, EnteringKingRule, Rules, move_to_usi
from goryu.games.shogi.declaration import points_needed
from goryu.games.state import Outcome
from present import present

NONE, TRY = Rules(EnteringKingRule.NoEnteringKing), Rules(EnteringKingRule.TryRule)
LAW_24, LAW_27 = Rules(EnteringKingRule.CSARule24), Rules(EnteringKingRule.CSARule27)
LAW_24H, LAW_27H = Rules(EnteringKingRule.CSARule24H), Rules(EnteringKingRule.CSARule27H)
DECLARED = Outcome(1.0, "entering-king declaration")

# Black has its king and ten men in white's camp: two big ones (10) and eight small ones (8), 18 points.
CAMP = "K+R+B+P+P+P+P+P+P/+P+P7/9/9/9/9/9/9/4k4"


def camp(hand: str) -> str:
    return f"{CAMP} b {hand} 1"


def test_the_point_rules_agree_with_cshogi() -> None:
    cshogi = pytest.importorskip("cshogi")
    counts = {True: 0, False: 0}
    for sfen in entered(Random(31), 300):
        theirs = cshogi.Board(sfen)
        for rules, law in ((LAW_27, cshogi.LAW_27), (LAW_24, cshogi.LAW_24)):
            declares = Board(sfen, rules).declaration()
            assert declares == theirs.is_nyugyoku(law), sfen
            counts[declares] += 1
        assert not Board(sfen, NONE).declaration()
    assert min(counts.values()) > 40, counts


@pytest.mark.parametrize(
    "rules, hand, black, white",
    [
        # Points: 18 in the camp; R and B in hand are 5 each.
        (LAW_27, "R3P", False, False),
        (LAW_27, "R4P", False, True),
        (LAW_27, "R5P", True, True),
        (LAW_27, "RB", True, True),
        (LAW_24, "RB2P", False, False),
        (LAW_24, "RB3P", True, True),
    ],
)
def test_black_needs_28_points_and_white_27_or_both_31(
    rules: Rules, hand: str, black: bool, white: bool
) -> None:
    assert Board(camp(hand), rules).declaration() == black
    assert Board(turned(camp(hand)), rules).declaration() == white


def test_the_king_on_the_third_rank_is_in_the_camp_and_on_the_fourth_is_not() -> None:
    third = camp("2G2SRB").replace("K+R", "1+R").replace("/9/9/9/9/9/9/", "/K8/9/9/9/9/9/")
    fourth = third.replace("/K8/9/", "/9/K8/")
    assert Board(third, LAW_27).declaration()
    assert not Board(fourth, LAW_27).declaration()


def test_a_side_in_check_may_not_declare() -> None:
    sfen = camp("2G2SRB").replace("/+P+P7/9/", "/1+P+P6/9/")
    assert Board(sfen, LAW_27).declaration()
    checked = sfen.replace("/1+P+P6/", "/+p+P+P6/")
    assert Board(checked, LAW_27).is_check()
    assert not Board(checked, LAW_27).declaration()


def test_a_declarable_position_is_a_win_for_the_side_to_move_only_under_the_rule() -> None:
    sfen = camp("2G2SRB")
    assert Board(sfen).outcome() == DECLARED
    assert Board(sfen, NONE).outcome() is None
    assert Board(sfen.replace(" b ", " w ")).outcome() is None
    assert Board(sfen.replace(" b ", " w ")).declaration() is False


@pytest.mark.parametrize(
    "sfen, needed",
    [
        ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", (28, 27, 31, 31)),
        ("lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", (28, 17, 31, 21)),
        ("1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", (28, 15, 31, 19)),
    ],
)
def test_the_handicap_rules_lower_the_points_of_white(sfen: str, needed: tuple[int, ...]) -> None:
    board = Board(sfen)
    points = [
        points_needed(board.pieces, board.hands, colour, rules.entering_king)
        for rules in (LAW_27H, LAW_24H)
        for colour in (0, 1)
    ]
    assert tuple(points) == needed
    plain = [
        points_needed(board.pieces, board.hands, c, r.entering_king) for r in (LAW_27, LAW_24) for c in (0, 1)
    ]
    assert plain == [28, 27, 31, 31]


def test_the_giver_of_a_handicap_declares_with_fewer_points() -> None:
    # Full set: 54 points. White, with 18, needs 27; without a rook and a bishop it needs 17.
    full = turned(camp("-")).replace(" - ", " RB4G4S4N4L10P ")
    handicap = full.replace("RB4G", "4G")
    assert not Board(full, LAW_27H).declaration()
    assert not Board(handicap, LAW_27).declaration()
    assert Board(handicap, LAW_27H).declaration()


def test_the_try_rule_wins_by_a_safe_king_move_to_the_opponents_first_square() -> None:
    sfen = "9/3K5/9/9/9/9/9/9/k8 b - 1"
    board = Board(sfen, TRY)
    move = present(board.try_move())
    assert move_to_usi(move) == "6b5a"
    assert board.declaration()
    assert board.outcome() == DECLARED
    assert Board(sfen).try_move() is None
    assert Board(sfen).outcome() is None
    board.push(move)
    assert board.outcome() == Outcome(-1.0, "try")
    assert board.declaration() is False


@pytest.mark.parametrize(
    "sfen",
    [
        "9/3K5/9/9/9/9/9/9/k3r4 b - 1",  # the square is attacked
        "4G4/3K5/9/9/9/9/9/9/k8 b - 1",  # our own piece is there
        "9/9/3K5/9/9/9/9/9/k8 b - 1",  # two steps away
        "9/3K5/9/9/9/9/9/9/k8 w - 1",  # not our move
    ],
)
def test_when_the_try_does_not_succeed(sfen: str) -> None:
    assert Board(sfen, TRY).try_move() is None
    assert not Board(sfen, TRY).declaration()


def test_white_tries_on_5i() -> None:
    board = Board("K8/9/9/9/9/9/9/5k3/9 w - 1", TRY)
    move = present(board.try_move())
    assert move_to_usi(move) == "4h5i"
