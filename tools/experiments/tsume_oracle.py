"""Compares mates and their lengths with cshogi: df-pn, and cshogi's own mates in so many plies.

python tools/experiments/tsume_oracle.py GAMES [--positions 10000] [--seed 1]     # HCPE, or any other format

It takes positions of the games, and positions after moves that could have been played, in which the side to
move has a check. Three questions:

- Is there a mate? cshogi's df-pn must not contradict. "not found": it did not answer within its nodes.
- How long is it if useless interpositions count? cshogi's `mate_move` must find a mate in as many plies, and
  none in fewer, up to --plies.
- How long is it if they do not count? That is checked against the definition, written down once more on
  cshogi's board, up to --defined plies.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from goryu.games.state import Move
from goryu.implementation import Board, solve
from goryu.search.mates.mate import MateVerdict
from goryu_lab.records.training_files import read_training_file
from goryu_page.tsume.length import LengthSolver, NodesSpentError
from goryu_page.tsume.solution import problem_board
from tsume_definition import defined_length

NODES = 20_000
LENGTH_NODES = 50_000


class EveryInterposition(LengthSolver):
    """The search in which no interposition is useless."""

    def _is_useless(self, interposition: Move, plies: int, reserved: tuple[int, ...]) -> bool:
        return False


def pure_length(board: Board, most: int) -> int | None:
    """Returns the length if every interposition counts; None if it is more than `most`."""
    solver = EveryInterposition(LENGTH_NODES)
    return next((n for n in range(1, most + 1, 2) if solver.attack_within(board, n) == n), None)


def positions(path: Path, rng: Random) -> Iterator[Board]:
    """Yields positions of games, and some beside them, in which there is a check, without their history."""
    seen: set[int] = set()
    games = list(read_training_file(path, print))
    rng.shuffle(games)
    for game in games:
        board = problem_board(game.start_sfen)
        for ply, move in enumerate(game.moves):
            if 2 * ply < len(game.moves):  # Mates are rare in openings.
                board.push(Move(move))
                continue
            others = [other for other in board.all_legal_moves() if other != move]
            for other in (None, *rng.sample(others, min(6, len(others)))):
                if other is not None:
                    board.push(Move(other))
                if board.position_key not in seen and board.checks():
                    seen.add(board.position_key)
                    yield problem_board(board.sfen())
                if other is not None:
                    board.pop()
            board.push(Move(move))


def main() -> None:
    import cshogi

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--positions", type=int, default=10_000)
    parser.add_argument("--plies", type=int, default=7)
    parser.add_argument("--defined", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    df_pn = cshogi.DfPn(depth=61, nodes=200_000, draw_ply=10_000)
    counts: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    for board in positions(args.source, Random(args.seed)):
        verdict = solve(board, NODES).verdict
        if verdict is MateVerdict.UNKNOWN:
            counts["unknown to us"] += 1
            continue
        sfen = board.sfen()
        theirs = cshogi.Board(sfen)
        finds = bool(df_pn.search(theirs))
        is_mate = verdict is MateVerdict.MATE
        counts[f"mate: {is_mate}, cshogi: {'found' if finds else 'not found'}"] += 1
        if finds != is_mate:
            print("verdict", is_mate, finds, sfen, flush=True)
        if is_mate:
            counts[f"length: {compared(board, cshogi.Board(sfen), args, lengths)}"] += 1
        if counts.total() % 500 == 0:
            print(dict(counts), flush=True)
        if sum(counts[name] for name in counts if name.startswith("mate")) >= args.positions:
            break
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    for length, count in sorted(lengths.items()):
        print(f"{count:6} mates in {length}")


def compared(board: Board, theirs: "object", args: argparse.Namespace, lengths: Counter[int]) -> str:
    """Compares the lengths of a mate; prints contradictions."""
    found = LengthSolver(LENGTH_NODES).length(board)
    if found.plies is None:
        return "unknown to us"
    lengths[found.plies] += 1
    if found.plies > args.plies:
        return "not compared"
    try:
        pure = pure_length(board, args.plies)
    except NodesSpentError:
        return "pure length unknown"
    cshogi_length = next((n for n in range(1, args.plies + 1, 2) if mates_in(theirs, n)), None)
    answer = "same as cshogi's" if found.plies == cshogi_length else "shorter, by useless interpositions"
    if pure != cshogi_length:
        print("pure length", found.plies, pure, cshogi_length, board.sfen(), flush=True)
        answer = "DIFFERENT"
    elif found.plies <= args.defined:
        defined = defined_length(board.sfen(), args.defined)
        answer += ", as defined"
        if defined != found.plies:
            print("by definition", found.plies, defined, board.sfen(), flush=True)
            answer = "NOT AS DEFINED"
    return answer


def mates_in(board: "object", plies: int) -> bool:
    """Does cshogi find a mate within so many plies?"""
    if plies == 1:
        return bool(board.mate_move_in_1ply())  # type: ignore[attr-defined]
    return bool(board.mate_move(plies))  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
