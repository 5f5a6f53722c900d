"""SFEN, the one-line text of a shogi position, parsed strictly.

A position that the rules cannot produce is refused with an error that names the field. Sources: the USI draft
of T. Romstad (2007) and the SFENs that GUIs send; python-shogi, cshogi and rsshogi are all more lenient.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from goryu.base.errors import GoryuError
from goryu.base.language import tr
from goryu.games.shogi.pieces import (
    EMPTY,
    HAND_KINDS,
    HAND_LETTERS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTED,
    WHITE_PIECE,
    is_attacked,
    piece_letters,
)

__all__ = ["START_SFEN", "SfenError", "SfenFields", "parse_sfen"]

START_SFEN = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"

MAX_MOVE_NUMBER = 9999
PIECE_TOTALS = (18, 4, 4, 4, 4, 2, 2)
"""The number of P L N S G B R in a set."""

_PIECES = {piece_letters(piece): piece for piece in (*range(1, 15), *range(17, 31))}
_COLOURS = ("black", "white")


class SfenError(GoryuError, ValueError):
    """An SFEN that cannot be read or breaks a rule of shogi. The message is English, as USI wants it.

    field: "fields", "board", "side to move", "hands", "move number" or "position". problem: a text whose
    {names} are those of `values`.
    """

    def __init__(self, field: str, problem: str, received: str, **values: object) -> None:
        super().__init__(f"SFEN {field}: {problem.format(**values)}, received {received[:120]!a}")
        self.field = field
        self._problem, self._values, self._received = problem, values, received[:120]

    def translated(self) -> str:
        """Returns the message in the user's language."""
        values = {
            name: tr(value) if isinstance(value, str) else value for name, value in self._values.items()
        }
        problem = tr(self._problem, **values) if values else tr(self._problem)
        return tr(
            "{field}: {problem}, received {text!r}",
            field=tr(f"SFEN {self.field}"),
            problem=problem,
            text=self._received,
        )


@dataclass(frozen=True, slots=True)
class SfenFields:
    """The fields of an SFEN.

    pieces: 81 piece codes (see `pieces.py`), square order 1a 1b ... 9i.
    turn: 0 black, 1 white.
    hands: black's and white's, each seven counts P L N S G B R.
    move_number: at least 0, as received; 1 if left out.
    """

    pieces: tuple[int, ...]
    turn: int
    hands: tuple[tuple[int, ...], tuple[int, ...]]
    move_number: int

    def __str__(self) -> str:
        """Returns the canonical SFEN: hands in the order R B G S N L P, the move number at least 1."""
        ranks = "/".join(_rank_text(self.pieces[rank::9]) for rank in range(9))
        hands = "".join(_hand_text(hand, colour) for colour, hand in enumerate(self.hands)) or "-"
        return f"{ranks} {'bw'[self.turn]} {hands} {max(1, self.move_number)}"


def parse_sfen(text: str, *, allow_missing_king: bool = False) -> SfenFields:
    """Returns the fields of an SFEN after checking form and rules.

    allow_missing_king: may the side to move lack its king, as in mate problems?

    Raises:
        SfenError: names the field at fault and the text received.
    """
    parts = text.split()
    if len(parts) not in (3, 4):
        raise SfenError("fields", "expected board, side to move, hands and perhaps a move number", text)
    if parts[1] not in ("b", "w"):
        raise SfenError("side to move", "expected b or w", parts[1])
    fields = SfenFields(
        pieces=_parse_board(parts[0]),
        turn="bw".index(parts[1]),
        hands=_parse_hands(parts[2]),
        move_number=_parse_move_number(parts[3]) if len(parts) == 4 else 1,
    )
    _check_rules(fields, text, allow_missing_king)
    return fields


def _parse_board(text: str) -> tuple[int, ...]:
    ranks = text.split("/")
    if len(ranks) != 9:
        raise SfenError("board", "expected 9 ranks, found {count}", text, count=len(ranks))
    pieces = [EMPTY] * 81
    for rank, row in enumerate(ranks):
        squares = _parse_rank(row)
        for column, piece in enumerate(squares):
            pieces[9 * (8 - column) + rank] = piece
    return tuple(pieces)


def _parse_rank(row: str) -> list[int]:
    """Returns the nine pieces of a rank, from file 9 to file 1."""
    squares: list[int] = []
    promoted = ""
    for letter in row:
        if letter == "+" and not promoted:
            promoted = "+"
        elif letter in "123456789" and not promoted:
            squares += [EMPTY] * int(letter)
        elif promoted + letter in _PIECES:
            squares.append(_PIECES[promoted + letter])
            promoted = ""
        else:
            raise SfenError("board", "{found!a} is neither a piece nor 1 to 9", row, found=promoted + letter)
    if promoted:
        raise SfenError("board", "a rank ends with +", row)
    if len(squares) != 9:
        raise SfenError("board", "expected 9 files in each rank, found {count}", row, count=len(squares))
    return squares


