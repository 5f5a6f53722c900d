"""python-shogi's board with what a search needs: our squares and pieces, attackers, pins, fast copies.

python-shogi keeps the position as bitboards over rows (9a = bit 0, 1a = 8, 1i = 80); here every
`mask` and `row_square` is in that order, every other `square` in ours (1a = 0, 1b = 1, 9i = 80).
"""

from collections import Counter
from functools import cache
from typing import Self

import shogi

from goryu.games.shogi.move import DROP_LETTERS, dropped_piece, is_drop, is_promotion, move_from, move_to
from goryu.games.state import Move

__all__ = ["OUR_SQUARE", "ROW_SQUARE", "Position", "between", "row_move"]

OUR_SQUARE = tuple(9 * (8 - row_square % 9) + row_square // 9 for row_square in range(81))
"""Our square of python-shogi's."""

ROW_SQUARE = tuple(9 * (square % 9) + 8 - square // 9 for square in range(81))
"""python-shogi's square of ours."""

KIND = (0, 1, 2, 3, 4, 7, 5, 6, 8, 9, 10, 11, 12, 13, 14)
"""Our kind of python-shogi's piece type, which counts P L N S G B R K."""


class _NoCount:
    """Replaces python-shogi's count of positions, which grows with every position searched."""

    def update(self, keys: object) -> None:
        """Does nothing."""

    def subtract(self, keys: object) -> None:
        """Does nothing."""


class Position(shogi.Board):  # type: ignore[misc]
    """The pieces, hands and side to move, with `push` and `pop`.

    `Board` detects repetitions; python-shogi's own hash and count are switched off.
    """

    def __init__(self, sfen: str) -> None:
        super().__init__(sfen)
        self.transpositions = _NoCount()

    def zobrist_hash(self, array: object = None) -> int:
        """Returns 0: python-shogi's repetition key is not used."""
        return 0

    def copy(self) -> Self:
        """Returns an independent position that can be popped as far back as this one."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.pseudo_legal_moves = shogi.PseudoLegalMoveGenerator(other)
        other.legal_moves = shogi.LegalMoveGenerator(other)
        other.piece_bb = self.piece_bb[:]
        other.pieces_in_hand = [Counter(hand) for hand in self.pieces_in_hand]
        occupied = shogi.Occupied.__new__(shogi.Occupied)
        occupied.__dict__.update(self.occupied.__dict__)
        occupied.by_color = self.occupied.by_color[:]
        other.occupied = occupied
        other.king_squares = self.king_squares[:]
        other.pieces = self.pieces[:]
        other.captured_piece_stack = self.captured_piece_stack.copy()
        other.move_stack = self.move_stack.copy()
        return other

    def piece_codes(self) -> list[int]:
        """Returns our piece code of every square, in our square order."""
        types, white = self.pieces, self.occupied.by_color[1]
        return [KIND[types[s]] + (16 if white >> s & 1 else 0) for s in ROW_SQUARE]

    def attackers(self, colour: int, row_square: int) -> int:
        """Returns the mask of the pieces of `colour` that attack a square."""
        bb, occupied = self.piece_bb, self.occupied
        attacks_from, other = shogi.Board.attacks_from, colour ^ 1
        golds = bb[shogi.GOLD] | bb[shogi.PROM_PAWN] | bb[shogi.PROM_LANCE] | bb[shogi.PROM_KNIGHT]
        golds |= bb[shogi.PROM_SILVER]
        horses, dragons = bb[shogi.PROM_BISHOP], bb[shogi.PROM_ROOK]
        attackers: int = (
            shogi.BB_PAWN_ATTACKS[other][row_square] & bb[shogi.PAWN]
            | shogi.BB_KNIGHT_ATTACKS[other][row_square] & bb[shogi.KNIGHT]
            | shogi.BB_SILVER_ATTACKS[other][row_square] & bb[shogi.SILVER]
            | shogi.BB_GOLD_ATTACKS[other][row_square] & golds
            | shogi.BB_KING_ATTACKS[row_square] & (bb[shogi.KING] | horses | dragons)
            | attacks_from(shogi.LANCE, row_square, occupied, other) & bb[shogi.LANCE]
            | attacks_from(shogi.BISHOP, row_square, occupied, other) & (bb[shogi.BISHOP] | horses)
            | attacks_from(shogi.ROOK, row_square, occupied, other) & (bb[shogi.ROOK] | dragons)
        )
        return attackers & int(occupied.by_color[colour])

    def is_check(self) -> bool:
        """Is the side to move in check?"""
        king = self.king_squares[self.turn]
        return king is not None and self.attackers(self.turn ^ 1, king) != 0

    def blockers(self, king: int, sniper: int, blocker: int) -> dict[int, int]:
        """Returns the lone pieces between a king and a long-range piece.

        king: the king's row square. sniper, blocker: the colour of the long-range piece and of the
        piece that shields the king from it.
        The result maps the blocker's mask to the line (king excluded, sniper included) on which it
        may move and still shield.
        """
        bb = self.piece_bb
        # With an empty occupancy (index 0) the tables hold the whole line. A lance moves forward only, so it
        # aims at the king from the squares that a lance of the other colour would reach from there.
        diagonals = shogi.BB_R45_ATTACKS[king][0] | shogi.BB_L45_ATTACKS[king][0]
        straights = shogi.BB_RANK_ATTACKS[king][0] | shogi.BB_FILE_ATTACKS[king][0]
        snipers = self.occupied.by_color[sniper] & (
            diagonals & (bb[shogi.BISHOP] | bb[shogi.PROM_BISHOP])
            | straights & (bb[shogi.ROOK] | bb[shogi.PROM_ROOK])
            | shogi.BB_LANCE_ATTACKS[sniper ^ 1][king][0] & bb[shogi.LANCE]
        )
        found: dict[int, int] = {}
        while snipers:
            bit = snipers & -snipers
            snipers ^= bit
            line = between(king, bit.bit_length() - 1)
            shield = line & self.occupied.bits
            if shield and not shield & (shield - 1) and shield & self.occupied.by_color[blocker]:
                found[shield] = line | bit
        return found


@cache
def between(a: int, b: int) -> int:
    """Returns the mask of the squares strictly between two row squares; 0 if no line joins them."""
    files, ranks = b % 9 - a % 9, b // 9 - a // 9
    length = max(abs(files), abs(ranks))
    if length == 0 or not (files == 0 or ranks == 0 or abs(files) == abs(ranks)):
        return 0
    step = files // length + 9 * (ranks // length)
    mask = 0
    for row_square in range(a + step, b, step):
        mask |= 1 << row_square
    return mask


@cache
def row_move(move: Move) -> shogi.Move:
    """Returns python-shogi's object of one of our moves."""
    to = ROW_SQUARE[move_to(move)]
    if is_drop(move):
        letter = DROP_LETTERS[dropped_piece(move)].lower()
        return shogi.Move(None, to, False, shogi.PIECE_SYMBOLS.index(letter))
    return shogi.Move(ROW_SQUARE[move_from(move)], to, is_promotion(move))
