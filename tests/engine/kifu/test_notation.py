"""Names of moves, against cshogi and rsshogi."""

from random import Random

import pytest

from boards import played, random_games
from goryu.games.shogi import IllegalMoveError, MoveError, move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.kifu.handicaps import HANDICAPS
from goryu.kifu.notation import csa_move, japanese_move, kif_move, parse_move, western_move


def moves_to_name(board: Board, random: Random) -> list[Move]:
    """One move of most positions, all moves of some."""
    moves = board.legal_moves()
    return moves if not moves or random.random() < 0.03 else [random.choice(moves)]


def test_every_name_of_a_move_is_read_back() -> None:
    random = Random(1)
    for board in random_games(Random(1), 12, 220, Board):
        for move in moves_to_name(board, random):
            for text in (
                japanese_move(board, move),
                japanese_move(board, move)[1:],
                kif_move(board, move),
                csa_move(board, move),
                western_move(board, move),
                move_to_usi(move),
            ):
                assert parse_move(board, text) == move, (text, board.sfen())


def test_names_are_those_of_cshogi() -> None:
    cshogi = pytest.importorskip("cshogi")
    kif, ki2 = pytest.importorskip("cshogi.KIF"), pytest.importorskip("cshogi.KI2")
    random, seen = Random(2), 0
    for board in random_games(Random(2), 25, 220, Board):
        other = cshogi.Board(board.sfen())
        previous = None
        if board.move_stack:  # cshogi, too, needs the history for 同.
            last = board.pop()
            other = cshogi.Board(board.sfen())
            previous = other.push_usi(move_to_usi(last))
            board.push(last)
        for move in moves_to_name(board, random):
            theirs = other.move_from_usi(move_to_usi(move))
            seen += 1
            assert csa_move(board, move)[1:] == cshogi.move_to_csa(theirs)
            assert short(kif_move(board, move)) == short(kif.move_to_kif(theirs, previous)), board.sfen()
            check_name(japanese_move(board, move), ki2.move_to_ki2(theirs, other), board)
    assert seen > 8000


def test_names_are_those_of_rsshogi() -> None:
    record = pytest.importorskip("rsshogi.record")
    random, seen = Random(3), 0
    for board in random_games(Random(3), 12, 220, Board):
        for move in moves_to_name(board, random):
            lines = record.Record.from_usi_main_line(board.sfen(), [move_to_usi(move)]).to_ki2().split("\n")
            theirs = next(line for line in lines if line.startswith(("▲", "△")))
            ours = japanese_move(board, move)
            if "同" not in ours:  # rsshogi does not know the move before.
                seen += 1
                check_name(ours, theirs, board)
    assert seen > 4000


def short(text: str) -> str:
    for long, letter in (("成香", "杏"), ("成桂", "圭"), ("成銀", "全"), ("　", ""), (" ", "")):
        text = text.replace(long, letter)
    return text


def check_name(ours: str, theirs: str, board: Board) -> None:
    """Checks two names for one move.

    The libraries leave out 上, 寄 or 引 after 左 and 右 where another piece on that side has its own
    direction; cshogi leaves out 打 where the piece on the board is pinned.
    """
    if short(ours) != short(theirs):
        assert len(short(ours)) == len(short(theirs)) + 1, (ours, theirs, board.sfen())
        shorter = short(ours).replace("打", "") if "打" in ours else short(ours).translate(DIRECTIONS)
        assert shorter == short(theirs), (ours, theirs, board.sfen())


DIRECTIONS = str.maketrans("", "", "上寄引")

GOLDS = "4k4/9/9/9/3G5/3GG4/9/9/4K4 b - 1"  # On 6e, 6f and 5f; all three reach 5e.


def test_disambiguation_follows_the_association() -> None:
    for sfen, usi, name in [
        (GOLDS, "6e5e", "▲５五金寄"), (GOLDS, "6f5e", "▲５五金左上"), (GOLDS, "5f5e", "▲５五金直"),
        ("4k4/9/G6G1/9/9/9/9/9/4K4 b - 1", "9c9b", "▲９二金"),
        ("4k4/9/9/9/9/9/9/3G1G3/4K4 b - 1", "6h5h", "▲５八金左"),
        ("4k4/9/9/9/9/9/9/3G1G3/4K4 b - 1", "4h5h", "▲５八金右"),
        ("8k/9/9/2R6/9/4R4/9/9/4K4 b - 1", "7d5d", "▲５四飛寄"),
        ("8k/9/9/2R6/9/4R4/9/9/4K4 b - 1", "5f5d", "▲５四飛上"),
        ("4k4/9/9/+B1+B6/9/9/9/9/4K4 b - 1", "9d8e", "▲８五馬左"),
        ("4k4/9/9/9/9/9/4s4/9/4K4 b S 1", "S*5h", "▲５八銀"),
        ("4k4/9/9/9/9/9/9/5S3/4K4 b S 1", "S*5g", "▲５七銀打"),
        ("4k4/9/9/S8/9/9/9/9/4K4 b - 1", "9d9c", "▲９三銀不成"),
        ("4k4/9/9/S8/9/9/9/9/4K4 b - 1", "9d9c+", "▲９三銀成"),
        ("4k4/9/9/9/9/9/3s1s3/9/4K4 w - 1", "6g5h+", "△５八銀右成"),
    ]:  # fmt: skip
        board = Board(sfen)
        move = parse_move(board, usi)
        assert japanese_move(board, move) == name
        assert parse_move(board, name) == move


def test_a_recapture_is_called_the_same_square() -> None:
    board = played(Board(), "7g7f 3c3d 8h2b+")
    assert japanese_move(board, parse_move(board, "3a2b")) == "△同　銀"
    assert parse_move(board, "同銀") == parse_move(board, "△同　銀(31)") == parse_move(board, "Sx2b")
    start = Board(board.sfen())
    assert japanese_move(start, parse_move(start, "3a2b")) == "△２二銀"


def test_a_move_is_read_in_many_spellings() -> None:
    for text in ["７六歩", "▲７六歩", "☗7六歩", "76歩", "７六歩(77)", "+7776FU", "7g7f", "P-7f", "P-76"]:
        assert move_to_usi(parse_move(Board(), text)) == "7g7f"


def test_a_wrong_move_is_refused() -> None:
    for text, error in [
        ("", MoveError),
        ("７六", MoveError),
        ("同歩", MoveError),
        ("５八金", MoveError),  # Two golds reach it.
        ("G-5h", MoveError),
        ("△３四歩", IllegalMoveError),
        ("７五歩", IllegalMoveError),
        ("７六歩(67)", IllegalMoveError),
        ("７六歩打", IllegalMoveError),
        ("７六玉打", MoveError),
        ("-3334FU", IllegalMoveError),
        ("+7776XX", MoveError),
        ("+7776TO", IllegalMoveError),
        ("7g7e", IllegalMoveError),
        ("+G-5h", MoveError),
        ("歩" * 1000, MoveError),
    ]:
        with pytest.raises(error):
            parse_move(Board(), text)


def test_handicaps_are_those_of_cshogi() -> None:
    kif = pytest.importorskip("cshogi.KIF")
    ours = {handicap.japanese: handicap.sfen for handicap in HANDICAPS}
    theirs = {name: sfen for name, sfen in kif.Parser.HANDYCAP_SFENS.items() if sfen}
    assert theirs == {name: ours[name] for name in theirs}
    for handicap in HANDICAPS:
        assert Board(handicap.sfen).sfen() == handicap.sfen
