"""The referee; repetition is also compared with rsshogi's own result."""

import random
from pathlib import Path
from typing import Any

import pytest

from goryu.games.shogi import Board
from goryu_lab.match.openings import Opening, OpeningError, parse_opening, read_openings
from goryu_lab.match.referee import DeclarationRule, Reason, Referee, declaration_points
from goryu_lab.match.referee_board import BoardError

rsshogi = pytest.importorskip("rsshogi.core")


def play(referee: Referee, moves: str) -> tuple[int | None, Reason] | None:
    verdict = None
    for move in moves.split():
        assert verdict is None, move
        verdict = referee.play(move)
    return (verdict.winner, verdict.reason) if verdict else None


def gives_check(board: Any, move: str) -> bool:
    after = board.copy()
    after.push_usi(move)
    return bool(after.is_in_check())


def test_a_move_outside_the_legal_list_loses() -> None:
    for move in ["7g7f+", "7g7e", "P*5e", "2b3c", "0000", "none", "7g7f=", ""]:
        assert play(Referee(), "") is None
        verdict = Referee().play(move)
        assert verdict is not None
        assert (verdict.winner, verdict.reason) == (1, Reason.ILLEGAL_MOVE)


def test_a_pawn_drop_that_mates_is_illegal_even_with_a_pinned_capturer() -> None:
    referee = Referee("sfen +R6bk/9/6G2/9/8L/9/9/9/K8 b P 1")
    assert play(referee, "P*1b") == (1, Reason.ILLEGAL_MOVE)


def test_mate_wins_for_the_side_that_moved() -> None:
    assert play(Referee("sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1"), "G*5b") == (
        0,
        Reason.CHECKMATE,
    )


def test_the_fourth_occurrence_is_a_draw() -> None:
    shuffle = "5i5h 5a5b 5h5i 5b5a "
    assert play(Referee(), 3 * shuffle) == (None, Reason.REPETITION)
    assert play(Referee(), 2 * shuffle + "5i5h 5a5b 5h5i") is None


def test_perpetual_check_loses_for_the_checker() -> None:
    # Black's first move is not part of the loop; after it every move of black is a check.
    moves = "6h5h " + 3 * "5a4a 5h4h 4a5a 4h5h "
    assert play(Referee("sfen 4k4/9/9/9/9/9/9/3R5/K8 b - 1"), moves) == (
        1,
        Reason.PERPETUAL_CHECK,
    )


def test_repetition_with_one_quiet_move_is_a_draw() -> None:
    start = "sfen 4k4/9/9/9/9/9/9/4R4/K8 w - 1"
    loop = "5a4a 5h6h 4a5a 6h5h "
    assert play(Referee(start), loop * 3) == (None, Reason.REPETITION)


def test_repetition_agrees_with_rsshogi_in_random_shuffles() -> None:
    rng = random.Random(3)
    kinds = set()
    for game in range(120):
        start = "sfen k8/9/9/9/9/9/9/4R4/8K b - 1"
        referee, board = Referee(start), rsshogi.Board(start.removeprefix("sfen "))
        while True:
            moves = sorted(referee.legal_moves())
            checks = [move for move in moves if gives_check(board, move)]
            # In every second game black checks whenever it can, which leads to perpetual checks.
            move = rng.choice(checks[:2] if game % 2 and checks else moves[:3])
            verdict = referee.play(move)
            board.push_usi(move)
            state = board.repetition_state().to_usi()
            if verdict is None:
                assert not board.is_repetition(), board.to_sfen()
                continue
            # rsshogi may report a repetition with a better or worse hand first; that ends no game.
            if state in ("rep_draw", "rep_win", "rep_lose"):
                assert verdict.reason in (Reason.REPETITION, Reason.PERPETUAL_CHECK)
                assert verdict.winner == {"rep_draw": None, "rep_win": referee.turn}.get(
                    state, 1 - referee.turn
                )
                kinds.add(state)
            break
    assert len(kinds) >= 2


def test_the_game_is_a_draw_at_the_ply_limit_unless_mate() -> None:
    assert play(Referee(max_plies=2), "7g7f 3c3d") == (None, Reason.MAX_PLIES)
    mate = Referee("sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1", max_plies=1)
    assert play(mate, "G*5b") == (0, Reason.CHECKMATE)


def test_a_declaration_needs_ten_pieces_in_the_camp() -> None:
    nine = "sfen 2+R1K1+B2/1+R5+B1/3GGSSS1/9/9/9/9/9/4k4 b 2GS4N4L18P 1"
    ten = "sfen 2+R1K1+B2/1+R5+B1/2GGGSSS1/9/9/9/9/9/4k4 b GS4N4L18P 1"
    assert play(Referee(nine), "win") == (1, Reason.FALSE_DECLARATION)
    assert play(Referee(ten), "win") == (0, Reason.DECLARATION)
    assert declaration_points(ten.removeprefix("sfen "), 0) == 20 + 6 + 1 + 1 + 4 + 4 + 18
    none = Referee(ten, declaration=DeclarationRule.NONE)
    assert play(none, "win") == (1, Reason.FALSE_DECLARATION)


