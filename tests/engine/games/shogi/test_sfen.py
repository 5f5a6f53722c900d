"""SFEN: valid and invalid texts; errors name the field."""

import subprocess
import sys

import pytest

from goryu.games.shogi import START_SFEN, Board, SfenError, parse_sfen

RANKS = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1"


def kings(board: str, hands: str = "-", turn: str = "b") -> str:
    return f"4k4/{board}/4K4 {turn} {hands} 1"


EMPTY = kings("9/9/9/9/9/9/9").split()[0]


def test_pieces_and_hands_are_those_of_the_sfen() -> None:
    fields = parse_sfen("8l/1+B7/4k4/9/9/9/9/4K4/9 w 2R3Pg4p")
    assert {square: piece for square, piece in enumerate(fields.pieces) if piece} == {
        0: 18, 64: 13, 38: 24, 43: 8
    }  # fmt: skip
    assert (fields.turn, fields.move_number) == (1, 1)
    assert fields.hands == ((3, 0, 0, 0, 0, 0, 2), (4, 0, 0, 0, 1, 0, 0))


@pytest.mark.parametrize("number, ply", [("", 0), (" 0", 0), (" 1", 0), (" 2", 1), (" 999", 998)])
def test_the_move_number_is_optional_and_0_counts_as_1(number: str, ply: int) -> None:
    board = Board(START_SFEN.removesuffix(" 1") + number)
    assert board.ply == ply
    assert board.sfen().endswith(f" {ply + 1}")


def test_the_side_to_move_does_not_depend_on_the_ply() -> None:
    handicap = Board("lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1")
    assert (handicap.turn, handicap.ply) == (1, 0)


def test_pieces_in_hand_may_come_in_any_order() -> None:
    assert parse_sfen(f"{EMPTY} b p2PLr 1").hands == parse_sfen(f"{EMPTY} b rL2Pp 1").hands


def test_a_wrong_number_of_fields_is_refused() -> None:
    for text in ["", " ", "startpos", EMPTY, f"{EMPTY} b", f"{EMPTY} b - 1 moves", "9"]:
        with pytest.raises(SfenError) as error:
            parse_sfen(text)
        assert error.value.field == "fields"


def test_a_malformed_board_is_refused() -> None:
    for board in [
        RANKS, f"{RANKS}/LNSGKGSNL/9", f"{RANKS}/LNSGKGSN", f"{RANKS}/LNSGKGSNLP", f"{RANKS}/LNSGKGSN2",
        f"{RANKS}/LNSGKGSNL/", f"{RANKS}/LNSG0KGSNL", f"{RANKS}/LNSGKGSN0", f"{RANKS}/LNSGKGSN++L",
        f"{RANKS}/LNSG+KGSNL", f"{RANKS}/LNS+GKGSNL", f"{RANKS}/LNSGKGSNx", f"{RANKS}/LNSGKGSNL+",
        f"{RANKS}/LNSGKGSN+1", "lnsgkgsnl+/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL",
        f"{RANKS}/LNSGKGSN\u0131",
    ]:  # fmt: skip
        with pytest.raises(SfenError) as error:
            Board(f"{board} b - 1")
        assert error.value.field == "board"
        assert str(error.value).isascii()


def test_a_malformed_side_to_move_is_refused() -> None:
    for turn in ["x", "B", "W", "bw", "-"]:
        with pytest.raises(SfenError, match="expected b or w") as error:
            Board(f"{EMPTY} {turn} - 1")
        assert error.value.field == "side to move"


MALFORMED_HANDS = "k K 99P 19P Z 1P 0P 00P 02P 2 P2 P- -P -- PP P2P PrP +P -3 \u00b2P \u0131"


def test_malformed_hands_are_refused() -> None:
    for hands in MALFORMED_HANDS.split():
        with pytest.raises(SfenError) as error:
            Board(f"{EMPTY} b {hands} 1")
        assert error.value.field == "hands"


def test_a_malformed_move_number_is_refused() -> None:
    for number in ["x", "-1", "1.0", "+1", "1e3", "10000", "9" * 5000, "\u0661"]:
        with pytest.raises(SfenError) as error:
            Board(f"{EMPTY} b - {number}")
        assert error.value.field == "move number"


