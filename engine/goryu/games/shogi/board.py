"""The game of shogi for a search, based on python-shogi's board."""

from typing import Self

import shogi

from goryu.games.shogi.declaration import TRY_SQUARE, can_declare
from goryu.games.shogi.diagram import diagram
from goryu.games.shogi.move import IllegalMoveError, make_move, move_from_usi
from goryu.games.shogi.movegen import checking_moves, is_legal, legal_moves
from goryu.games.shogi.position import KIND, OUR_SQUARE, Position, row_move
from goryu.games.shogi.repetition import Frame, History, add_to_hand, count_in_hand
from goryu.games.shogi.rules import STANDARD_RULES, EnteringKingRule, Rules
from goryu.games.shogi.sfen import START_SFEN, parse_sfen
from goryu.games.shogi.zobrist import BOARD, HAND, SIDE, ply_word
from goryu.games.state import Move, Outcome

__all__ = ["Board"]

HAND_TYPES = tuple(shogi.PIECE_SYMBOLS.index(letter) for letter in "plnsgbr")
"""python-shogi's piece type of each place in a hand."""

HAND_PLACE = (-1, 0, 1, 2, 3, 4, 5, 6, -1, 0, 1, 2, 3, 5, 6)
"""The place in a hand (P L N S G B R) for a captured piece, by python-shogi's piece type."""


