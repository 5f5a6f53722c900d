"""Move generation: the legal moves of a position, and those that give check.

python-shogi plays every move to see whether it leaves the king in check. Here the pieces that shield the
king are found first, and move only along their lines.
"""

import shogi

from goryu.games.shogi.position import KIND, OUR_SQUARE, ROW_SQUARE, Position, between, row_move
from goryu.games.state import Move

__all__ = ["checking_moves", "is_legal", "legal_moves"]

ZONE = (
    shogi.BB_RANK_A | shogi.BB_RANK_B | shogi.BB_RANK_C,
    shogi.BB_RANK_G | shogi.BB_RANK_H | shogi.BB_RANK_I,
)
"""The three ranks in which each colour promotes."""

LAST_RANK = (shogi.BB_RANK_A, shogi.BB_RANK_I)
LAST_TWO_RANKS = (shogi.BB_RANK_A | shogi.BB_RANK_B, shogi.BB_RANK_H | shogi.BB_RANK_I)

PROMOTING = (shogi.PAWN, shogi.LANCE, shogi.KNIGHT, shogi.SILVER, shogi.BISHOP, shogi.ROOK)

DROPS = tuple((81 + k << 7, shogi.PIECE_SYMBOLS.index(letter)) for k, letter in enumerate("plnsbrg"))
"""The from part of a drop and the piece type dropped."""

DROP_KINDS = tuple(KIND[piece_type] for _, piece_type in DROPS)
"""Our kind of dropped piece k."""


def _dead_squares(colour: int) -> list[int]:
    """Returns by piece type the squares on which an unpromoted piece could never move again."""
    dead = [0] * 15
    dead[shogi.PAWN] = dead[shogi.LANCE] = LAST_RANK[colour]
    dead[shogi.KNIGHT] = LAST_TWO_RANKS[colour]
    return dead


def _pointless_squares(colour: int) -> list[int]:
    """Returns by piece type the squares on which a piece that may promote gains nothing by not promoting."""
    pointless = _dead_squares(colour)
    pointless[shogi.PAWN] = pointless[shogi.BISHOP] = pointless[shogi.ROOK] = shogi.BB_ALL
    pointless[shogi.LANCE] = LAST_TWO_RANKS[colour]
    return pointless


DEAD = (_dead_squares(0), _dead_squares(1))
POINTLESS = (_pointless_squares(0), _pointless_squares(1))


def legal_moves(position: Position, all_moves: bool = True) -> list[Move]:
    """Returns the legal moves in ascending order.

    all_moves: list the pointless non-promotions too (see `Rules.all_moves`).
    """
    us = position.turn
    king = position.king_squares[us]
    targets = shogi.BB_ALL & ~position.occupied.by_color[us]
    drop_targets = shogi.BB_ALL & ~position.occupied.bits
    moves: list[Move] = []
    pinned: dict[int, int] = {}
    if king is not None:
        _king_moves(position, king, moves)
        checkers = position.attackers(us ^ 1, king)
        if checkers & (checkers - 1):
            targets = drop_targets = 0  # Two checks: only the king can move.
        elif checkers:
            drop_targets = between(king, checkers.bit_length() - 1)
            targets = drop_targets | checkers
        pinned = position.blockers(king, us ^ 1, us)
    if targets:
        _board_moves(position, targets, pinned, all_moves, moves)
        _drops(position, drop_targets, moves)
    moves.sort()
    return moves


def is_legal(position: Position, move: Move) -> bool:
    """Is the move legal, a pointless non-promotion included?

    For a single move this is faster than a search in `legal_moves`.
    """
    if not (0 <= move < 1 << 15 and move & 0x7F < 81 and move >> 7 & 0x7F < 88):
        return False
    row = row_move(move)
    # python-shogi accepts a drop on an opponent's piece.
    if row.drop_piece_type and (move >> 14 or position.pieces[row.to_square]):
        return False
    if not position.is_pseudo_legal(row):
        return False
    position.push(row)
    own_king = position.king_squares[position.turn ^ 1]
    legal = not (own_king is not None and position.attackers(position.turn, own_king)) and not (
        row.drop_piece_type == shogi.PAWN and position.is_check() and not legal_moves(position)
    )
    position.pop()
    return legal


