"""Measures reviews: how fast they are, and whether a longer search agrees with them.

    python tools/experiments/review_quality.py GAME...            both
    python tools/experiments/review_quality.py --speed GAME...    only the speed; needs a minute
    python tools/experiments/review_quality.py --agreement --limit 8 --out runs/quality GAME...
    python tools/experiments/review_quality.py --reasons GAME...   only the reasons; needs cshogi

Speed: 150 moves of the games are reviewed at 200 playouts, without the database. Agreement: the games are
reviewed at 400 playouts, and all their moves then judged at 10,000; with `--limit` only so many of those
called mistakes (疑問手, 悪手, 大悪手) and as many of the others, chosen at random. The mistakes show how many
the long search confirms, the others how many the short search misses. The folder `--out` keeps the analyses,
so an interrupted run goes on. Reasons: for how many mistakes `goryu_page.reasons` proves one, and how many of
those hold (`reason_holds`).
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from goryu.analysis.description import board_after
from goryu.analysis.judgement import LEAST_LOSS, MISTAKES, MoveClass
from goryu.analysis.review import GameReview, PlyReview
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.store import AnalysisStore
from goryu.commands.common import new_parser, positive, program
from goryu.evaluators.material import material
from goryu.games.shogi import move_from_usi
from goryu.implementation import Board
from goryu.kifu.reading import read_record
from goryu.kifu.record import GameRecord
from goryu.players.set_up.loading import load_evaluator
from goryu.usi.start_config import start_config
from goryu_page.dojo.move_judge import MoveJudge
from goryu_page.reasons.exchanges import settled
from goryu_page.reasons.reasons import LEAST_GAIN, Reason, ReasonKind, after, passed, reason_of
from goryu_page.reasons.sentences import both_languages

SPEED_MOVES, SPEED_PLAYOUTS = 150, 200


@dataclass
class Counts:
    """What became of the judgements.

    called: mistakes of the short search; confirmed: those that are mistakes of the long one, too.
    checked, missed: other moves that the long search judged, and those that it calls mistakes.
    others: all other moves of the games. severe, severe_confirmed: 悪手 and 大悪手, and those still mistakes.
    """

    called: int = 0
    confirmed: int = 0
    severe: int = 0
    severe_confirmed: int = 0
    checked: int = 0
    missed: int = 0
    others: int = 0
    changes: list[float] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("review_quality.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("games", nargs="+", type=Path, metavar="GAME", help="a game record")
    parser.add_argument("--speed", action="store_true", help="only the speed")
    parser.add_argument("--agreement", action="store_true", help="only the agreement")
    parser.add_argument("--reasons", action="store_true", help="only the reasons of mistakes")
    parser.add_argument("--playouts", type=positive, default=400, metavar="N", help="short (default 400)")
    parser.add_argument(
        "--reference", type=positive, default=10_000, metavar="N", help="long (default 10000)"
    )
    parser.add_argument(
        "--limit",
        type=positive,
        metavar="N",
        help="mistakes of each game, and as many other moves, that are judged at length (default all moves)",
    )
    parser.add_argument(
        "--threads", type=positive, default=2, metavar="N", help="positions at once (default 2)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("runs/review_quality"), help="folder of the analyses"
    )
    return parser


def run(args: argparse.Namespace) -> None:
    """Measures and prints."""
    games = [read_record(path) for path in args.games]
    if args.reasons:
        measure_reasons(args, [(path.name, game) for path, game in zip(args.games, games, strict=True)])
        return
    both = args.speed == args.agreement
    if both or args.speed:
        measure_speed([game.moves for game in games], [game.start for game in games], args.threads)
    if both or args.agreement:
        counts = Counts()
        for path, game in zip(args.games, games, strict=True):
            compare(game.start, game.moves, args, counts)
            print(f"{path.name}: {describe(counts)}", flush=True)


def reviewer(threads: int, store: Path | None) -> Reviewer:
    """Returns a reviewer with the engine's network."""
    config = start_config(None, print)
    config = replace(config, evaluator=replace(config.evaluator, threads=threads))
    return Reviewer(load_evaluator(config.evaluator, print), config, AnalysisStore(store, print))


