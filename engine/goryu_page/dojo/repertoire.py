"""The user's opening repertoire: the moves to know by heart, each position a problem that the schedule asks.

Whose move it is decides whose repertoire it belongs to. A position may have several moves.
"""

from collections.abc import Sequence

from goryu.analysis.description import board_after
from goryu.implementation import Board
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import position_key
from goryu_page.dojo.problems import NewProblem, Problem, ProblemKind, Problems, ProblemState


class Repertoire:
    """The problems of the kind OPENING. Any thread may use it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._problems = Problems(database)

    def moves(self, board: Board) -> list[str]:
        """Returns the moves to know in a position, in USI; the first one learnt comes first."""
        problem = self._problem(position_key(board.sfen()))
        return [answer["move"] for answer in problem.content["answers"]] if problem else []

    def learn(self, start: str, moves: Sequence[str], move: str) -> None:
        """Adds a legal move to those of the position after `moves` (USI) from the SFEN `start`."""
        with self._database.transaction():
            board = board_after(start, moves)
            known = self.moves(board)
            if not known:
                # One that was removed from the training comes back.
                self._delete(position_key(board.sfen()))
                content = {"answers": _answers([move])}
                problem = NewProblem(
                    ProblemKind.OPENING, start, tuple(moves), content, state=ProblemState.SOUND
                )
                self._problems.add([problem])
            elif move not in known:
                self._set(board, [*known, move])

    def forget(self, board: Board, move: str) -> None:
        """Takes a move out; without another one the position is not asked any more."""
        with self._database.transaction():
            left = [known for known in self.moves(board) if known != move]
            if left:
                self._set(board, left)
            else:
                self._delete(position_key(board.sfen()))

    def _problem(self, key: bytes) -> Problem | None:
        rows = self._database.rows(
            "SELECT id FROM problems WHERE key = ? AND kind = ? AND state = 'sound'", key, ProblemKind.OPENING
        )
        return self._problems.get(rows[0]["id"]) if rows else None

    def _set(self, board: Board, moves: Sequence[str]) -> None:
        problem = self._problem(position_key(board.sfen()))
        assert problem is not None
        self._problems.set_content(problem.id, {**problem.content, "answers": _answers(moves)})

    def _delete(self, key: bytes) -> None:
        self._database.run("DELETE FROM problems WHERE key = ? AND kind = ?", key, ProblemKind.OPENING)


def _answers(moves: Sequence[str]) -> list[dict[str, object]]:
    return [{"move": move, "win_rate": None, "accepted": True, "line": [move]} for move in moves]