def test_a_position_that_breaks_a_rule_is_refused() -> None:
    for sfen, rule in [
        ("9/9/9/9/9/9/9/9/9 b - 1", "no king"), ("9/9/9/9/9/9/9/9/4K4 b - 1", "white has no king"),
        ("4k4/9/9/9/9/9/9/9/9 b - 1", "black has no king"), (kings("9/9/9/9/4K4/9/9"), "black has 2 kings"),
        (kings("9/4k4/9/9/9/9/9"), "white has 2 kings"),
        (kings("ppppppppp/9/9/9/PPPPPPPP1/9/9", "2P"), "19 pieces of kind P"),
        (kings("9/9/9/9/9/9/9", "5L"), "5 pieces of kind L"),
        (kings("+N8/9/9/9/9/9/9", "2N2n"), "5 pieces of kind N"),
        ("4k4/9/9/9/9/9/9/9/9 b 5N 1", "5 pieces of kind N"),
        (kings("9/9/9/9/9/9/9", "3S2s"), "5 pieces of kind S"),
        (kings("9/9/9/9/9/9/9", "3G2g"), "5 pieces of kind G"),
        (kings("+B8/9/9/9/9/9/9", "Bb"), "3 pieces of kind B"),
        (kings("+R8/9/9/9/9/9/9", "2r"), "3 pieces of kind R"),
        (kings("9/P8/9/P8/9/9/9"), "two pawns on file 9"),
        (kings("9/2p6/9/2p6/9/9/9"), "two pawns on file 7"),
        ("P3k4/9/9/9/9/9/9/9/4K4 b - 1", "P on rank a"), ("4k4/9/9/9/9/9/9/9/p3K4 b - 1", "p on rank i"),
        ("L3k4/9/9/9/9/9/9/9/4K4 b - 1", "L on rank a"), ("4k4/9/9/9/9/9/9/9/l3K4 b - 1", "l on rank i"),
        ("N3k4/9/9/9/9/9/9/9/4K4 b - 1", "N on rank a"), (kings("N8/9/9/9/9/9/9"), "N on rank b"),
        (kings("9/9/9/9/9/9/n8"), "n on rank h"), (kings("9/9/9/9/9/9/4p4", turn="w"), "black is in check"),
        (kings("4P4/9/9/9/9/9/9"), "white is in check"), (kings("9/9/9/4R4/9/9/9"), "white is in check"),
        (kings("9/9/9/B8/9/9/9"), "white is in check"), (kings("9/5N3/9/9/9/9/9"), "white is in check"),
        ("9/9/9/4k4/4K4/9/9/9/9 b - 1", "white is in check"),
    ]:  # fmt: skip
        with pytest.raises(SfenError, match=rule) as error:
            Board(sfen)
        assert error.value.field == "position"
        assert sfen in str(error.value)


@pytest.mark.parametrize(
    "sfen",
    [
        kings("9/9/9/9/9/9/9", "2R2B4G4S4N4L18P"),
        kings("ppppppppp/9/9/9/PPPPPPPPP/9/9"),
        kings("P8/+P8/+P8/9/9/9/9"),
        "+P3k4/+L8/9/9/9/9/9/+l8/+p3K4 b - 1",
        kings("9/N8/9/9/9/n8/9"),
        kings("4P4/9/9/9/9/9/9", turn="w"),
        "4k4/9/9/9/4r4/9/9/9/4K4 b - 1",
    ],
)
def test_unusual_but_possible_positions_are_read(sfen: str) -> None:
    assert Board(sfen).sfen() == sfen


@pytest.mark.parametrize("turn, attacker, defender", [("b", "9", "4k4"), ("w", "4K4", "9")])
def test_only_the_attacker_may_lack_its_king_and_only_if_allowed(
    turn: str, attacker: str, defender: str
) -> None:
    sfen = f"{defender}/9/4G4/9/9/9/9/9/{attacker} {turn} Gg 1"
    with pytest.raises(SfenError, match="no king"):
        Board(sfen)
    board = Board(sfen, allow_missing_king=True)
    assert board.legal_moves()
    assert board.checks() or turn == "w"
    assert not board.is_check()
    assert not board.declaration()
    with pytest.raises(SfenError, match="no king"):
        Board(sfen.replace(f" {turn} ", " w " if turn == "b" else " b "), allow_missing_king=True)


def test_a_hostile_text_gives_a_short_ascii_message() -> None:
    for text in ("\u5c06\u68cb " * 1000, "9" * 100_000 + " b - 1", "\0\n\t", "+" * 500 + " b - 1"):
        with pytest.raises(SfenError) as error:
            parse_sfen(text)
        assert str(error.value).isascii()
        assert len(str(error.value)) < 1000


def test_the_names_of_shogi_are_there_without_python_shogi() -> None:
    program = "import sys, goryu.games.shogi as s; s.parse_sfen(s.START_SFEN); print('shogi' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
