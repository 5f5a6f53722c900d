r"""Solves mate problems (詰将棋), and makes them from games.

    goryu tsume solve "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
    goryu tsume make games/ --length 3-7 --limit 50 --out problems.sfen
    goryu tsume make games.csa --classical --beside --out problems.sfen

Reads games in KIF, KI2, CSA, JKF, SFEN and USI, also in folders and archives.
"""

import argparse
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from goryu.base.errors import InputError
from goryu.base.files import atomic_write, check_outputs, check_writable
from goryu.base.language import language, tr
from goryu.commands.common import UsageError, add_verb, new_parser, positive, program, run_verb
from goryu.commands.progress_display import ProgressDisplay
from goryu.games.shogi import SfenError, move_from_usi
from goryu.implementation import Board
from goryu.kifu.notation import japanese_move, western_move
from goryu.kifu.record import GameRecord
from goryu.search.mates.mate import MateVerdict
from goryu_page.tsume.generator import Wanted, generate
from goryu_page.tsume.problem import Tsume, by_length
from goryu_page.tsume.solution import NODES, Alternative, Solution, analyse, problem_board

LONGEST = 31
"""The longest mate that can be asked for."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu tsume", make_parser(), run_verb, arguments, interrupted="nothing was written")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    verbs = parser.add_subparsers(prog="goryu tsume", required=True, metavar="VERB")
    one = add_verb(verbs, "solve", _solve, "print the length and the solutions of a mate problem")
    one.add_argument("position", metavar="SFEN", help="the position; the side to move mates")
    one.add_argument("--nodes", type=positive, default=NODES, metavar="N", help=f"{_NODES} (default {NODES})")
    make = add_verb(verbs, "make", _make, "make mate problems from games")
    add, nodes = make.add_argument, Wanted().nodes
    add("source", type=Path, nargs="+", help="file, folder or archive of games")
    add("--out", type=Path, required=True, metavar="FILE", help="the problems: an SFEN on each line")
    add("--length", type=_lengths, default=(1, 13), metavar="N-M", help="plies to mate (default 1-13)")
    add("--limit", type=positive, metavar="N", help="make at most N problems")
    add("--each", type=positive, metavar="N", help="make at most N problems of each length")
    add("--per-game", type=positive, metavar="N", help="make at most N problems of each game")
    add("--sound", action="store_true", help="leave out problems with any second solution")
    classical = "take away what does not matter: black attacks without a king, the defender holds the rest"
    add("--classical", action="store_true", help=classical)
    add("--beside", action="store_true", help="also look at the moves that could have been played instead")
    add("--nodes", type=positive, default=nodes, metavar="N", help=f"{_NODES} (default {nodes})")
    return parser


_NODES = "positions that each question to the solver may cost"


def _lengths(text: str) -> tuple[int, int]:
    """Returns the least and the greatest length of "3-7" or "5"."""
    least, _, most = text.partition("-")
    if not (
        least.isascii() and least.isdecimal() and (most or least).isascii() and (most or least).isdecimal()
    ):
        raise ArgumentTypeError(tr("{text!r}: expected lengths such as 3-7", text=text))
    shortest, longest = int(least), int(most or least)
    if not 1 <= shortest <= longest <= LONGEST:
        raise ArgumentTypeError(tr("{text}: expected lengths from 1 to {most}", text=text, most=LONGEST))
    return shortest, longest


def _solve(args: argparse.Namespace) -> None:
    words = args.position.partition("#")[0].split()
    try:
        solution = analyse(" ".join(words[words[:1] == ["sfen"] :]), args.nodes)
    except SfenError as error:
        raise InputError(error.translated()) from None
    for line in solution_lines(solution, args.nodes):
        print(line)


def solution_lines(solution: Solution, nodes: int) -> Iterator[str]:
    """Yields what is known of a problem, in the user's language."""
    length = solution.length
    if length.verdict is MateVerdict.NO_MATE:
        yield tr("no mate")
        return
    if length.plies is None:
        if length.verdict is MateVerdict.MATE:
            yield tr("There is a mate, but its length was not found within {nodes} nodes.", nodes=nodes)
        else:
            yield tr("Whether there is a mate was not found out within {nodes} nodes.", nodes=nodes)
        if length.above > 0:
            yield tr("There is no mate in {plies} or less.", plies=length.above)
        return
    yield tr("mate in {plies}", plies=length.plies)
    if not solution.line:
        yield tr("The solution was not found within {nodes} nodes.", nodes=nodes)
        return
    board = problem_board(solution.sfen)
    others = (*solution.others, *solution.undecided)
    for ply, move in enumerate(solution.line, 1):
        yield f"{ply:>3} {_written(board, move)}"
        for other in others:
            if other.ply == ply:
                yield "      " + _other(board, other, is_undecided=other in solution.undecided)
        board.push_usi(move)
    if solution.pieces_left is None:
        yield tr("Which of equally long lines leaves the fewest pieces was not found within the nodes.")
    elif solution.pieces_left:
        yield tr("pieces left in hand: {count}", count=solution.pieces_left)
    second = {
        True: tr("There are second solutions."),
        False: tr("There is no second solution."),
        None: tr("Whether there is a second solution was not found out."),
    }
    yield second[solution.has_second_solution]


