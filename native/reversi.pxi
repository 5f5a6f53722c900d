"""Reversi: goryu.games.reversi in C++."""

from goryu.games.reversi import OUTCOMES as REVERSI_OUTCOMES
from goryu.games.reversi import Reversi as PythonReversi
from goryu.games.reversi import geometry


cdef class Reversi:
    """Two bitboards: the discs of the side to move and of the opponent; bit s is square s.

    >>> game = Reversi(moves=[19])
    >>> print(game)
      a b c d e f g h
    1 . . . . . . . .
    2 . . . . . . . .
    3 . . . X . . . .
    4 . . . X X . . .
    5 . . . X O . . .
    6 . . . . . . . .
    7 . . . . . . . .
    8 . . . . . . . .
    >>> [game.move_name(move) for move in game.legal_moves()]
    ['c3', 'e3', 'c5']
    >>> game.disc_difference()
    -3
    """

    cdef ReversiGame* game

    def __cinit__(self):
        self.game = NULL

    def __init__(self, int size=8, moves=()):
        """Starts a game and plays `moves`, which must be legal; size is 4, 6 or 8."""
        geometry(size)  # Refuses other sizes.
        del self.game
        self.game = new ReversiGame(size)
        for move in moves:
            self.push(move)

    def __dealloc__(self):
        del self.game

    @property
    def size(self):
        """Squares along an edge of the board."""
        return self.game.size()

    @property
    def own(self):
        """The discs of the side to move."""
        return self.game.own()

    @property
    def opponent(self):
        """The discs of the other side."""
        return self.game.opponent()

    @property
    def move_stack(self):
        """The moves since the start of the game."""
        return [self.game.move(i) for i in range(self.game.length())]

    @property
    def turn(self):
        """The side to move: 0 black, 1 white."""
        return self.game.turn()

    @property
    def ply(self):
        """Moves played so far, passes included."""
        return self.game.ply()

    @property
    def key(self):
        """64-bit Zobrist key of the discs and the ply."""
        return self.game.key()

    def legal_moves(self):
        """Returns the legal moves in ascending order."""
        cdef MoveList moves
        self.game.legal_moves(moves)
        return move_integers(moves)

    def push(self, int move):
        """Plays a legal move."""
        if not (0 <= move <= 64 and self.game.is_legal(<uint16_t>move)):
            raise ValueError(f"expected one of the moves {self.legal_moves()}, received {move}")
        self.game.push(<uint16_t>move)

    def pop(self):
        """Takes back the last move and returns it."""
        if self.game.length() == 0:
            raise IndexError("pop from a game without moves")
        return self.game.pop()

    def outcome(self):
        """Returns the result if neither side can move, or None while the game goes on."""
        cdef ReversiEnding ending = self.game.outcome()
        return REVERSI_OUTCOMES[value_of(ending)] if is_over(ending) else None

    def repetition(self):
        """Returns None: no disc is ever removed, so no position repeats."""
        return None

    def copy(self):
        """Returns an independent game with the same discs and history."""
        cdef Reversi other = type(self).__new__(type(self))
        other.game = new ReversiGame(self.game[0])
        return other

    def disc_difference(self):
        """Returns the discs of the side to move minus the opponent's."""
        return self.game.disc_difference()

    def move_name(self, int move):
        """Returns the usual name of a move: column letter and row number from the top, or "pass"."""
        return PythonReversi.move_name(self, move)

    def __str__(self):
        """The board as text: X black, O white."""
        return PythonReversi.__str__(self)
