"""Measures how soon the page's views answer with many games, all of them reviewed, and many problems.

    python tools/experiments/large_dojo.py              10,000 games, 3,000 problems
    python tools/experiments/large_dojo.py --dojo runs/large.sqlite3

The games are random after their first moves, and their reviews are pretended: one move in eight loses at
least 10 % of win rate. At first no candidate has been made of the reviews, as after a change of one's name:
`train.state` is asked until all are made. Then as many candidates as `--problems` says become problems, and
every request of a view that reads the database is sent several times. Prints, in ms, the first answer, the
slowest of the others, and the least processor time, which a busy machine disturbs less. With `--dojo` the
file is kept, and used again by the next run.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from goryu.analysis.position_analysis import MoveAnalysis, PositionAnalysis
from goryu.analysis.review import GameReview
from goryu.commands.common import new_parser, positive, program
from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.players.config import EngineConfig
from goryu_page.dojo.database import Database
from goryu_page.dojo.dojo import Dojo
from goryu_page.dojo.games import Games
from goryu_page.dojo.reviews import Reviews, summarise
from goryu_page.dojo.settings import change_training_settings
from goryu_page.session.session import Session
from goryu_page.views.views import VIEWS

ME = "甲"
OPENINGS = ("7g7f 8c8d 2g2f", "7g7f 3c3d 2g2f", "2g2f 8c8d 2f2e", "2g2f 3c3d 7g7f", "5g5f 3c3d 2h5h")
PLIES = 100
MISTAKE_SHARE = 1 / 8
REVIEWS = 100
"""Different reviews."""

Request = tuple[str, dict[str, Any]]

REQUESTS: tuple[Request, ...] = (
    ("games.state", {}),
    ("games.list", {}),
    ("games.list", {"sort": "accuracy"}),
    ("games.list", {"text": "相手3 ranging", "side": "black", "result": "won"}),
    ("games.list", {"first": 9950}),
    ("games.progress", {"minutes": 540}),
    ("explorer.look", {"moves": []}),
    ("explorer.look", {"moves": [], "games": "mine", "side": "black"}),
    ("explorer.look", {"moves": ["7g7f", "3c3d"]}),
    ("train.state", {}),
    ("train.summary", {}),
    ("train.next", {"mode": "today"}),
    ("train.next", {"mode": "free", "kind": "mistake"}),
    ("train.solution", {}),
    ("train.next", {"mode": "storm", "length": 3}),
    ("train.strength", {}),
    ("play.options", {}),
    ("review.state", {}),
    ("microscope.state", {}),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("large_dojo.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--games", type=positive, default=10_000, metavar="N", help="default 10000")
    parser.add_argument("--problems", type=positive, default=3_000, metavar="N", help="default 3000")
    parser.add_argument("--times", type=positive, default=6, metavar="N", help="of each request (default 6)")
    parser.add_argument("--dojo", type=Path, metavar="FILE", help="the database, which is kept")
    return parser


def run(args: argparse.Namespace) -> None:
    """Makes the dojo, and measures."""
    with tempfile.TemporaryDirectory() as folder:
        path: Path = args.dojo or Path(folder, "dojo.sqlite3")
        if not path.exists():
            fill(path, args.games)
        dojo = Dojo(path, EngineConfig())
        try:
            print(
                f"the database opens in {1000 * opening_s(dojo):.0f} ms, {path.stat().st_size / 1e6:.0f} MB"
            )
            asyncio.run(measure(dojo, args.problems, args.times))
        finally:
            dojo.close()


def fill(path: Path, count: int) -> None:
    """Makes a database of reviewed games; the plies of the first reviews are those of the others, too."""
    database, rng = Database(path), Random(1)
    games, reviews = Games(database), Reviews(database)
    games.set_me([ME])
    change_training_settings(database, {"is_checking": False})
    reviewed: list[int] = []
    for number in range(count):
        game = random_game(number, rng)
        if (identity := games.add(game, f"{number}.kif")) is None:
            continue
        if len(reviewed) < REVIEWS:
            reviews.keep(identity, pretended_review(game, rng), "none")
            reviewed.append(identity)
        else:
            copy_review(database, rng.choice(reviewed), identity, len(game.moves))
        if number % 1000 == 999:
            print(f"{number + 1} games", flush=True)
    database.close()


def copy_review(database: Database, source: int, game: int, plies: int) -> None:
    """Gives a game the review of another one."""
    row = dict(database.rows("SELECT * FROM reviews WHERE game = ?", source)[0])
    columns = "ply, turn, kind, loss, phase, judgement"
    with database.transaction() as connection:
        database.insert("reviews", row | {"game": game})
        connection.execute(
            f"INSERT INTO plies (game, {columns}) SELECT ?, {columns} FROM plies WHERE game = ? AND ply <= ?",
            (game, source, plies),
        )
        summarise(connection, game)


def random_game(number: int, rng: Random) -> GameRecord:
    """Returns a game of random moves after an opening; the user is black in every other game."""
    board, moves = Board(), list[Ply]()
    while len(moves) < PLIES and board.outcome() is None:
        known = OPENINGS[number % len(OPENINGS)].split()
        is_known = len(moves) < len(known)
        move = known[len(moves)] if is_known else move_to_usi(rng.choice(board.all_legal_moves()))
        board.push_usi(move)
        moves.append(Ply(move))
    other = f"相手{number % 40}"
    return GameRecord(
        plies=tuple(moves),
        names=(other, ME) if number % 2 else (ME, other),
        ending=Ending.RESIGNATION,
        winner=rng.randrange(2),
        headers={"開始日時": f"{2010 + number % 16}/{1 + number % 12:02}/{1 + number % 28:02}"},
    )


def pretended_review(game: GameRecord, rng: Random) -> GameReview:
    """Returns a review in which the win rate walks at random."""
    review, board, value = GameReview(game.start, game.moves, 400), Board(game.start), 0.0
    for index, played in enumerate(game.moves):
        loss = rng.uniform(0.2, 0.6) if rng.random() < MISTAKE_SHARE else rng.uniform(0.0, 0.04)
        best = move_to_usi(rng.choice(board.all_legal_moves()))
        after = max(-1.0, value - loss)
        moves = [MoveAnalysis(played, 0.2, 100, after, None, (played,))]
        if best != played:
            moves.insert(0, MoveAnalysis(best, 0.4, 300, value, None, (best,) * 8))
        review.analyses[index] = PositionAnalysis(400, True, value, tuple(moves))
        board.push_usi(played)
        value = min(0.9, -after)
    last = MoveAnalysis("resign", 1.0, 400, value, None, ())
    review.analyses[-1] = PositionAnalysis(400, True, value, (last,))
    return review


def opening_s(dojo: Dojo) -> float:
    """Opens the database, which migrates it; returns the seconds."""
    began_s = perf_counter()
    dojo.database  # noqa: B018 - opens
    return perf_counter() - began_s


async def measure(dojo: Dojo, problems: int, times: int) -> None:
    """Prints the time of each request."""
    session = Session(VIEWS, dojo)
    try:
        began_s = perf_counter()
        answers = [await answer_s(session, "train.state", {})]
        while dojo.database.rows("SELECT 1 FROM reviews WHERE is_collected = 0 LIMIT 1"):
            answers.append(await answer_s(session, "train.state", {}))
            await asyncio.sleep(1)
        print(f"candidates of all reviews after {perf_counter() - began_s:.0f} s; train.state meanwhile:")
        show("train.state", {}, answers)
        decide(dojo.database, problems)
        for name, content in REQUESTS:
            show(name, content, [await answer_s(session, name, content) for _ in range(times)])
    finally:
        session.close()


async def answer_s(session: Session, name: str, content: dict[str, Any]) -> tuple[float, float]:
    """Returns how long the answer to a message of the page takes, and the processor time."""
    handler = session.views[name.partition(".")[0]].handlers()[name]
    began_s, worked_s = perf_counter(), process_time()
    answer = handler(content)
    if isinstance(answer, Awaitable):
        await answer
    return perf_counter() - began_s, process_time() - worked_s


def show(name: str, content: dict[str, Any], answers: Sequence[tuple[float, float]]) -> None:
    """Prints the first answer, the slowest of the others, and the least processor time."""
    waited, worked = zip(*answers, strict=True)
    numbers = (waited[0], max(waited[1:], default=waited[0]), min(worked))
    columns = " | ".join(f"{1000 * number:.0f}" for number in numbers)
    print(f"| {name} {json.dumps(content, ensure_ascii=False)} | {columns} |", flush=True)


def decide(database: Database, count: int) -> None:
    """Makes problems of so many candidates, and refuses the others."""
    with database.transaction() as connection:
        select = "SELECT id, played, content FROM problems WHERE state = 'candidate'"
        candidates = connection.execute(select).fetchall()
        for number, row in enumerate(spread(candidates, count)):
            state = "sound" if number < count else "unsound"
            answer = {"move": row["played"], "win_rate": 0.6, "line": [row["played"]], "accepted": True}
            content = json.loads(row["content"]) | {"answers": [answer], "reason": "many"}
            statement = "UPDATE problems SET state = ?, playouts = 20000, content = ? WHERE id = ?"
            connection.execute(statement, (state, json.dumps(content), row["id"]))


def spread(rows: Sequence[Any], count: int) -> Iterator[Any]:
    """Yields all rows; the first `count` come from everywhere."""
    step = max(1, len(rows) // count)
    yield from rows[::step]
    yield from (row for number, row in enumerate(rows) if number % step)


if __name__ == "__main__":
    raise SystemExit(main())
