"""perft: counts sequences of legal moves, the standard test of a move generator."""

from goryu.games.state import State

__all__ = ["perft"]


def perft(state: State, depth: int) -> int:
    """Returns the number of sequences of `depth` >= 1 moves; the last ply is counted, not played.

    Moves are those of `legal_moves()`: a shogi board whose rules leave out pointless moves gives less than
    the published numbers. (The native twin counts all legal moves, whatever the rules.)

    >>> from goryu.games.tictactoe import TicTacToe
    >>> [perft(TicTacToe(), depth) for depth in (1, 2, 3)]
    [9, 72, 504]
    """
    moves = state.legal_moves()
    if depth == 1:
        return len(moves)
    count = 0
    for move in moves:
        state.push(move)
        count += perft(state, depth - 1)
        state.pop()
    return count