@pytest.mark.parametrize(
    "hand, points, black_wins_27, black_wins_24",
    [
        ("", 26, False, False),
        ("P", 27, False, False),
        ("2P", 28, True, False),
        ("4P", 30, True, False),
        ("5P", 31, True, True),
    ],
)
def test_declaration_thresholds(hand: str, points: int, black_wins_27: bool, black_wins_24: bool) -> None:
    sfen = f"2+R1K1+B2/1+R5+B1/2GGGGSS1/9/9/9/9/9/4k4 b {hand or '-'} 1"
    assert declaration_points(sfen, 0) == points
    for rule, wins in (
        (DeclarationRule.POINTS_27, black_wins_27),
        (DeclarationRule.POINTS_24, black_wins_24),
    ):
        verdict = Referee("sfen " + sfen, declaration=rule).play("win")
        assert verdict is not None
        assert (verdict.winner == 0) == wins


def test_declaration_points_agree_with_cshogi() -> None:
    cshogi = pytest.importorskip("cshogi")
    rng = random.Random(5)
    agreed = 0
    for _ in range(3000):
        pieces = ["+R", "+B", "R", "B", "G", "G", "G", "S", "S", "+N", "+L", "+P", "+P"][: rng.randint(6, 13)]
        squares: list[str] = [*pieces, "K", *["."] * (27 - len(pieces) - 1)]
        rng.shuffle(squares)
        rows = ["".join(squares[i : i + 9]) if i < 27 else "........." for i in range(0, 72, 9)] + [
            "....k...."
        ]
        hand = f"{rng.randint(2, 9)}P"
        sfen = "/".join(rows) + f" b {hand} 1"
        for length in range(9, 0, -1):
            sfen = sfen.replace("." * length, str(length))
        board = cshogi.Board(sfen)
        if board.is_check():
            continue
        points = declaration_points(sfen, 0)
        assert bool(board.is_nyugyoku()) == (points is not None and points >= 28), sfen
        agreed += board.is_nyugyoku()
    assert agreed > 100


def test_a_check_forbids_a_declaration() -> None:
    checked = "sfen 2+R1K1+B2/1+R3s1+B1/2GGGGSS1/9/9/9/9/9/4k4 b 9P 1"
    quiet = checked.replace("3s1", "5")
    assert play(Referee(checked), "win") == (1, Reason.FALSE_DECLARATION)
    assert play(Referee(quiet), "win") == (0, Reason.DECLARATION)


def test_the_try_rule_wins_for_the_king_that_arrives() -> None:
    start = "sfen 9/4K4/9/9/9/9/9/9/k8 b - 1"
    assert play(Referee(start, declaration=DeclarationRule.TRY), "5b5a") == (0, Reason.TRY)
    assert play(Referee(start), "5b5a") is None


def test_resignation_loses() -> None:
    assert play(Referee(), "7g7f resign") == (0, Reason.RESIGNATION)


def test_openings_are_read_in_every_usual_form() -> None:
    assert parse_opening("startpos") == Opening()
    assert parse_opening("position startpos moves 7g7f 3c3d") == Opening(moves=("7g7f", "3c3d"))
    sfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
    assert parse_opening(sfen) == parse_opening("sfen " + sfen) == Opening("sfen " + sfen)
    assert str(parse_opening(f"sfen {sfen} moves 7g7f")) == f"sfen {sfen} moves 7g7f"


@pytest.mark.parametrize("hands, usual", [("PP", "2P"), ("0P", "-"), ("p1P", "Pp")])
def test_hands_are_written_as_every_engine_reads_them(hands: str, usual: str) -> None:
    board = "lnsgkgsnl/1r5b1/ppppppp2/9/9/9/PPPPPPP2/1B5R1/LNSGKGSNL b"
    opening = parse_opening(f"sfen {board} {hands} 9 moves 7g7f")
    assert str(opening) == f"sfen {board} {usual} 9 moves 7g7f"
    assert Board(opening.sfen).sfen() == opening.sfen


@pytest.mark.parametrize(
    "line",
    [
        "startpos moves 7g7e",
        "sfen 9/9 b - 1",
        "hello",
        "sfen 9/9/9/9/9/9/9/9/9 b - 1",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 7g7f",
    ],
)
def test_a_bad_opening_is_quoted(line: str) -> None:
    with pytest.raises(OpeningError, match=line[:8]):
        parse_opening(line)


def test_an_unknown_position_is_refused() -> None:
    with pytest.raises(BoardError, match="startpos or a legal SFEN"):
        Referee("sfen nonsense")


def test_an_opening_file_is_utf_8_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text("startpos moves 7g7f  # \u5c45\u98db\u8eca\n", "utf-8-sig")
    assert read_openings(path) == [Opening(moves=("7g7f",))]
    path.write_text("startpos moves 7g7f  # \u5c45\u98db\u8eca\n", "shift_jis")
    with pytest.raises(OpeningError, match=r"openings.txt: expected UTF-8"):
        read_openings(path)
