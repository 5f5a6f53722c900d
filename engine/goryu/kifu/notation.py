"""Moves as people write them: ▲７六歩 (Japanese), ７六歩(77) (KIF), +7776FU (CSA), P-7f (Western), USI.

Japanese disambiguation follows the Japan Shogi Association: 上, 寄 or 引 if one of them is enough, else 直
for a piece like gold or silver that steps straight ahead, else 左 or 右, else both. Like other programs, it
counts pieces that are pinned. Source: https://www.shogi.or.jp/faq/kihuhyouki.html.
"""

import re
import unicodedata
from collections.abc import Sequence

from goryu.base.language import either, language, tr
from goryu.games.shogi import (
    IllegalMoveError,
    MoveError,
    dropped_piece,
    is_drop,
    is_promotion,
    make_drop,
    make_move,
    move_from,
    move_from_usi,
    move_to,
    move_to_usi,
)
from goryu.games.shogi.move import DROP_LETTERS, SQUARE_NAMES
from goryu.games.shogi.pieces import (
    BISHOP,
    GOLD,
    KING,
    PROMOTED,
    ROOK,
    WHITE_PIECE,
    attacks,
    piece_letters,
)
from goryu.games.state import Move
from goryu.implementation import Board

FILES = "１２３４５６７８９"
RANKS = "一二三四五六七八九"
SIGNS = "▲△"
KANJI = ("", "歩", "香", "桂", "銀", "角", "飛", "金", "玉", "と", "成香", "成桂", "成銀", "馬", "龍")
"""The name of each kind of piece; see `games/shogi/pieces.py`."""
CSA_NAMES = (
    "", "FU", "KY", "KE", "GI", "KA", "HI", "KI", "OU", "TO", "NY", "NK", "NG", "UM", "RY",
)  # fmt: skip
"""CSA's name of each kind of piece."""

PROMOTING = range(1, GOLD)
"""The kinds that promote."""

DROP_KINDS = (1, 2, 3, 4, 5, 6, 7)
"""The kind of dropped piece k (P L N S B R G)."""

KIND_OF_KANJI = {name: kind for kind, name in enumerate(KANJI) if name} | {
    "王": KING, "杏": 10, "圭": 11, "全": 12, "竜": ROOK + PROMOTED, "成角": BISHOP + PROMOTED,
    "成飛": ROOK + PROMOTED, "成歩": 9, "个": 9,
}  # fmt: skip

KIND_OF_LETTERS = {piece_letters(kind): kind for kind in range(1, 15)}

FORWARD, SIDEWAYS, BACK = "上", "寄", "引"
DIRECTIONS = {"上": FORWARD, "行": FORWARD, "入": FORWARD, "寄": SIDEWAYS, "引": BACK}

_PIECE = "成[香桂銀角飛歩]|[歩香桂銀金角飛玉王と杏圭全馬龍竜个]"
_JAPANESE = re.compile(
    rf"(?P<sign>[▲△☗☖▼▽])?\s*(?P<to>同|[1-9][1-9一二三四五六七八九]同?)\s*(?P<piece>{_PIECE})\s*"
    r"(?P<relative>[左直右]?\s*[上行入寄引]?)\s*(?P<promotion>成|不成|生)?\s*(?P<drop>打)?\s*"
    r"(\((?P<origin>[0-9]{2})\))?"
)
_WESTERN = re.compile(
    r"(?P<piece>\+?[PLNSGBRK])(?P<origin>[1-9][a-i1-9])?(?P<how>[-x*'])(?P<to>[1-9][a-i1-9])(?P<promotion>[+=])?"
)
_CSA = re.compile(r"(?P<sign>[+-])?(?P<origin>00|[1-9]{2})(?P<to>[1-9]{2})(?P<piece>[A-Z]{2})")
_USI = re.compile(r"([1-9][a-i]){2}\+?|[PLNSGBRplnsgbr]\*[1-9][a-i]")


class AmbiguousMoveError(MoveError):
    """A text that fits several legal moves; `moves`: in the user's notation and in USI."""

    def __init__(self, board: Board, text: str, moves: Sequence[Move]) -> None:
        write = japanese_move if language() == "ja" else western_move
        self.moves = ", ".join(f"{write(board, move)} ({move_to_usi(move)})" for move in moves)
        super().__init__(tr("{text!r} may be {moves}", text=text.strip()[:80], moves=self.moves))


