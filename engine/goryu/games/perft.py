"""perft: counts sequences of legal moves, the standard test of a move generator.

>>> from goryu.games.tictactoe import TicTacToe
>>> [perft(TicTacToe(), depth) for depth in (0, 1, 2, 3)]
[1, 9, 72, 504]
"""

from goryu.games.state import State

__all__ = ["perft"]


def perft(state: State, depth: int) -> int:
    """Returns the number of sequences of `depth` legal moves, pointless ones included.

    The last ply is counted, not played. 0 plies are one sequence.
    """
    if depth == 0:
        return 1
    moves = getattr(state, "all_legal_moves", state.legal_moves)()
    if depth == 1:
        return len(moves)
    count = 0
    for move in moves:
        state.push(move)
        count += perft(state, depth - 1)
        state.pop()
    return count