def checking_moves(position: Position, moves: list[Move]) -> list[Move]:
    """Returns those of the given legal moves that give check, in their order."""
    us = position.turn
    king = position.king_squares[us ^ 1]
    if king is None:
        return []
    direct: dict[int, int] = {}  # By our kind: the squares from which such a piece attacks the king.
    for piece_type in shogi.PIECE_TYPES:
        direct[KIND[piece_type]] = shogi.Board.attacks_from(piece_type, king, position.occupied, us ^ 1)
    shields = position.blockers(king, us, us)
    codes = position.piece_codes()
    checks: list[Move] = []
    for move in moves:
        origin = move >> 7 & 0x7F
        to_bit = 1 << ROW_SQUARE[move & 0x7F]
        if origin >= 81:
            if direct[DROP_KINDS[origin - 81]] & to_bit:
                checks.append(move)
            continue
        kind = codes[origin] % 16 + (8 if move >> 14 else 0)
        line = shields.get(1 << ROW_SQUARE[origin], shogi.BB_ALL)
        if direct[kind] & to_bit or not line & to_bit:
            checks.append(move)
    return checks


def _king_moves(position: Position, king: int, moves: list[Move]) -> None:
    us = position.turn
    origin = OUR_SQUARE[king] << 7
    targets = shogi.BB_KING_ATTACKS[king] & ~position.occupied.by_color[us]
    # The king does not shield the squares behind it from a long-range piece.
    position.occupied.ixor(1 << king, us, king)
    while targets:
        bit = targets & -targets
        targets ^= bit
        to = bit.bit_length() - 1
        if not position.attackers(us ^ 1, to):
            moves.append(Move(origin | OUR_SQUARE[to]))
    position.occupied.ixor(1 << king, us, king)


def _board_moves(
    position: Position, targets: int, pinned: dict[int, int], all_moves: bool, moves: list[Move]
) -> None:
    """Adds the moves of all pieces but the king."""
    us = position.turn
    types, occupied, zone = position.pieces, position.occupied, ZONE[us]
    unwanted = (DEAD if all_moves else POINTLESS)[us]
    movers = occupied.by_color[us] & ~position.piece_bb[shogi.KING]
    while movers:
        bit = movers & -movers
        movers ^= bit
        row_square = bit.bit_length() - 1
        piece_type = types[row_square]
        reach = shogi.Board.attacks_from(piece_type, row_square, occupied, us) & targets
        reach &= pinned.get(bit, shogi.BB_ALL)
        if not reach:
            continue
        origin = OUR_SQUARE[row_square] << 7
        if piece_type in PROMOTING:
            promoting = reach if bit & zone else reach & zone
            _add(origin | 1 << 14, promoting, moves)
            reach &= ~(promoting & unwanted[piece_type])
        _add(origin, reach, moves)


def _add(move_part: int, targets: int, moves: list[Move]) -> None:
    """Adds a move to every target; `move_part` is the move without its destination."""
    while targets:
        bit = targets & -targets
        targets ^= bit
        moves.append(Move(move_part | OUR_SQUARE[bit.bit_length() - 1]))


def _drops(position: Position, targets: int, moves: list[Move]) -> None:
    us = position.turn
    hand = position.pieces_in_hand[us]
    if not hand or not targets:
        return
    for move_part, piece_type in DROPS:
        if hand[piece_type] > 0:
            allowed = targets & ~DEAD[us][piece_type]
            if piece_type == shogi.PAWN:
                allowed &= ~_pawn_files(position, us)
                allowed &= ~_mating_pawn_drop(position, allowed)
            _add(move_part, allowed, moves)


def _pawn_files(position: Position, us: int) -> int:
    """Returns the files on which a second pawn may not be dropped (nifu, 二歩)."""
    pawns = position.piece_bb[shogi.PAWN] & position.occupied.by_color[us]
    mask = 0
    for file in shogi.BB_FILES:
        if pawns & file:
            mask |= file
    return mask


def _mating_pawn_drop(position: Position, allowed: int) -> int:
    """Returns the square on which a dropped pawn would mate (uchifuzume, 打ち歩詰め), or 0.

    python-shogi also counts a capture by a pinned piece as a defence; here the reply must be legal.
    """
    us = position.turn
    king = position.king_squares[us ^ 1]
    if king is None:
        return 0
    head = int(shogi.BB_PAWN_ATTACKS[us ^ 1][king]) & allowed
    if not head:
        return 0
    to = OUR_SQUARE[head.bit_length() - 1]
    position.push(row_move(Move(to | 81 << 7)))
    is_mate = not legal_moves(position)
    position.pop()
    return head if is_mate else 0