def japanese_move(board: Board, move: Move) -> str:
    """Returns a legal move in Japanese, such as ▲７六歩, △同　銀, ▲５八金右 or ▲２二角不成.

    board: the position before the move; the last move of its history decides about 同.
    """
    kind = _kind(board, move)
    text = SIGNS[board.turn] + _target(board, move) + KANJI[kind] + _relative(board, move, kind)
    if is_drop(move):
        text += "打" if _attackers(board, move_to(move), kind) else ""
    elif is_promotion(move):
        text += "成"
    elif _may_promote(board, move, kind):
        text += "不成"
    return text


def kif_move(board: Board, move: Move) -> str:
    """Returns a legal move as KIF writes it: ７六歩(77), 同　銀成(31) or ４五角打."""
    text = _target(board, move) + KANJI[_kind(board, move)]
    if is_drop(move):
        return text + "打"
    return text + ("成" if is_promotion(move) else "") + f"({_digits(move_from(move))})"


def csa_move(board: Board, move: Move) -> str:
    """Returns a legal move as CSA writes it, such as +7776FU; the piece is that after the move."""
    kind = _kind(board, move) + (PROMOTED if is_promotion(move) else 0)
    origin = "00" if is_drop(move) else _digits(move_from(move))
    return "+-"[board.turn] + origin + _digits(move_to(move)) + CSA_NAMES[kind]


def western_move(board: Board, move: Move) -> str:
    """Returns a legal move in Western notation: P-7f, Bx2b+, S*5e, G6i-7h; = declines a promotion."""
    kind, to = _kind(board, move), move_to(move)
    letters = piece_letters(kind)
    if is_drop(move):
        return f"{letters}*{SQUARE_NAMES[to]}"
    origin = SQUARE_NAMES[move_from(move)] if len(_attackers(board, to, kind)) > 1 else ""
    how = "x" if board.pieces[to] else "-"
    promotion = "+" if is_promotion(move) else "=" if _may_promote(board, move, kind) else ""
    return f"{letters}{origin}{how}{SQUARE_NAMES[to]}{promotion}"


