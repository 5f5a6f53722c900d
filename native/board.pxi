"""Board: goryu.games.shogi.board in C++."""

from goryu.games.shogi.move import IllegalMoveError, move_from_usi
from goryu.games.shogi.diagram import diagram
from goryu.games.shogi.rules import STANDARD_RULES, EnteringKingRule
from goryu.games.shogi.sfen import START_SFEN, parse_sfen
from goryu.games.state import Outcome


cdef dict ENTERING_KING = {
    EnteringKingRule.NoEnteringKing: <int>EnteringKing.kNone,
    EnteringKingRule.CSARule24: <int>EnteringKing.kPoints24,
    EnteringKingRule.CSARule24H: <int>EnteringKing.kPoints24H,
    EnteringKingRule.CSARule27: <int>EnteringKing.kPoints27,
    EnteringKingRule.CSARule27H: <int>EnteringKing.kPoints27H,
    EnteringKingRule.TryRule: <int>EnteringKing.kTry,
}

cdef dict OUTCOMES = {
    <int>ending: None if ending == Ending.kNone else Outcome(<double>value_of(<Ending><int>ending), reason)
    for ending, reason in (
        (Ending.kNone, ""),
        (Ending.kCheckmate, "checkmate"),
        (Ending.kNoLegalMove, "no legal move"),
        (Ending.kDeclaration, "entering-king declaration"),
        (Ending.kOpponentTried, "try"),
        (Ending.kFourfold, "fourfold repetition"),
        (Ending.kMaxPly, "maximum ply"),
        (Ending.kRepetition, "repetition"),
        (Ending.kPerpetualWin, "perpetual check"),
        (Ending.kPerpetualLoss, "perpetual check"),
        (Ending.kSuperior, "superior position"),
        (Ending.kInferior, "inferior position"),
    )
}

# The kind of each place in a hand: P L N S G B R.
cdef int[7] HAND_KINDS = [1, 2, 3, 4, 7, 5, 6]


cdef CoreRules core_rules(object rules):
    cdef CoreRules core
    core.entering_king = <EnteringKing><int>ENTERING_KING[rules.entering_king]
    core.max_ply = rules.max_ply
    core.all_moves = rules.all_moves
    core.first_recurrence = rules.first_recurrence
    return core


cdef list move_integers(const MoveList& moves):
    return [moves[i] for i in range(moves.size())]