def _parse_hands(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    hands = ([0] * 7, [0] * 7)
    digits = ""
    for letter in "" if text == "-" else text:
        if letter in "0123456789":
            digits += letter
            continue
        place = HAND_LETTERS.find(letter.upper())
        if place < 0 or not letter.isascii():
            raise SfenError("hands", "{found!a} is not one of P L N S G B R", text, found=letter)
        if digits.startswith("0") or digits == "1" or len(digits) > 2 or int(digits or 1) > 18:
            problem = "{found}: a count is 2 to 18, and left out if it is 1"
            raise SfenError("hands", problem, text, found=digits[:9] + letter)
        hand = hands[letter.islower()]
        if hand[place]:
            raise SfenError("hands", "{found} appears twice", text, found=letter)
        hand[place] = int(digits or 1)
        digits = ""
    if digits:
        raise SfenError("hands", "no piece follows the count {found}", text, found=digits[:9])
    return tuple(hands[0]), tuple(hands[1])


def _parse_move_number(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= MAX_MOVE_NUMBER:
        return int(text)
    raise SfenError("move number", "expected 0 to {most}", text, most=MAX_MOVE_NUMBER)


def _check_rules(fields: SfenFields, text: str, allow_missing_king: bool) -> None:
    """Raises SfenError if the position breaks a rule of shogi.

    A missing king comes late: in a mate problem it is no fault, and another one would be hidden behind it.
    """
    _check_totals(fields, text)
    _check_pawns(fields, text)
    _check_dead_pieces(fields, text)
    _check_kings(fields, text, allow_missing_king)
    _check_capturable_king(fields, text)


def _check_totals(fields: SfenFields, text: str) -> None:
    kinds = [piece % WHITE_PIECE for piece in fields.pieces]
    for place, (kind, limit) in enumerate(zip(HAND_KINDS, PIECE_TOTALS, strict=True)):
        total = fields.hands[0][place] + fields.hands[1][place] + kinds.count(kind)
        total += kinds.count(kind + PROMOTED) if kind + PROMOTED in _PIECES.values() else 0
        if total > limit:
            problem = "{total} pieces of kind {kind}, at most {limit} exist"
            raise SfenError("position", problem, text, total=total, kind=HAND_LETTERS[place], limit=limit)


def _check_pawns(fields: SfenFields, text: str) -> None:
    for colour, name in enumerate(_COLOURS):
        for file in range(9):
            if fields.pieces[9 * file : 9 * file + 9].count(PAWN + colour * WHITE_PIECE) > 1:
                problem = "{side} has two pawns on file {file} (nifu)"
                raise SfenError("position", problem, text, side=name, file=file + 1)


def _check_dead_pieces(fields: SfenFields, text: str) -> None:
    for square, piece in enumerate(fields.pieces):
        colour, kind = divmod(piece, WHITE_PIECE)
        ranks_ahead = 8 - square % 9 if colour else square % 9
        if kind in (PAWN, LANCE, KNIGHT) and ranks_ahead < (2 if kind == KNIGHT else 1):
            problem = "the {piece} on rank {rank} can never move"
            rank = "abcdefghi"[square % 9]
            raise SfenError("position", problem, text, piece=piece_letters(piece), rank=rank)


def _check_kings(fields: SfenFields, text: str, allow_missing_king: bool) -> None:
    for colour, name in enumerate(_COLOURS):
        kings = fields.pieces.count(KING + colour * WHITE_PIECE)
        if kings > 1:
            raise SfenError("position", "{side} has {kings} kings", text, side=name, kings=kings)
        if kings == 0 and not (allow_missing_king and colour == fields.turn):
            raise SfenError("position", "{side} has no king", text, side=name)


def _check_capturable_king(fields: SfenFields, text: str) -> None:
    waiting = 1 - fields.turn
    king = fields.pieces.index(KING + waiting * WHITE_PIECE)
    if is_attacked(fields.pieces, king, by=fields.turn):
        problem = "{waiting} is in check but {moving} is to move"
        names = {"waiting": _COLOURS[waiting], "moving": _COLOURS[fields.turn]}
        raise SfenError("position", problem, text, **names)


def _rank_text(squares: Sequence[int]) -> str:
    """Returns the SFEN of a rank given from file 1 to file 9."""
    text, empty = "", 0
    for piece in reversed(squares):
        if piece == EMPTY:
            empty += 1
            continue
        text += (str(empty) if empty else "") + piece_letters(piece)
        empty = 0
    return text + (str(empty) if empty else "")


def _hand_text(hand: Sequence[int], colour: int) -> str:
    text = ""
    for place in (6, 5, 4, 3, 2, 1, 0):
        if hand[place]:
            letter = HAND_LETTERS[place].lower() if colour else HAND_LETTERS[place]
            text += (str(hand[place]) if hand[place] > 1 else "") + letter
    return text