def parse_move(board: Board, text: str, *, must_say_promotion: bool = False) -> Move:
    """Returns the legal move of a text in Japanese, KIF, CSA, USI or Western notation.

    Full-width and half-width letters are the same, and the sign of the side may be left out.

    must_say_promotion: is a Japanese or Western move ambiguous that may promote and does not say whether it
        does? Records often leave 不成 out; a person at a board may have forgotten 成.

    Raises:
        MoveError: the text is in none of these notations.
        AmbiguousMoveError: it fits several moves.
        IllegalMoveError: the position does not allow the move.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    for pattern, find in ((_USI, _from_usi), (_CSA, _from_csa)):
        if match := pattern.fullmatch(plain):
            return _checked(board, find(board, match), text)
    if match := _WESTERN.fullmatch(plain):
        return _from_western(board, match, must_say_promotion)
    if match := _JAPANESE.fullmatch(plain):
        return _from_japanese(board, match, text, must_say_promotion)
    raise MoveError(
        tr("expected a move such as ▲７六歩, ７六歩(77), 7g7f or P-7f, received {text!r}", text=text[:80])
    )


def _illegal(text: str) -> IllegalMoveError:
    return IllegalMoveError(tr("{move!r} is not legal", move=text.strip()[:80]))


def _not_in_turn(text: str) -> IllegalMoveError:
    return IllegalMoveError(tr("{move!r}: it is the other side's turn", move=text.strip()[:80]))


def _not_a_piece(text: str, piece: str) -> MoveError:
    return MoveError(tr("{move!r}: {piece} is not a piece", move=text[:80], piece=piece))


def _other_piece(text: str, found: str, square: str) -> IllegalMoveError:
    """Returns the error of a move whose square has another piece, or none (found: "")."""
    problem = "{move!r}: there is {found} on {square}" if found else "{move!r}: there is no piece on {square}"
    place = either(square, _japanese_square(_square(square)))
    return IllegalMoveError(tr(problem, move=text.strip()[:80], found=found, square=place))


def _checked(board: Board, move: Move, text: str) -> Move:
    if not board.is_legal(move):
        raise _illegal(text)
    return move


def _from_usi(board: Board, match: re.Match[str]) -> Move:
    text = match[0]
    return move_from_usi(text[0].upper() + text[1:])


def _from_csa(board: Board, match: re.Match[str]) -> Move:
    if match["sign"] and "+-".index(match["sign"]) != board.turn:
        raise _not_in_turn(match[0])
    if match["piece"] not in CSA_NAMES:
        raise _not_a_piece(match[0], match["piece"])
    kind, to = CSA_NAMES.index(match["piece"]), _square(match["to"])
    if match["origin"] == "00":
        return _drop_of(kind, to, match[0])
    origin = _square(match["origin"])
    before = board.pieces[origin] % WHITE_PIECE
    if before not in (kind, kind - PROMOTED) or not before:
        raise _other_piece(match[0], CSA_NAMES[before], match["origin"])
    return _distinct(origin, to, before != kind, match[0])


def _from_western(board: Board, match: re.Match[str], must_say_promotion: bool) -> Move:
    letters, to = match["piece"], _square(match["to"])
    if letters not in KIND_OF_LETTERS:
        raise _not_a_piece(match[0], letters)
    kind = KIND_OF_LETTERS[letters]
    if match["how"] in "*'":
        return _checked(board, _drop_of(kind, to, match[0]), match[0])
    choices = _promotions(match["promotion"], "+", must_say_promotion)
    if match["origin"]:
        origin = _square(match["origin"])
        if board.pieces[origin] % WHITE_PIECE != kind:
            raise _other_piece(match[0], KANJI[board.pieces[origin] % WHITE_PIECE], match["origin"])
        return _only(board, [_distinct(origin, to, promote, match[0]) for promote in choices], match[0])
    origins = _origins(board, to, kind)
    moves = [make_move(origin, to, promotes) for origin in origins for promotes in choices]
    return _only(board, moves, match[0])


def _promotions(said: str | None, promotes: str, must_say: bool) -> tuple[bool, ...]:
    """Returns whether the move promotes; both if the text should say it and does not."""
    return (False, True) if must_say and said is None else (said == promotes,)


def _from_japanese(board: Board, match: re.Match[str], text: str, must_say_promotion: bool) -> Move:
    if match["sign"] and (match["sign"] in "△☖▽") != (board.turn == 1):
        raise _not_in_turn(text)
    kind, to = KIND_OF_KANJI[match["piece"]], _japanese_target(board, match["to"], text)
    promote = match["promotion"] == "成"
    if match["drop"] or match["origin"] == "00":
        return _checked(board, _drop_of(kind, to, text), text)
    if match["origin"]:
        return _checked(board, _from_origin(board, match["origin"], kind, to, promote, text), text)
    origins = _filtered(board, _origins(board, to, kind), to, match["relative"].replace(" ", ""))
    choices = _promotions(match["promotion"], "成", must_say_promotion)
    moves = [make_move(origin, to, promotes) for origin in origins for promotes in choices]
    if not moves and not match["relative"].strip() and not match["promotion"] and kind <= GOLD:
        return _checked(board, _drop_of(kind, to, text), text)
    return _only(board, moves, text)


def _from_origin(board: Board, digits: str, kind: int, to: int, promote: bool, text: str) -> Move:
    """Returns the move of KIF, whose piece must be on the square that the text names."""
    origin = _square(digits)
    found = board.pieces[origin] % WHITE_PIECE
    if found != kind:
        raise _other_piece(text, KANJI[found], digits)
    return _distinct(origin, to, promote, text)


def _distinct(origin: int, to: int, promote: bool, text: str) -> Move:
    if origin == to:
        raise MoveError(tr("{text!r}: the piece does not move", text=text.strip()[:80]))
    return make_move(origin, to, promote)


def _drop_of(kind: int, to: int, text: str) -> Move:
    if kind not in DROP_KINDS:
        raise MoveError(tr("{text!r}: this piece cannot be dropped", text=text.strip()[:80]))
    letter = piece_letters(kind)
    return make_drop(DROP_LETTERS.index(letter), to)


def _only(board: Board, moves: Sequence[Move], text: str) -> Move:
    """Returns the one legal move among the candidates."""
    legal = [move for move in moves if board.is_legal(move)]
    if not legal:
        raise _illegal(text)
    if len(legal) > 1:
        raise AmbiguousMoveError(board, text, legal)
    return legal[0]


def _square(digits: str) -> int:
    """Returns the square of "77" or "7g"."""
    rank = digits[1]
    return 9 * (int(digits[0]) - 1) + (int(rank) - 1 if rank.isdigit() else "abcdefghi".index(rank))


def _digits(square: int) -> str:
    return f"{square // 9 + 1}{square % 9 + 1}"


def _japanese_target(board: Board, text: str, whole: str) -> int:
    if text != "同":
        rank = text[1]
        return 9 * (int(text[0]) - 1) + (RANKS.index(rank) if rank in RANKS else int(rank) - 1)
    if not board.move_stack:
        raise MoveError(tr("{text!r}: 同 needs a move before it", text=whole.strip()[:80]))
    return move_to(board.move_stack[-1])


def _target(board: Board, move: Move) -> str:
    to = move_to(move)
    if board.move_stack and move_to(board.move_stack[-1]) == to:
        return "同　"
    return _japanese_square(to)


def _japanese_square(square: int) -> str:
    return FILES[square // 9] + RANKS[square % 9]


def _kind(board: Board, move: Move) -> int:
    """Returns the kind of the piece that moves, before a promotion."""
    return DROP_KINDS[dropped_piece(move)] if is_drop(move) else board.pieces[move_from(move)] % WHITE_PIECE


def _may_promote(board: Board, move: Move, kind: int) -> bool:
    zone = range(6, 9) if board.turn else range(3)
    return kind in PROMOTING and (move_from(move) % 9 in zone or move_to(move) % 9 in zone)


def _attackers(board: Board, to: int, kind: int) -> list[int]:
    """Returns the squares from which a piece of this kind of the side to move attacks `to`, pinned or not."""
    piece, pieces = kind + WHITE_PIECE * board.turn, board.pieces
    return [square for square in range(81) if pieces[square] == piece and attacks(pieces, square, to)]


def _origins(board: Board, to: int, kind: int) -> list[int]:
    """Returns the squares from which a piece of this kind, of the side to move, can legally move to `to`."""
    piece, pieces = kind + WHITE_PIECE * board.turn, board.pieces
    found = {
        move_from(move)
        for move in board.all_legal_moves()
        if move_to(move) == to and not is_drop(move) and pieces[move_from(move)] == piece
    }
    return sorted(found)


def _relative(board: Board, move: Move, kind: int) -> str:
    """Returns 右, 左, 直, 上, 寄, 引 or two of them, where another piece of the kind can move there too."""
    if is_drop(move):
        return ""
    origin, to, turn = move_from(move), move_to(move), board.turn
    others = [square for square in _attackers(board, to, kind) if square != origin]
    if not others:
        return ""
    direction = _direction(origin, to, turn)
    same = [square for square in others if _direction(square, to, turn) == direction]
    if not same:
        return direction
    if _is_straight(origin, to, turn) and kind % PROMOTED not in (BISHOP, ROOK):
        return "直"
    return _side(origin, others, turn) or _side(origin, same, turn) + direction


def _direction(origin: int, to: int, turn: int) -> str:
    ahead = (origin % 9 - to % 9) * (-1 if turn else 1)
    return FORWARD if ahead > 0 else BACK if ahead < 0 else SIDEWAYS


def _is_straight(origin: int, to: int, turn: int) -> bool:
    return origin // 9 == to // 9 and _direction(origin, to, turn) == FORWARD


def _side(origin: int, others: Sequence[int], turn: int) -> str:
    """Returns 左 or 右 if the square is further to that side than all the others, else an empty text."""
    lefts = [(square // 9 - origin // 9) * (-1 if turn else 1) for square in others]
    return "左" if all(left < 0 for left in lefts) else "右" if all(left > 0 for left in lefts) else ""


def _filtered(board: Board, origins: list[int], to: int, relative: str) -> list[int]:
    """Returns the squares that the words 右, 左, 直, 上 (行, 入), 寄 and 引 leave over."""
    turn = board.turn
    for word in relative:
        if direction := DIRECTIONS.get(word):
            origins = [square for square in origins if _direction(square, to, turn) == direction]
    if "直" in relative:
        origins = [square for square in origins if _is_straight(square, to, turn)]
    if origins and ("左" in relative or "右" in relative):
        furthest = max if ("左" in relative) == (turn == 0) else min
        file = furthest(square // 9 for square in origins)
        origins = [square for square in origins if square // 9 == file]
    return origins