class Board:
    """A game of shogi in progress; implements `MateState`.

    move_stack: the moves since the position that the board was set up with; read only.

    >>> board = Board()
    >>> move = board.push_usi("7g7f")
    >>> board.turn, board.ply, len(board.legal_moves())
    (1, 1, 30)
    >>> board.sfen()
    'lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2'
    """

    def __init__(
        self,
        sfen: str = START_SFEN,
        rules: Rules = STANDARD_RULES,
        *,
        allow_missing_king: bool = False,
    ) -> None:
        """Sets up a position; its history begins here.

        allow_missing_king: may the side to move lack its king, as in mate problems?

        Raises:
            SfenError: the SFEN cannot be read or breaks a rule of shogi.
        """
        fields = parse_sfen(sfen, allow_missing_king=allow_missing_king)
        self._rules = rules
        self._position = Position(str(fields))
        self._ply = max(1, fields.move_number) - 1
        self.move_stack: list[Move] = []
        self._legal_moves: list[Move] | None = None  # Of the current position, on first use.
        board_key = 0
        for square, piece in enumerate(fields.pieces):
            board_key ^= BOARD[piece][square]
        position_key = board_key ^ (SIDE if fields.turn else 0)
        packed = [0, 0]
        for colour, hand in enumerate(fields.hands):
            for place, count in enumerate(hand):
                position_key ^= HAND[colour][place][count]
                packed[colour] = add_to_hand(packed[colour], place, count)
        self._history = History()
        self._history.append(
            Frame(position_key, board_key, (packed[0], packed[1]), self._position.is_check(), (0, 0))
        )

    @property
    def rules(self) -> Rules:
        """How the game is played."""
        return self._rules

    @rules.setter
    def rules(self, rules: Rules) -> None:
        self._rules = rules
        self._legal_moves = None

    @property
    def turn(self) -> int:
        """The side to move: 0 black, 1 white (an SFEN may start with white)."""
        return int(self._position.turn)

    @property
    def ply(self) -> int:
        """Moves played since move number 1 of the SFEN (0 counts as 1)."""
        return self._ply

    @property
    def key(self) -> int:
        """64-bit Zobrist key of position, side to move and ply; see `zobrist.py`."""
        return self._history.frames[-1].position_key ^ ply_word(self._ply)

    @property
    def position_key(self) -> int:
        """64-bit Zobrist key of position and side to move, without the ply."""
        return self._history.frames[-1].position_key

    @property
    def pieces(self) -> list[int]:
        """The piece code of every square, 1a 1b ... 9i; see `pieces.py`."""
        return self._position.piece_codes()

    @property
    def hands(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Black's and white's hand, each seven counts P L N S G B R."""
        black, white = self._position.pieces_in_hand
        return tuple(black[kind] for kind in HAND_TYPES), tuple(white[kind] for kind in HAND_TYPES)

    def legal_moves(self) -> list[Move]:
        """Returns the legal moves in ascending order, without those that `rules` call pointless.

        The rules of repetition, declaration and maximum ply take no move away.
        """
        if self._legal_moves is None:
            self._legal_moves = legal_moves(self._position, self._lists_all())
        return self._legal_moves[:]

    def checks(self) -> list[Move]:
        """Returns every legal move that gives check, in ascending order.

        A mate can hang on a pointless non-promotion: it may keep the mate from ending in uchifuzume.
        """
        return checking_moves(self._position, self.all_legal_moves())

    def all_legal_moves(self) -> list[Move]:
        """Returns every legal move in ascending order, the pointless ones too."""
        return self.legal_moves() if self._lists_all() else legal_moves(self._position, True)

    def is_check(self) -> bool:
        """Is the side to move in check?"""
        return self._history.frames[-1].is_check

    def is_legal(self, move: Move) -> bool:
        """May the move be played? Every legal non-promotion may, whatever `rules.all_moves` says."""
        return is_legal(self._position, move)

    def push(self, move: Move) -> None:
        """Plays a legal move; legality is the caller's responsibility."""
        position, last = self._position, self._history.frames[-1]
        us: int = position.turn
        row = row_move(move)
        origin, to = row.from_square, row.to_square
        captured = position.pieces[to]
        board_key, hand_key, hand = last.board_key, last.position_key ^ last.board_key, last.hands[us]
        if captured:
            board_key ^= BOARD[KIND[captured] + 16 * (1 - us)][OUR_SQUARE[to]]
        if origin is not None:
            board_key ^= BOARD[KIND[position.pieces[origin]] + 16 * us][OUR_SQUARE[origin]]
        if captured or origin is None:
            # No move both captures and drops.
            place = HAND_PLACE[captured or row.drop_piece_type]
            count, change = count_in_hand(hand, place), 1 if captured else -1
            hand_key ^= HAND[us][place][count] ^ HAND[us][place][count + change]
            hand = add_to_hand(hand, place, change)
        position.push(row)
        board_key ^= BOARD[KIND[position.pieces[to]] + 16 * us][OUR_SQUARE[to]]
        is_check = position.is_check()
        streak = last.streaks[us] + 1 if is_check else 0
        hands, streaks = (hand, last.hands[1]), (streak, last.streaks[1])
        if us == 1:
            hands, streaks = (last.hands[0], hand), (last.streaks[0], streak)
        self._history.append(Frame(board_key ^ hand_key ^ SIDE, board_key, hands, is_check, streaks))
        self.move_stack.append(move)
        self._ply += 1
        self._legal_moves = None

    def pop(self) -> Move:
        """Takes back the last move and returns it."""
        self._position.pop()
        self._history.pop()
        self._ply -= 1
        self._legal_moves = None
        return self.move_stack.pop()

    def push_usi(self, text: str) -> Move:
        """Plays a USI move after checking it, and returns it.

        Raises:
            MoveError: the text is not a USI move.
            IllegalMoveError: the position does not allow the move.
        """
        move = move_from_usi(text)
        if not self.is_legal(move):
            raise IllegalMoveError(f"expected a move that is legal in {self.sfen()}, received {text}")
        self.push(move)
        return move

    def copy(self) -> Self:
        """Returns an independent board with the same position, history and rules."""
        other = type(self).__new__(type(self))
        other._rules = self._rules
        other._position = self._position.copy()
        other._ply = self._ply
        other.move_stack = self.move_stack[:]
        other._legal_moves = self._legal_moves
        other._history = self._history.copy()
        return other

    def sfen(self) -> str:
        """Returns the position as SFEN; the move number is `ply + 1`."""
        return str(self._position.sfen())

    def outcome(self) -> Outcome | None:
        """Returns the result if the game is over for the side to move, or None.

        Checked in this order: no legal move (a loss, in check or not), entering king, fourth
        occurrence of the position, maximum ply. In a real game an entering king wins by points only
        when the player declares it, so this is the value of a position rather than its end.
        """
        if not self.legal_moves():
            return Outcome(-1.0, "checkmate" if self.is_check() else "no legal move")
        if self.declaration():
            return Outcome(1.0, "entering-king declaration")
        if self._opponent_has_tried():
            return Outcome(-1.0, "try")
        fourth = self._history.fourth_occurrence(self.turn)
        if fourth is not None:
            return fourth
        if self._rules.max_ply and self._ply >= self._rules.max_ply:
            return Outcome(0.0, "maximum ply")
        return None

    def repetition(self) -> Outcome | None:
        """Returns the result that the path to this position causes, or None; see `repetition.py`.

        The fourth occurrence, however long the game, decides first. Otherwise, with
        `rules.first_recurrence`, the nearest position 4, 6, ... 16 plies back that is equal,
        superior or inferior does. The path reaches back before the root of a search.
        """
        fourth = self._history.fourth_occurrence(self.turn)
        if fourth is not None or not self._rules.first_recurrence:
            return fourth
        return self._history.first_recurrence(self.turn)

    def recurs(self, attacker: int, plies: int) -> bool:
        """Was the board the same up to `plies` plies back, and the attacker's hand as full or fuller?"""
        return self._history.recurs(attacker, plies)

    def declaration(self) -> bool:
        """May the side to move end the game now by its entering king?

        By points it declares instead of moving (`bestmove win`) and must not be in check;
        under the try rule it plays `try_move()`.
        """
        rule = self._rules.entering_king
        if rule is EnteringKingRule.TryRule:
            return self.try_move() is not None
        king = self._position.king_squares[self.turn]
        if king is None or self.is_check() or not (king < 27 if self.turn == 0 else king >= 54):
            return False
        return can_declare(self.pieces, self.hands, self.turn, rule)

    def try_move(self) -> Move | None:
        """Returns the legal king move that wins under the try rule, or None (also under other rules)."""
        king = self._position.king_squares[self.turn]
        if self._rules.entering_king is not EnteringKingRule.TryRule or king is None:
            return None
        if OUR_SQUARE[king] == TRY_SQUARE[self.turn]:
            return None
        move = make_move(OUR_SQUARE[king], TRY_SQUARE[self.turn])
        return move if self.is_legal(move) else None

    def _lists_all(self) -> bool:
        return self._rules.all_moves or self.is_check()

    def _opponent_has_tried(self) -> bool:
        opponent = self.turn ^ 1
        king = self._position.king_squares[opponent]
        tries = self._rules.entering_king is EnteringKingRule.TryRule
        return tries and king is not None and OUR_SQUARE[king] == TRY_SQUARE[opponent]

    def __str__(self) -> str:
        """The position as a text board in ASCII, SFEN and key below."""
        return diagram(self)
