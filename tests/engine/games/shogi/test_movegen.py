"""Legal moves of shogi: known counts, known traps, and two libraries that we did not write."""

from random import Random

import pytest
import shogi

from boards import POSITIONS, random_games, scattered
from goryu.games.perft import perft
from goryu.games.shogi import (
    START_SFEN,
    Board,
    IllegalMoveError,
    MoveError,
    Rules,
    SfenError,
    is_drop,
    move_from,
    move_from_usi,
    move_to,
    move_to_usi,
)
from goryu.games.shogi.movegen import is_legal, legal_moves
from goryu.games.shogi.pieces import WHITE_PIECE
from goryu.games.shogi.position import Position
from goryu.games.state import Move
from goryu.search.mates.df_pn import MateState

MATSURI = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"


HANDS = ("-", "Pp", "PNp", "GLpsr", "BSb2p")


def usi(board: Board) -> list[str]:
    return [move_to_usi(move) for move in board.legal_moves()]


def is_pointless(board: Board, move: Move) -> bool:
    """The list of `Rules.all_moves`, written down a second time, by ranks from the mover's seat."""
    if is_drop(move) or move >> 14 or board.is_check():
        return False
    kind = board.pieces[move_from(move)] % WHITE_PIECE
    ranks = [
        1 + square % 9 if board.turn == 0 else 9 - square % 9 for square in (move_from(move), move_to(move))
    ]
    return min(ranks) <= 3 and (kind in (1, 5, 6) or (kind == 2 and ranks[1] == 2))


def test_the_board_has_the_interface_of_the_mate_searches() -> None:
    assert isinstance(Board(), MateState)


def test_the_number_of_legal_moves() -> None:
    assert [(sfen, len(Board(sfen).legal_moves())) for sfen, _ in POSITIONS] == POSITIONS


@pytest.mark.parametrize("sfen, counts", [(START_SFEN, (30, 900, 25_470)), (MATSURI, (207, 28_684))])
def test_perft(sfen: str, counts: tuple[int, ...]) -> None:
    assert tuple(perft(Board(sfen), depth) for depth in range(1, len(counts) + 1)) == counts


@pytest.mark.slow
@pytest.mark.parametrize("sfen, depth, count", [(START_SFEN, 4, 719_731), (MATSURI, 3, 4_809_015)])
def test_deep_perft(sfen: str, depth: int, count: int) -> None:
    assert perft(Board(sfen), depth) == count


def test_random_games_have_the_moves_checks_and_sfens_of_cshogi_and_rsshogi() -> None:
    cshogi = pytest.importorskip("cshogi")
    rsshogi = pytest.importorskip("rsshogi.core")
    for board in random_games(Random(1), games=12, plies=250):
        if not board.move_stack:
            theirs, others = cshogi.Board(), rsshogi.Board()
        else:
            theirs.push_usi(move_to_usi(board.move_stack[-1]))
            others.push_usi(move_to_usi(board.move_stack[-1]))
        moves = board.legal_moves()
        assert moves == sorted(cshogi.move16(move) for move in theirs.legal_moves), board.sfen()
        assert moves == sorted(move.to_apery().value for move in others.legal_moves()), board.sfen()
        assert board.is_check() == theirs.is_check() == others.is_in_check()
        assert board.sfen() == theirs.sfen() == others.to_sfen()
        assert board.pieces == theirs.pieces
        assert [list(hand) for hand in board.hands] == list(theirs.pieces_in_hand)


def test_scattered_pieces_have_the_moves_of_cshogi_and_rsshogi() -> None:
    cshogi = pytest.importorskip("cshogi")
    rsshogi = pytest.importorskip("rsshogi.core")
    for sfen in scattered(Random(2), 500, 4, 16, HANDS):
        moves = Board(sfen).legal_moves()
        assert moves == sorted(cshogi.move16(move) for move in cshogi.Board(sfen).legal_moves), sfen
        assert moves == sorted(move.to_apery().value for move in rsshogi.Board(sfen).legal_moves()), sfen


def test_the_moves_are_those_of_python_shogi() -> None:
    for sfen, _ in POSITIONS[:-1]:  # The last one is the case that python-shogi gets wrong.
        assert sorted(usi(Board(sfen))) == sorted(move.usi() for move in shogi.Board(sfen).legal_moves)


def test_checks_are_the_moves_after_which_the_opponent_is_in_check() -> None:
    found = 0
    boards = [Board(sfen) for sfen in scattered(Random(3), 120, 4, 16, HANDS)]
    for board in boards + [board.copy() for board in random_games(Random(4), games=2, plies=150)]:
        checks = []
        for move in board.legal_moves():
            board.push(move)
            checks += [move] * board.is_check()
            board.pop()
        assert board.checks() == checks, board.sfen()
        found += len(checks)
    assert found > 400


def test_without_pointless_moves_exactly_those_are_missing() -> None:
    missing = 0
    boards = [Board(sfen) for sfen in scattered(Random(5), 100, 4, 16, HANDS)]
    for board in boards + [board.copy() for board in random_games(Random(6), games=1, plies=150)]:
        frugal = Board(board.sfen(), Rules(all_moves=False))
        expected = [move for move in board.legal_moves() if not is_pointless(board, move)]
        assert frugal.legal_moves() == expected, board.sfen()
        assert all(frugal.is_legal(move) for move in board.legal_moves())
        assert frugal.all_legal_moves() == board.legal_moves()
        assert frugal.checks() == board.checks()
        missing += len(board.legal_moves()) - len(expected)
    assert missing > 100


