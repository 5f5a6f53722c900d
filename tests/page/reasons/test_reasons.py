"""Reasons in constructed positions, each with the move that was played, the answer and the better line."""

from dataclasses import replace

import pytest

from goryu.analysis.judgement import MoveClass
from goryu.analysis.review import PlyReview
from goryu.games.shogi import move_from_usi, move_to_usi
from goryu.games.shogi.pieces import BISHOP, GOLD, KING, ROOK
from goryu.implementation import Board
from goryu_page.reasons.exchanges import forced
from goryu_page.reasons.reasons import Reason, ReasonKind, Way, reason_of
from goryu_page.reasons.sentences import told_reason
from present import present

HEAD_GOLD = "4k4/9/4P4/9/9/9/9/r8/4K4 {} G 1"
"""Black mates by G*5b."""
CORNER = "4k4/9/9/9/9/9/6+p2/8L/L6NK b g 1"
"""White threatens G*2h; only 2i3g parries it."""

MATES = [
    (HEAD_GOLD.format("w"), "9h8h", "G*5b", "5a4a 5i5h", 1, None, ReasonKind.IGNORES_THREAT),
    (CORNER, "9i9h", "G*2h", "2i3g 5a5b", 1, None, ReasonKind.ONLY_MOVE),
    (HEAD_GOLD.format("b"), "5i4i", "5a4a", "G*5b", None, 1, ReasonKind.MISSES_MATE),
    ("5k3/9/4P4/9/9/9/9/9/4K4 w G 1", "4a5a", "G*5b", "4a3a G*4b", 1, None, ReasonKind.ALLOWS_MATE),
    ("4k4/9/9/4P4/9/9/9/9/4K4 b G 1", "5i5h", "5a4a", "5d5c 5a4a", None, 5, ReasonKind.MISSES_THREAT),
    ("4k4/9/9/9/9/4p4/9/9/L3K4 b g 1", "9i9h", "5f5g", "5i4i 5a5b", None, None, ReasonKind.THREAT),
    ("4k4/9/9/9/9/6+p2/9/8L/L7K b g 1", "9i9h", "3f3g", "1i2h 5a5b", None, None, ReasonKind.BRINKMATE),
]

MATERIAL = [
    ("4k1l2/9/9/9/9/9/9/2R6/4K4 b - 1", "7h3h", "3a3h+", "7h7i 5a5b", Way.PLAIN, ROOK, ()),
    ("4k4/9/9/9/9/9/5K3/3R5/9 b n 1", "6h6g", "N*5e", "6h6i 5a5b", Way.FORK, ROOK, (KING, ROOK)),
    ("k8/9/4r4/9/9/9/4B4/4G4/8K b - 1", "5h5i", "5c5g+", "1i1h 5c5a", Way.DEFENDER, BISHOP, (GOLD,)),
    ("k8/9/4r4/9/4S4/9/4B4/9/8K b - 1", "5e6d", "5c5g+", "1i1h 5c5a", Way.OPEN_LINE, BISHOP, (ROOK,)),
    # The bishop defended the square on which it is taken, but that is not why.
    ("k8/9/9/6g2/6p2/9/4B4/9/8K b - 1", "5g3e", "3d3e", "1i1h 9a9b", Way.PLAIN, BISHOP, ()),
    ("k8/9/4lr3/9/9/9/5B3/4G4/3SKS2L b - 1", "1i1h", "4c4g+", "4g1d 9a9b", Way.PIN, BISHOP, (GOLD,)),
]


def judged(move: str, answer: str, better: str) -> PlyReview:
    return PlyReview(
        1, 0, move, 0.6, 0.2, 0.4, MoveClass.BLUNDER, better.split()[0], tuple(better.split()),
        (answer,), 0.1, 10, 2, None, None, True,
    )  # fmt: skip


@pytest.mark.parametrize(("sfen", "played", "answer", "better", "allows", "misses", "kind"), MATES)
def test_mates_and_threats_of_mate_are_proved(
    sfen: str, played: str, answer: str, better: str, allows: int | None, misses: int | None, kind: ReasonKind
) -> None:
    ply = replace(judged(played, answer, better), allows_mate=allows, missed_mate=misses)
    board = Board(sfen)
    assert present(reason_of(board, ply)).kind is kind
    assert board.sfen() == sfen


@pytest.mark.parametrize(("sfen", "played", "answer", "better", "way", "lost", "pieces"), MATERIAL)
def test_material_that_is_lost_by_force_is_named(
    sfen: str, played: str, answer: str, better: str, way: Way, lost: int, pieces: tuple[int, ...]
) -> None:
    reason = present(reason_of(Board(sfen), judged(played, answer, better)))
    assert (reason.kind, reason.move, reason.way) == (ReasonKind.LOSES, answer, way)
    assert (reason.lost[0], reason.pieces) == (lost, pieces)


def test_a_gain_that_was_there_is_missed() -> None:
    board = Board("4k4/9/9/9/2g6/9/2L6/9/4K4 b - 1")
    reason = present(reason_of(board, judged("5i5h", "5a5b", "7g7e 5a5b")))
    assert reason == Reason(ReasonKind.MISSES_GAIN, "7g7e", True, lost=(GOLD,))


def test_nothing_is_said_of_what_the_better_move_loses_too() -> None:
    board = Board("4k1l2/9/9/9/9/9/9/6R2/4K4 b - 1")  # The rook is attacked before both moves.
    assert reason_of(board, judged("5i5h", "3a3h+", "5i6h 3a3h+")) is None


@pytest.mark.parametrize(
    ("sfen", "move", "gain", "line"),
    [
        ("4k4/9/4r4/9/9/9/9/9/4LK3 b - 1", "5i5c+", 2205, "5i5c+ 5a4a"),
        ("3k5/9/9/2r1b4/9/9/9/4K4/9 b N 1", "N*4f", -405, "N*4f 7d7h+ 5h4g"),  # A check comes between.
        ("4k4/9/9/9/4r4/9/4G4/4K4/4L4 b - 1", "5g5f", -1080, "5g5f 5e5f 5h4h"),
    ],
)
def test_the_best_reply_to_a_gain_is_found(sfen: str, move: str, gain: int, line: str) -> None:
    exchange = forced(Board(sfen), move_from_usi(move))
    assert (exchange.gain, " ".join(map(move_to_usi, exchange.line))) == (gain, line)


@pytest.mark.parametrize(
    ("position", "english", "japanese"),
    [
        (MATERIAL[0], "Lx3h+ wins a rook.", "△同　香成で飛車を取られます。"),
        (
            MATERIAL[1],
            "N*5e gives check and attacks the rook. N*5e wins a rook for a knight.",
            "△５五桂は王手飛車取りです。△５五桂から飛車と桂の交換で駒損になります。",
        ),
        (
            MATERIAL[2],
            "The gold no longer defends. Rx5g+ wins a bishop.",
            "金が守りから離れました。△５七飛成で角を取られます。",
        ),
    ],
)
def test_a_reason_is_told_in_both_languages(
    position: tuple[str, str, str, str, Way, int, tuple[int, ...]], english: str, japanese: str
) -> None:
    told = told_reason(Board(position[0]), judged(*position[1:4]))
    assert told == {"en": english, "ja": japanese}


def test_a_good_move_has_no_reason() -> None:
    ply = replace(judged(*MATERIAL[0][1:4]), kind=MoveClass.GOOD)
    assert told_reason(Board(MATERIAL[0][0]), ply) is None