def measure_speed(games: Sequence[tuple[str, ...]], starts: Sequence[str], threads: int) -> None:
    """Prints how long a review of 150 moves takes."""
    quick = reviewer(threads, None)
    moves = 0
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    for start, line in zip(starts, games, strict=True):
        line = line[: SPEED_MOVES - moves]
        quick.review(GameReview(start, line, SPEED_PLAYOUTS))
        moves += len(line)
        if moves == SPEED_MOVES:
            break
    spent_s, cpu_s = time.monotonic() - began_s, time.process_time() - began_cpu_s
    print(
        f"speed: {moves} moves at {SPEED_PLAYOUTS} playouts, {threads} threads: "
        f"{spent_s:.1f} s, {cpu_s:.1f} s of CPU time"
    )


def compare(start: str, moves: Sequence[str], args: argparse.Namespace, counts: Counts) -> None:
    """Judges one game shortly, and some of its moves at length."""
    args.out.mkdir(parents=True, exist_ok=True)
    short = GameReview(start, moves, args.playouts)
    reviewer(args.threads, args.out / f"{args.playouts}.sqlite3").review(short)
    rng = Random(len(moves))
    plies = {ply.ply - 1: ply for ply in short.plies()}
    called = [index for index, ply in plies.items() if ply.kind in MISTAKES]
    others = [index for index in plies if index not in called]
    counts.others += len(others)
    if args.limit is not None:
        called = sorted(rng.sample(called, min(args.limit, len(called))))
        others = sorted(rng.sample(others, min(len(called), len(others))))
    long = GameReview(start, moves, args.reference)
    reviewer(args.threads, args.out / f"{args.reference}.sqlite3").review(long, moves=[*called, *others])
    for index in called:
        count_called(counts, plies[index], long.ply(index))
    for index in others:
        ply = long.ply(index)
        assert ply is not None
        counts.checked += 1
        counts.missed += ply.kind in MISTAKES
        counts.changes.append(ply.loss - plies[index].loss)


def measure_reasons(args: argparse.Namespace, games: Sequence[tuple[str, GameRecord]]) -> None:
    """Prints each reason and whether it holds, and after each game the counts by kind."""
    args.out.mkdir(parents=True, exist_ok=True)
    quick = reviewer(args.threads, args.out / f"{args.playouts}.sqlite3")
    store = AnalysisStore(args.out / f"{10 * args.playouts}.sqlite3", print)
    judge = MoveJudge(quick.loaded, start_config(None, print), store)
    stated, held, mistakes = Counter[str](), Counter[str](), 0
    for name, game in games:
        review = GameReview(game.start, game.moves, args.playouts)
        quick.review(review)
        for ply in sorted(review.mistakes(), key=lambda ply: ply.ply):
            mistakes += 1
            before = review.moves[: ply.ply - 1]
            board = board_after(review.start, before)
            reason = reason_of(board, ply)
            if reason is None:
                continue
            place = (*before, *(() if reason.is_instead else (ply.move,)))
            holds = reason_holds(reason, review.start, before, place, judge, 10 * args.playouts)
            stated[reason.kind] += 1
            held[reason.kind] += holds
            told = both_languages(reason, board, ply.move)
            print(
                f"{'holds' if holds else 'FALSE'} {name} {ply.ply} {ply.move} -{ply.loss:.2f} {reason.kind}"
            )
            print(f"      {told['en']} {told['ja']}", flush=True)
        kinds = ", ".join(f"{kind} {held[kind]} of {stated[kind]}" for kind in sorted(stated))
        share = interval(held.total(), stated.total())
        total = f"{held.total()} of {stated.total()} reasons hold ({share}), {mistakes} mistakes"
        print(f"{name}: {total}; {kinds}", flush=True)


