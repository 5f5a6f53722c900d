"""Mate problems from games: positions in which the side to move has a mate (実戦詰将棋).

Of a mate that a game follows, only its first position becomes a problem. No position occurs twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from goryu.games.shogi import parse_sfen
from goryu.implementation import Board, solve
from goryu.kifu.record import GameRecord, Variation
from goryu.search.mates.mate import MateVerdict
from goryu_page.tsume.classical import classical_form
from goryu_page.tsume.problem import Tsume
from goryu_page.tsume.solution import Solution, may_be_sound, problem_board, solved, with_alternatives

__all__ = ["Wanted", "generate"]

FINDING_NODES = 3_000
"""What df-pn may expand to find that a position of a game has a mate: some milliseconds."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which problems to make.

    shortest, longest: plies to mate.
    sound: leave out problems in which another move of the attacker mates, or may mate, before the last, and
        mates in one with two solutions. The end of a main line can be sound where the whole is not; then the
        end becomes the problem.
    classical: bring each problem into the usual form of composed ones, see `classical.py`; they are sound.
    beside: also look at the positions after moves that a player could have played instead.
    per_game: at most so many problems of a game; those of one game resemble each other.
    nodes: what each question to the solver may cost. A problem that is not solved within them is left out.
    """

    shortest: int = 1
    longest: int = 13
    sound: bool = False
    classical: bool = False
    beside: bool = False
    per_game: int | None = None
    nodes: int = 50_000


def generate(games: Iterable[GameRecord], wanted: Wanted) -> Iterator[Tsume]:
    """Yields the problems of the games: of the moves played, and of the variations."""
    generator = _Generator(wanted)
    for game in games:
        problems = (found for line in lines_of(game) for found in generator.problems(*line))
        yield from islice(problems, wanted.per_game)


class _Generator:
    """Remembers which positions were looked at, and which problems were made."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.seen: set[int] = set()
        self.made: set[str] = set()

    def problems(self, start: str, moves: Sequence[str]) -> Iterator[Tsume]:
        """Yields the problems of a line."""
        lines: set[tuple[str, ...]] = set()
        for sfen in self._mates(start, moves):
            problem = self._problem(sfen)
            if problem is not None and problem.sfen not in self.made and problem.solution not in lines:
                self.made.add(problem.sfen)
                lines.add(problem.solution)
                yield problem

    def _mates(self, start: str, moves: Sequence[str]) -> Iterator[str]:
        """Yields the new positions of a line that have a mate, and those beside it, without move number."""
        board = problem_board(start)
        for move in (*moves, None):
            if self._is_new_mate(board, FINDING_NODES):
                yield _sfen(board)
            for other in board.all_legal_moves() if self.wanted.beside else ():
                board.push(other)
                if self._is_new_mate(board, FINDING_NODES // 10):
                    yield _sfen(board)
                board.pop()
            if move is not None:
                board.push_usi(move)

    def _is_new_mate(self, board: Board, nodes: int) -> bool:
        key = board.position_key
        if key in self.seen:
            return False
        self.seen.add(key)
        return solve(board, nodes).verdict is MateVerdict.MATE

    def _problem(self, sfen: str) -> Tsume | None:
        """Returns the problem of a position, or of the end of its main line, if it is wanted."""
        wanted = self.wanted
        whole = solved(sfen, wanted.nodes, most=wanted.longest)
        board = problem_board(sfen)
        for ply, move in enumerate(whole.line):
            if len(whole.line) - ply < wanted.shortest:
                break
            if ply % 2 == 0:
                problem = self._wanted_form(whole if ply == 0 else self._solved(board))
                if problem is not None or not (wanted.sound or wanted.classical):
                    self._note_line(sfen, whole.line)
                    return problem
            board.push_usi(move)
        self._note_line(sfen, whole.line)
        return None

    def _solved(self, board: Board) -> Solution:
        return solved(_sfen(board), self.wanted.nodes, most=self.wanted.longest)

    def _note_line(self, sfen: str, line: Sequence[str]) -> None:
        """Notes the positions of the main line: a game that follows it makes no further problem."""
        board = problem_board(sfen)
        for move in line:
            board.push_usi(move)
            self.seen.add(board.position_key)

    def _wanted_form(self, solution: Solution) -> Tsume | None:
        """Returns the problem of a solution if it is wanted."""
        wanted = self.wanted
        if not solution.line:
            return None
        if wanted.classical:
            problem = classical_form(solution, wanted.nodes)
            is_fit = problem is not None and wanted.shortest <= problem.length <= wanted.longest
            return problem if is_fit else None
        if wanted.sound and not may_be_sound(solution):
            return None
        solution = with_alternatives(solution, wanted.nodes)
        return None if wanted.sound and solution.has_second_solution is not False else solution.problem()


def _sfen(board: Board) -> str:
    return str(replace(parse_sfen(board.sfen(), allow_missing_king=True), move_number=1))


def lines_of(game: GameRecord) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the start and the moves of the game, and of each of its variations."""
    yield game.start, game.moves
    for variation in game.variations:
        for moves in _variations(game.moves, variation):
            yield game.start, moves


def _variations(before: tuple[str, ...], variation: Variation) -> Iterator[tuple[str, ...]]:
    moves = (*before[: variation.ply - 1], *(ply.move for ply in variation.plies))
    yield moves
    for inner in variation.variations:
        yield from _variations(moves, inner)