cdef class Board:
    """A game of shogi in progress; implements `MateState`.

    move_stack: the moves since the position that the board was set up with; read only.

    >>> board = Board()
    >>> move = board.push_usi("7g7f")
    >>> board.turn, board.ply, len(board.legal_moves())
    (1, 1, 30)
    >>> board.sfen()
    'lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2'
    """

    cdef Game* game
    cdef object _rules

    def __cinit__(self):
        self.game = NULL

    def __init__(self, str sfen=START_SFEN, rules=STANDARD_RULES, *, bint allow_missing_king=False):
        """Sets up a position; its history begins here.

        allow_missing_king: may the side to move lack its king, as in mate problems?

        Raises:
            SfenError: the SFEN cannot be read or breaks a rule of shogi.
        """
        cdef OptionalSfenPosition parsed = core_parse_sfen(
            " ".join(sfen.split()).encode("utf-8", "surrogatepass"), allow_missing_king
        )
        if not parsed.has_value():
            parse_sfen(sfen, allow_missing_king=allow_missing_king)  # Says what is wrong.
            raise AssertionError(f"only the native parser refuses {sfen!a}")
        cdef CoreRules core = core_rules(rules)
        del self.game
        self.game = new Game(parsed.value().position, max(1, parsed.value().move_number) - 1, core)
        self._rules = rules

    def __dealloc__(self):
        del self.game

    @property
    def rules(self):
        """How the game is played."""
        return self._rules

    @rules.setter
    def rules(self, rules):
        self.game.set_rules(core_rules(rules))
        self._rules = rules

    @property
    def move_stack(self):
        """The moves since the position that the board was set up with."""
        return [self.game.move(i) for i in range(self.game.length())]

    @property
    def turn(self):
        """The side to move: 0 black, 1 white (an SFEN may start with white)."""
        return self.game.turn()

    @property
    def ply(self):
        """Moves played since move number 1 of the SFEN (0 counts as 1)."""
        return self.game.ply()

    @property
    def key(self):
        """64-bit Zobrist key of position, side to move and ply; see `zobrist.py`."""
        return self.game.key()

    @property
    def position_key(self):
        """64-bit Zobrist key of position and side to move, without the ply."""
        return self.game.position().position_key()

    @property
    def pieces(self):
        """The piece code of every square, 1a 1b ... 9i; see `pieces.py`."""
        return [self.game.position().piece(square) for square in range(81)]

    @property
    def hands(self):
        """Black's and white's hand, each seven counts P L N S G B R."""
        cdef list hands = []
        for color in range(2):
            hands.append(tuple([self.game.position().hand(color).count(kind) for kind in HAND_KINDS]))
        return tuple(hands)

    def legal_moves(self):
        """Returns the legal moves in ascending order, without those that `rules` call pointless.

        The rules of repetition, declaration and maximum ply take no move away.
        """
        cdef MoveList moves
        self.game.legal_moves(moves)
        return move_integers(moves)

    def checks(self):
        """Returns every legal move that gives check, in ascending order.

        A mate can hang on a pointless non-promotion: it may keep the mate from ending in uchifuzume.
        """
        cdef MoveList moves
        core_checking_moves(self.game.position(), moves)
        return move_integers(moves)

    def all_legal_moves(self):
        """Returns every legal move in ascending order, the pointless ones too."""
        cdef MoveList moves
        core_legal_moves(self.game.position(), moves, True)
        return move_integers(moves)

    def is_check(self):
        """Is the side to move in check?"""
        return self.game.position().in_check()

    def is_legal(self, long move):
        """May the move be played? Every legal non-promotion may, whatever `rules.all_moves` says."""
        return 0 <= move < 1 << 15 and core_is_legal(self.game.position(), <uint16_t>move)

    def push(self, long move):
        """Plays a legal move; legality is the caller's responsibility."""
        if not (0 <= move < 1 << 15 and self.game.position().can_move(<uint16_t>move)):
            raise IllegalMoveError(f"expected a move that is legal in {self.sfen()}, received {move}")
        self.game.push(<uint16_t>move)

    def pop(self):
        """Takes back the last move and returns it."""
        if self.game.length() == 0:
            raise IndexError("pop from a board without moves")
        return self.game.pop()

    def push_usi(self, str text):
        """Plays a USI move after checking it, and returns it.

        Raises:
            MoveError: the text is not a USI move.
            IllegalMoveError: the position does not allow the move.
        """
        move = move_from_usi(text)
        if not self.is_legal(move):
            raise IllegalMoveError(f"expected a move that is legal in {self.sfen()}, received {text}")
        self.game.push(<uint16_t>move)
        return move

    def copy(self):
        """Returns an independent board with the same position, history and rules."""
        cdef Board other = type(self).__new__(type(self))
        other.game = new Game(self.game[0])
        other._rules = self._rules
        return other

    def sfen(self):
        """Returns the position as SFEN; the move number is `ply + 1`."""
        return core_to_sfen(self.game.position(), self.game.ply() + 1).decode("ascii")

    def outcome(self):
        """Returns the result if the game is over for the side to move, or None.

        Checked in this order: no legal move (a loss, in check or not), entering king, fourth
        occurrence of the position, maximum ply. In a real game an entering king wins by points only
        when the player declares it, so this is the value of a position rather than its end.
        """
        return OUTCOMES[<int>self.game.outcome()]

    def repetition(self):
        """Returns the result that the path to this position causes, or None; see `repetition.py`.

        The fourth occurrence, however long the game, decides first. Otherwise, with
        `rules.first_recurrence`, the nearest position 4, 6, ... 16 plies back that is equal,
        superior or inferior does. The path reaches back before the root of a search.
        """
        return OUTCOMES[<int>self.game.repetition()]

    def recurs(self, int attacker, int plies):
        """Was the board the same up to `plies` plies back, and the attacker's hand as full or fuller?"""
        return self.game.recurs(attacker & 1, plies)

    def declaration(self):
        """May the side to move end the game now by its entering king?

        By points it declares instead of moving (`bestmove win`) and must not be in check;
        under the try rule it plays `try_move()`.
        """
        return core_can_declare(
            self.game.position(), <EnteringKing><int>ENTERING_KING[self._rules.entering_king]
        )

    def try_move(self):
        """Returns the legal king move that wins under the try rule, or None (also under other rules)."""
        if self._rules.entering_king is not EnteringKingRule.TryRule:
            return None
        return core_try_move(self.game.position()) or None

    def __str__(self):
        """The position as a text board in ASCII, SFEN and key below."""
        return diagram(self)


def perft(Board board, int depth):
    """Returns the number of sequences of `depth` legal moves, pointless ones included.

    The last ply is counted, not played. 0 plies are one sequence.
    """
    cdef Position position = board.game.position()
    cdef uint64_t leaves
    with nogil:
        leaves = core_perft(position, max(depth, 0))
    return leaves
