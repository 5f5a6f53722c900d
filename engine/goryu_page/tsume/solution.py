"""What there is to know of a mate problem: its length, its main line, and the other moves that mate.

In the main line the defender holds out longest and, of equally long defences, chooses one that leaves the
fewest pieces in the attacker's hand; so does the attacker among equally short mates.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from goryu.games.shogi import EnteringKingRule, Rules, move_from_usi, move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board, solve
from goryu.search.mates.mate import MateVerdict
from goryu_page.tsume.length import LONGEST, LengthSolver, MateLength, NodesSpentError
from goryu_page.tsume.problem import Tsume

__all__ = ["NODES", "Alternative", "MainLine", "Solution", "analyse", "main_line", "problem_board"]

NODES = 400_000
"""What a question may cost unless the caller says otherwise: about two seconds."""

MATE_NODES = 50_000
"""What df-pn may expand for each defence to decide whether another move of the attacker mates."""

QUICK_NODES = 1_000
"""What it may expand in a first attempt."""

MOST_UNKNOWN = 3
"""After more undecided defences than this the rest is not looked at."""

RULES = Rules(EnteringKingRule.NoEnteringKing)


@dataclass(frozen=True, slots=True)
class Alternative:
    """A check that is not the main line's.

    ply: 1 for the first move of the line, 3 for the attacker's next.
    plies: of the mate from there, this move counted; None if it is not known.
    """

    ply: int
    move: str
    plies: int | None


@dataclass(frozen=True, slots=True)
class MainLine:
    """The moves, and the pieces in the attacker's hand at their end (None: the tie was not decided)."""

    moves: tuple[Move, ...]
    pieces_left: int | None


@dataclass(frozen=True, slots=True)
class Solution:
    """What `analyse` found out. Moves are in USI.

    line: empty unless the length is known and the nodes sufficed for a line.
    first_moves: all first moves that are known to mate, that of the line first.
    others: the checks, at each of the attacker's moves of the line, that mate too.
    undecided: those of which it was not found out.
    """

    sfen: str
    length: MateLength
    line: tuple[str, ...] = ()
    first_moves: tuple[str, ...] = ()
    others: tuple[Alternative, ...] = ()
    undecided: tuple[Alternative, ...] = ()
    pieces_left: int | None = None

    @property
    def has_second_solution(self) -> bool | None:
        """Does another move of the attacker mate too, before the last? See `Tsume`."""
        if any(map(self.is_second, self.others)):
            return True
        return None if any(map(self.is_second, self.undecided)) else False

    def is_second(self, other: Alternative) -> bool:
        """Is another check a second solution if it mates: is it before the last and another move?"""
        is_last = other.ply == len(self.line) and other.ply > 1
        return not is_last and other.move.rstrip("+") != self.line[other.ply - 1].rstrip("+")

    def problem(self) -> Tsume:
        """Returns the problem; raises ValueError if the length or the line is not known."""
        if self.length.plies is None or not self.line:
            raise ValueError(f"{self.sfen}: the length or the line is not known")
        return Tsume(
            self.sfen,
            self.length.plies,
            self.line,
            self.first_moves,
            self.has_second_solution,
            self.pieces_left,
        )


def problem_board(sfen: str) -> Board:
    """Returns the position of a problem, whose attacker may lack a king; raises SfenError."""
    return Board(sfen, RULES, allow_missing_king=True)


def analyse(
    sfen: str, nodes: int = NODES, should_stop: Callable[[], bool] = lambda: False, most: int = LONGEST
) -> Solution:
    """Finds the length and the solutions of a problem; raises SfenError.

    nodes: what each question may cost: the length, the choice among equal lines, the length of another mate.
    most: longer mates are not looked for.
    """
    solution = solved(sfen, nodes, should_stop, most)
    return with_alternatives(solution, nodes, should_stop) if solution.line else solution


def solved(
    sfen: str, nodes: int, should_stop: Callable[[], bool] = lambda: False, most: int = LONGEST
) -> Solution:
    """Finds the length and the main line alone; see `analyse`."""
    board = problem_board(sfen)
    solver = LengthSolver(nodes, should_stop)
    length = solver.length(board, most)
    if length.plies is None:
        return Solution(sfen, length)
    try:
        line = main_line(solver, board, length.plies)
    except NodesSpentError:
        return Solution(sfen, length)
    moves = tuple(map(move_to_usi, line.moves))
    return Solution(sfen, length, moves, moves[:1], pieces_left=line.pieces_left)


def with_alternatives(
    solution: Solution, nodes: int, should_stop: Callable[[], bool] = lambda: False
) -> Solution:
    """Returns the solution with the attacker's other moves, as far as they are found within the nodes."""
    solver = LengthSolver(nodes, should_stop)
    others: list[Alternative] = []
    undecided: list[Alternative] = []
    for board, other in _other_checks(solution):
        if should_stop():
            undecided.append(other)
            continue
        verdict, plies = verdict_after(solver, board, len(solution.line) - other.ply)
        if verdict is MateVerdict.MATE:
            others.append(replace(other, plies=None if plies is None else plies + 1))
        elif verdict is MateVerdict.UNKNOWN:
            undecided.append(other)
    also = sorted((other for other in others if other.ply == 1), key=lambda other: other.plies or LONGEST)
    return replace(
        solution,
        first_moves=(*solution.first_moves, *(other.move for other in also)),
        others=tuple(others),
        undecided=tuple(undecided),
    )