@pytest.mark.parametrize(
    "sfen, both, promotion_only",
    [
        ("4k4/9/9/P8/9/9/9/9/4K4 b - 1", [], ["9d9c+"]),
        ("4k4/9/9/L8/9/9/9/9/4K4 b - 1", ["9d9c"], ["9d9c+", "9d9b+", "9d9a+"]),
        ("4k4/9/9/1S7/9/9/9/9/4K4 b - 1", ["8d8c"], ["8d8c+"]),
        ("4k4/9/9/9/N8/9/9/9/4K4 b - 1", ["9e8c"], ["9e8c+"]),
        ("4k4/9/9/9/9/9/8r/9/4K4 w - 1", [], ["1g1i+", "1g9g+"]),
    ],
)
def test_which_non_promotions_are_pointless(sfen: str, both: list[str], promotion_only: list[str]) -> None:
    moves = usi(Board(sfen, Rules(all_moves=False)))
    assert set(both) | set(promotion_only) <= set(moves)
    assert not {text.rstrip("+") for text in promotion_only} - set(both) & set(moves)


def test_a_single_move_is_legal_if_and_only_if_it_is_listed() -> None:
    for sfen in [sfen for sfen, _ in POSITIONS]:
        board = Board(sfen)
        assert [move for move in range(1 << 16) if board.is_legal(Move(move))] == board.legal_moves()


def test_a_pawn_drop_may_not_mate() -> None:
    sfen = "+R6bk/6L2/8G/9/9/9/l+b4K2/9/9 b P 1"
    assert "P*1b" not in usi(Board(sfen))
    # Unpinned, the bishop takes the pawn; with the gold gone, the king does.
    assert "P*1b" in usi(Board(sfen.replace("+R6", "7")))
    assert "P*1b" in usi(Board(sfen.replace("8G", "9")))


def test_a_pinned_piece_is_no_defence_against_a_pawn_drop_that_mates() -> None:
    # Three rooks, and white in check with black to move: strict SFEN refuses it, the rule still holds in it.
    sfen = "+R6bk/6L2/9/9/7RR/9/l+b4K2/9/9 b P 1"
    with pytest.raises(SfenError):
        Board(sfen)
    assert shogi.Move.from_usi("P*1b") in shogi.Board(sfen).legal_moves
    position = Position(sfen)
    assert not is_legal(position, move_from_usi("P*1b"))
    assert move_from_usi("P*1b") not in legal_moves(position)


def test_an_illegal_move_is_refused_and_changes_nothing() -> None:
    for moves, text in [
        ((), "7g7f+"), ((), "P*5e"), ((), "5i5h+"), ((), "1a1b"), ((), "8h2b"), ((), "7f7e"), ((), "2g2e"),
        (("7g7f",), "7g7f"), (("7g7f", "3c3d", "8h2b+"), "9c9e"), (("7g7f", "4a4b", "8h3c"), "5a5b+"),
        (("7g7f", "8c8d", "8h3c+"), "9c9d"),
    ]:  # fmt: skip
        board = Board()
        for move in moves:
            board.push_usi(move)
        before = (board.sfen(), board.key, board.legal_moves())
        with pytest.raises(IllegalMoveError, match=text.replace("+", r"\+").replace("*", r"\*")):
            board.push_usi(text)
        assert (board.sfen(), board.key, board.legal_moves()) == before


def test_pointless_non_promotions_are_accepted_from_a_game_record() -> None:
    board = Board("4k4/9/2P6/6R2/4B4/9/9/9/4K4 b - 1", Rules(all_moves=False))
    for text in ("7c7b", "3d3c", "5e3c"):
        assert move_from_usi(text) not in board.legal_moves()
    board.push_usi("7c7b")
    board.push_usi("5a6a")
    board.push_usi("3d3b")


def test_other_texts_than_usi_moves_are_refused() -> None:
    for text in [
        "9z9z", "7G7F", "p*5e", "", "7g", "7g7", "7g7f++", "7g7f=", "7g7g", "K*5e", "P*5e+", "P*0a", "0000",
        "resign", "7g7f ", "７g7f",
    ]:  # fmt: skip
        with pytest.raises(MoveError, match="received"):
            move_from_usi(text)


def test_every_move_survives_usi_and_has_cshogis_number() -> None:
    cshogi = pytest.importorskip("cshogi")
    board, theirs = Board(MATSURI), cshogi.Board(MATSURI)
    for move in board.legal_moves():
        assert move_from_usi(move_to_usi(move)) == move
        assert cshogi.move16(theirs.move_from_usi(move_to_usi(move))) == move


def test_a_number_that_is_no_move_has_no_usi_text() -> None:
    for number in (-1, 81, 88 << 7, 1 << 15, (1 << 14) + (81 << 7), 5 + (5 << 7)):
        with pytest.raises(MoveError, match=str(number)):
            move_to_usi(Move(number))


def test_the_text_board_is_ascii_and_shows_hands_and_sfen() -> None:
    text = str(Board(MATSURI))
    assert text.isascii()
    assert "white in hand: P5 N1 S1 G1" in text
    assert "sfen l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1" in text