def reason_holds(
    reason: Reason,
    start: str,
    before: tuple[str, ...],
    position: tuple[str, ...],
    judge: MoveJudge,
    playouts: int,
) -> bool:
    """Does a reason hold by other means than those that proved it?

    A mate, also a threatened one: cshogi's mate solver finds it; of an only move and of brinkmate, after
    every move that must not help. Material: `material_falls`.

    before: the moves to the position before the mistake. position: to the one before the reason's move.
    """
    board = board_after(start, position)
    moved = after(board, move_from_usi(reason.move))
    if reason.kind in (ReasonKind.LOSES, ReasonKind.MISSES_GAIN):
        return material_falls(start, before, (*position, reason.move), judge, playouts)
    if reason.kind in (ReasonKind.THREAT, ReasonKind.MISSES_THREAT):
        return cshogi_mates(passed(moved))
    if reason.kind is ReasonKind.BRINKMATE:
        checks = moved.checks()
        return all(cshogi_mates(after(moved, move)) for move in moved.all_legal_moves() if move not in checks)
    if reason.kind is ReasonKind.ONLY_MOVE:
        first = board_after(start, before)
        return all(
            cshogi_mates(after(first, move))
            for move in first.all_legal_moves()
            if move != move_from_usi(reason.better)
        )
    if reason.kind is ReasonKind.IGNORES_THREAT:
        return cshogi_mates(board) and cshogi_mates(passed(board_after(start, before)))
    return cshogi_mates(board)


def cshogi_mates(board: Board | None) -> bool:
    """Does cshogi's mate solver find a mate by the side to move? board: None where nobody can pass."""
    if board is None:
        return False
    import cshogi

    solver = cshogi.DfPn(depth=61, nodes=1_000_000, draw_ply=10_000)
    return bool(solver.search(cshogi.Board(board.sfen())))


def material_falls(
    start: str,
    before: tuple[str, ...],
    moves: tuple[str, ...],
    judge: MoveJudge,
    playouts: int,
) -> bool:
    """Does the side to move after `moves` have less material than after `before`, by `LEAST_GAIN`?

    It is searched with so many playouts. Both sides go on with the best moves, and at some point the loser is
    behind by that much when the captures have ended, or mated.
    """
    first, board = board_after(start, before), board_after(start, moves)
    loser, searched = board.turn, judge.prepare(start, moves, playouts)
    lead = material(first) if first.turn == loser else -material(first)
    assert searched is not None
    if searched.mate is not None and searched.mate <= 0:
        return True
    for move in searched.best.pv if searched.best else ():
        board.push_usi(move)
        now = material(board) + settled(board).gain
        if lead - (now if board.turn == loser else -now) >= LEAST_GAIN:
            return True
    return False


def count_called(counts: Counts, short: PlyReview, long: PlyReview | None) -> None:
    """Counts a move that the short search calls a mistake."""
    assert long is not None
    is_confirmed = long.kind in MISTAKES
    counts.called += 1
    counts.confirmed += is_confirmed
    if short.kind is not MoveClass.DUBIOUS:
        counts.severe += 1
        counts.severe_confirmed += is_confirmed
    counts.changes.append(long.loss - short.loss)
    print(f"  {short.ply:>4} {short.move:<6} {short.loss:.3f} {short.kind:<8} -> {long.loss:.3f} {long.kind}")


def describe(counts: Counts) -> str:
    """Returns the counts so far as text."""
    severe = f"{counts.severe_confirmed} of {counts.severe} from {LEAST_LOSS[MoveClass.MISTAKE]:.0%} on"
    share = interval(counts.confirmed, counts.called)
    text = f"confirmed {counts.confirmed} of {counts.called} ({share}), {severe}"
    if counts.checked == counts.others:
        mistakes = counts.confirmed + counts.missed
        return f"{text}; missed {counts.missed} of {mistakes} ({interval(counts.missed, mistakes)})"
    missed = counts.missed / max(1, counts.checked)
    return (
        f"{text}; of the other moves {counts.missed} of {counts.checked} are mistakes "
        f"({interval(counts.missed, counts.checked)}), about {missed * counts.others:.0f} of {counts.others}"
    )


def interval(hits: int, trials: int) -> str:
    """Returns a share with its 95 % interval (Wilson).

    >>> interval(17, 20)
    '85 %, 64 to 95'
    """
    if not trials:
        return "none"
    share, z = hits / trials, 1.96
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    least, most = ((centre + sign * half) / (1 + z * z / trials) for sign in (-1, 1))
    return f"{100 * share:.0f} %, {100 * least:.0f} to {100 * most:.0f}"


if __name__ == "__main__":
    raise SystemExit(main())
