"""Names the opening (戦型) and the castles (囲い) of a game that starts from the usual position.

No library with a fitting licence does this, so here is a table. A castle is a set of pieces on squares, as in
every textbook; of the castles that a player had, the one with the most pieces is named. The opening follows
from the rook: it is static (居飛車) or ranges to the 5th to 8th file (振り飛車). Where both are static, the
exchange of bishops, the pawn that a rook takes on the 3rd file, and the squares of the silvers decide.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from goryu.games.shogi import START_SFEN
from goryu.games.shogi.pieces import PAWN, ROOK, SILVER, WHITE_PIECE
from goryu.implementation import Board

OPENING_PLIES = 40
"""The opening is decided by the first moves ..."""
CASTLE_PLIES = 100
"""... and castles are built within this many."""
ROOK_SETTLED = 10
"""Before this ply the rook may still be on its way."""
LEAST_PLIES = 14
"""A shorter game has no name: nothing is decided."""


class Name(NamedTuple):
    """A name in two languages."""

    japanese: str
    english: str


@dataclass(frozen=True, slots=True)
class Strategies:
    """opening: of the game, None if unknown. castles: black's and white's, None if there is none."""

    opening: Name | None
    castles: tuple[Name | None, Name | None]


CASTLES = (
    ("K2h S3h G4i G5h S4g", Name("ダイヤモンド美濃", "Diamond Mino")),
    ("K2h S3h G4i G5h", Name("美濃囲い", "Mino")),
    ("K2h S3h G4i G4g", Name("高美濃囲い", "High Mino")),
    ("K2h S3h G4i", Name("片美濃囲い", "Half Mino")),
    ("K2h G3h S4h", Name("金美濃囲い", "Gold Mino")),
    ("K2h G3h S4g", Name("木村美濃", "Kimura Mino")),
    ("K2h S2g G3h G4g", Name("銀冠", "Silver Crown")),
    ("K2h S2g G3h", Name("片銀冠", "Half Silver Crown")),
    ("K8h S8g G7h G6g", Name("銀冠", "Silver Crown")),
    ("K8h S8g G7h", Name("片銀冠", "Half Silver Crown")),
    ("K1i L1h N2i S2h", Name("穴熊", "Anaguma")),
    ("K1i L1h N2i S2g G3h", Name("銀冠穴熊", "Silver Crown Anaguma")),
    ("K9i L9h N8i S8h", Name("居飛車穴熊", "Static Rook Anaguma")),
    ("K9i L9h N8i S8h S7i G7h G6g", Name("松尾流穴熊", "Matsuo Anaguma")),
    ("K9i L9h N8i S8g G7h", Name("銀冠穴熊", "Silver Crown Anaguma")),
    ("K8h G7h S7g G6g", Name("矢倉", "Yagura")),
    ("K8h G7h S7g G6g S5g", Name("総矢倉", "Complete Yagura")),
    ("K8h G7h S7g S6g", Name("銀矢倉", "Silver Yagura")),
    ("K8h G7h S7g G6g S6f", Name("菱矢倉", "Diamond Yagura")),
    ("K7h G6h S7g G6g", Name("片矢倉", "Half Yagura")),
    ("K6i G7h S6h G5h", Name("カニ囲い", "Crab")),
    ("K7h S7i G6i G5h", Name("舟囲い", "Boat")),
    ("K8h S7h G6i", Name("左美濃", "Left Mino")),
    ("K8h S7h G6i G5h", Name("左美濃", "Left Mino")),
    ("K8g S7h G6i", Name("天守閣美濃", "Tower Mino")),
    ("K7h S6h G7i", Name("エルモ囲い", "Elmo")),
    ("S6g S5g G7h", Name("雁木囲い", "Snow Roof")),
    ("K4h R2i G7h", Name("右玉", "Right King")),
    ("K3h R2i G7h", Name("右玉", "Right King")),
    ("K5h G7h G3h", Name("中住まい", "Central King")),
    ("K6i G5i G7h S4h", Name("中原囲い", "Nakahara")),
    ("K3h G4h G5h", Name("金無双", "Gold Fortress")),
)
"""Pieces and squares of a black castle, and its name."""

RANGING = {
    5: Name("中飛車", "Central Rook"),
    6: Name("四間飛車", "Fourth-File Rook"),
    7: Name("三間飛車", "Third-File Rook"),
    8: Name("向かい飛車", "Opposing Rook"),
}
"""By the file of a black rook."""

SIDE_PAWN = Name("横歩取り", "Side Pawn Capture")
BISHOP_EXCHANGE = Name("角換わり", "Bishop Exchange")
DOUBLE_WING = Name("相掛かり", "Double Wing Attack")
FORTRESS = Name("矢倉", "Yagura")
SNOW_ROOF = Name("雁木", "Snow Roof")
DOUBLE_STATIC = Name("相居飛車", "Double Static Rook")
DOUBLE_RANGING = Name("相振り飛車", "Double Ranging Rook")
SIDES = (Name("先手", "Black"), Name("後手", "White"))

LETTERS = " PLNSBRGK"
EARLY_BISHOPS = 36
"""Bishops in both hands this early were exchanged on purpose."""


def strategies_of(start: str, moves: Sequence[str]) -> Strategies:
    """Returns the names for a game. start: SFEN. moves: in USI, legal."""
    if start.split()[:3] != START_SFEN.split()[:3]:
        return Strategies(None, (None, None))
    positions = list(_views(moves[:CASTLE_PLIES]))
    return Strategies(_opening(positions), (_castle(positions, 0), _castle(positions, 1)))


class _View(NamedTuple):
    """A position: for each side its pieces by square, as if it were black; and its hand, P L N S G B R."""

    pieces: tuple[dict[str, int], dict[str, int]]
    hands: tuple[tuple[int, ...], tuple[int, ...]]


def _views(moves: Sequence[str]) -> list[_View]:
    board = Board()
    views = [_view(board)]
    for move in moves:
        board.push_usi(move)
        views.append(_view(board))
    return views


def _view(board: Board) -> _View:
    sides: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for square, piece in enumerate(board.pieces):
        if piece:
            colour, kind = divmod(piece, WHITE_PIECE)
            file, rank = divmod(80 - square if colour else square, 9)
            sides[colour][f"{file + 1}{'abcdefghi'[rank]}"] = kind
    return _View(sides, board.hands)


def _castle(positions: Sequence[_View], side: int) -> Name | None:
    """Returns the castle with the most pieces that the side had, the earliest of equals in the table."""
    best: tuple[int, Name | None] = (0, None)
    for pieces, name in CASTLES:
        wanted = [(word[1:], LETTERS.index(word[0])) for word in pieces.split()]
        if len(wanted) > best[0] and any(
            all(view.pieces[side].get(square) == kind for square, kind in wanted) for view in positions
        ):
            best = len(wanted), name
    return best[1]


def _opening(positions: Sequence[_View]) -> Name | None:
    if len(positions) <= LEAST_PLIES:
        return None
    early = positions[: OPENING_PLIES + 1]
    files = (_rook_file(early, 0), _rook_file(early, 1))
    ranging = [RANGING.get(file) for file in files]
    if all(ranging):
        return DOUBLE_RANGING
    for side, name in enumerate(ranging):
        if name is not None:
            return Name(SIDES[side].japanese + name.japanese, f"{name.english} ({SIDES[side].english})")
    return _static_opening(early)


def _rook_file(positions: Sequence[_View], side: int) -> int:
    """Returns the file on which the side's rook mostly is, as if the side were black; 0 for none."""
    files = Counter(
        int(square[0])
        for view in positions[ROOK_SETTLED:]
        for square, kind in view.pieces[side].items()
        if kind == ROOK
    )
    return files.most_common(1)[0][0] if files else 0


def _static_opening(positions: Sequence[_View]) -> Name:
    if any(_took_side_pawn(view, side) for view in positions[:EARLY_BISHOPS] for side in (0, 1)):
        return SIDE_PAWN
    bishop = 5  # Its place in a hand.
    if any(all(hand[bishop] for hand in view.hands) for view in positions[:EARLY_BISHOPS]):
        return BISHOP_EXCHANGE
    tenth = positions[min(10, len(positions) - 1)]
    if all(side.get("7g") == PAWN and side.get("2g") != PAWN for side in tenth.pieces):
        return DOUBLE_WING
    for name, silver, pawn in ((FORTRESS, "7g", "7f"), (SNOW_ROOF, "6g", "6f")):
        for view in positions:
            if any(side.get(silver) == SILVER and side.get(pawn) == PAWN for side in view.pieces):
                return name
    return DOUBLE_STATIC


def _took_side_pawn(view: _View, side: int) -> bool:
    """Is the side's rook where it has just taken the pawn on the third file?"""
    return view.pieces[side].get("3d") == ROOK