def may_be_sound(solution: Solution) -> bool:
    """Does a quick search leave it open that the problem has no second solution? Saves a whole analysis."""
    for board, other in _other_checks(solution):
        if solution.is_second(other) and _any_mate(board, QUICK_NODES) is MateVerdict.MATE:
            return False
    return True


def _other_checks(solution: Solution) -> Iterator[tuple[Board, Alternative]]:
    """Yields the checks besides those of the line, each with the position after it."""
    board = problem_board(solution.sfen)
    for ply, move in enumerate(map(move_from_usi, solution.line), 1):
        for check in board.checks() if ply % 2 else ():
            if check != move:
                board.push(check)
                yield board, Alternative(ply, move_to_usi(check), None)
                board.pop()
        board.push(move)


def verdict_after(solver: LengthSolver, board: Board, bound: int) -> tuple[MateVerdict, int | None]:
    """Says whether the check that led to `board` mates, and in how many plies if at most `bound`.

    An answer about longer mates comes from df-pn; a mate may then have no known length.
    """
    verdict = _any_mate(board, QUICK_NODES)
    if verdict is MateVerdict.UNKNOWN:
        verdict = _any_mate(board, MATE_NODES)
    if verdict is MateVerdict.NO_MATE:
        return verdict, None
    try:
        plies = solver.defence_within(board, bound)
    except NodesSpentError:
        return verdict, None
    return (verdict, None) if plies > bound else (MateVerdict.MATE, plies)


def _any_mate(board: Board, nodes: int) -> MateVerdict:
    """Is the side to move, in check, mated after each of its moves? nodes: for each of them."""
    unknown = 0
    for evasion in board.all_legal_moves():
        board.push(evasion)
        found = solve(board, nodes).verdict
        board.pop()
        if found is MateVerdict.NO_MATE:
            return found
        unknown += found is MateVerdict.UNKNOWN
        if unknown > MOST_UNKNOWN:
            break
    return MateVerdict.UNKNOWN if unknown else MateVerdict.MATE


def main_line(solver: LengthSolver, board: Board, plies: int) -> MainLine:
    """Returns the main line from a position, the attacker or the defender to move, that is mate in `plies`.

    Where the nodes do not suffice to choose among equally long lines, it returns one of them. Raises
    NodesSpentError: they do not even suffice for that.
    """
    attacker = board.turn ^ (plies % 2 == 0)
    lines = _Lines(solver, board.copy(), attacker)
    try:
        return lines.best(plies)
    except NodesSpentError:
        return MainLine(_Lines(solver, board.copy(), attacker).any(plies), None)


class _Lines:
    """The lines of a mate; `board` is the position that is looked at."""

    def __init__(self, solver: LengthSolver, board: Board, attacker: int) -> None:
        self.solver = solver
        self.board = board
        self.attacker = attacker
        self.seen: dict[int, MainLine] = {}
        self.left = solver.nodes // 20

    def best(self, plies: int) -> MainLine:
        """Returns the line that leaves the fewest pieces."""
        if plies == 0:
            return MainLine((), sum(self.board.hands[self.attacker]))
        key = self.board.position_key
        if key in self.seen:
            return self.seen[key]
        self.left -= 1
        if self.left < 0:
            raise NodesSpentError
        chosen: tuple[int, MainLine] | None = None
        for move in self.equal_moves(plies):
            self.board.push(move)
            rest = self.best(plies - 1)
            self.board.pop()
            count = rest.pieces_left or 0
            if chosen is None or count < chosen[0]:
                chosen = count, MainLine((move, *rest.moves), count)
                if count == 0:
                    break
        assert chosen is not None
        self.seen[key] = chosen[1]
        return chosen[1]

    def any(self, plies: int) -> tuple[Move, ...]:
        """Returns the first line."""
        line: list[Move] = []
        for rest in range(plies, 0, -1):
            if rest % 2:
                move = self.solver.mating_move(self.board, rest)
            else:
                move = self.equal_moves(rest)[0]
            self.board.push(move)
            line.append(move)
        return tuple(line)

    def equal_moves(self, plies: int) -> list[Move]:
        """Returns the moves of a shortest mate or of a longest defence."""
        if plies % 2 == 0:
            return [
                defence.move
                for defence in self.solver.defences(self.board, plies)
                if defence.plies == plies - 1
            ]
        found = []
        for check in self.board.checks():
            self.board.push(check)
            if self.solver.defence_within(self.board, plies - 1) == plies - 1:
                found.append(check)
            self.board.pop()
        return found