def _other(board: Board, other: Alternative, *, is_undecided: bool) -> str:
    move = _written(board, other.move)
    if is_undecided:
        return tr("{move}: not decided", move=move)
    if other.plies is None:
        return tr("{move} mates too", move=move)
    return tr("{move} mates too, in {plies}", move=move, plies=other.plies)


def _written(board: Board, move: str) -> str:
    write = japanese_move if language() == "ja" else western_move
    return write(board, move_from_usi(move))


def _make(args: argparse.Namespace) -> None:
    check_writable(args.out)
    check_outputs([args.out], args.source)
    shortest, longest = args.length
    wanted = Wanted(shortest, longest, args.sound, args.classical, args.beside, args.per_game, args.nodes)
    counts: Counter[int] = Counter()
    made: list[Tsume] = []
    with ProgressDisplay() as display:
        games = _counted(_games(args.source, display), display)
        try:
            for problem in generate(games, wanted):
                if args.each is None or counts[problem.length] < args.each:
                    counts[problem.length] += 1
                    made.append(problem)
                if len(made) == args.limit or _is_full(counts, args):
                    break
        except KeyboardInterrupt:
            if not made:
                raise
    if not made:
        raise UsageError(tr("no problem was found"))
    lines = [f"# {_command_line(args)}", *(problem.line() for problem in by_length(made))]
    atomic_write(args.out, "\n".join(lines) + "\n")
    print(tr("wrote {count} {count:problem|problems} to {file}", count=len(made), file=args.out))
    for length in sorted(counts):
        print(tr("mate in {plies}: {count}", plies=length, count=counts[length]))


def _is_full(counts: Counter[int], args: argparse.Namespace) -> bool:
    """Are there enough problems of each length?"""
    shortest, longest = args.length
    lengths = range(shortest + (shortest % 2 == 0), longest + 1, 2)
    return args.each is not None and all(counts[length] >= args.each for length in lengths)


def _command_line(args: argparse.Namespace) -> str:
    """Returns the command line that makes the file again."""
    words = ["goryu tsume make", *(source.name for source in args.source)]
    words.append("--length {}-{}".format(*args.length))
    numbers = {"limit": args.limit, "each": args.each, "per-game": args.per_game, "nodes": args.nodes}
    words += [f"--{name} {value}" for name, value in numbers.items() if value is not None]
    words += [f"--{name}" for name in ("sound", "classical", "beside") if getattr(args, name)]
    return " ".join(words)


def _counted(games: Iterator[GameRecord], display: ProgressDisplay) -> Iterator[GameRecord]:
    for number, game in enumerate(games, 1):
        display.update("games", number, None)
        yield game


def _games(sources: Sequence[Path], display: ProgressDisplay) -> Iterator[GameRecord]:
    """Yields the games of all sources; prints the damaged ones."""
    from goryu.kifu.archives import find_records, read_candidates

    for candidate in read_candidates(find_records(sources)):
        if candidate.game is None:
            display.print(candidate.reason)
        else:
            yield candidate.game
