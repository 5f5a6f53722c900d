"""Measures the problems of the dojo: how many of those that it asks are sound.

    python tools/experiments/problem_soundness.py GAME... --fairy /usr/games/fairy-stockfish

Each file has one game. The games are reviewed, some moves of each become candidates, and the check of the
dojo decides which are asked. Those are judged again: by Fairy-Stockfish, whose best move should be one of
the answers, and with twice the playouts after every move near the best one, in which the answers should stay
apart from the other moves. The folder `--out` keeps what is done, so an interrupted run goes on.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from goryu.analysis.position_searcher import PositionSearcher
from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.store import AnalysisStore
from goryu.commands.common import new_parser, positive, program
from goryu.engines.usi_client import EngineSpec, UsiClient
from goryu.kifu.reading import read_record
from goryu.players.set_up.loading import load_evaluator
from goryu.usi.start_config import start_config
from goryu_page.dojo.checking import NEAR, check
from goryu_page.dojo.collecting import collect
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Games
from goryu_page.dojo.problems import Problem, ProblemKind, Problems, ProblemState
from goryu_page.dojo.reviews import Reviews
from goryu_page.dojo.settings import TrainingSettings

FAIRY_OPTIONS = (("UCI_Variant", "shogi"), ("Hash", "64"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("problem_soundness.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("games", nargs="+", type=Path, metavar="GAME", help="a game record")
    parser.add_argument("--fairy", type=Path, required=True, metavar="FILE", help="Fairy-Stockfish")
    parser.add_argument("--nodes", type=positive, default=2_000_000, metavar="N", help="of Fairy-Stockfish")
    parser.add_argument("--review", type=positive, default=400, metavar="N", help="playouts (default 400)")
    parser.add_argument(
        "--playouts",
        type=positive,
        default=TrainingSettings().playouts,
        metavar="N",
        help="of a check (default: that of the dojo)",
    )
    parser.add_argument("--limit", type=positive, default=3, metavar="N", help="candidates of each game")
    parser.add_argument("--out", type=Path, default=Path("runs/problems"), help="folder of the results")
    return parser


def run(args: argparse.Namespace) -> None:
    """Measures and prints."""
    args.out.mkdir(parents=True, exist_ok=True)
    database = Database(args.out / "dojo.sqlite3")
    problems = Problems(database)
    config = start_config(None, print)
    config = replace(config, evaluator=replace(config.evaluator, threads=1))
    for path in args.games:
        add_game(path, database, args.out, args.review)
    collect(database)
    chosen = choose(database, args.limit)
    loaded = load_evaluator(config.evaluator, print)
    searcher = PositionSearcher(loaded, config)
    settings = TrainingSettings(playouts=args.playouts)
    fairy = Fairy(args.fairy, args.nodes)
    for number, identity in enumerate(chosen, start=1):
        problem = problems.get(identity)
        if problem.state is ProblemState.CANDIDATE:
            verdict = check(searcher, problem, settings, lambda: False)
            assert verdict is not None
            content = verdict.content | {"reason": verdict.reason}
            problems.decide(identity, verdict.state, settings.playouts, content)
            problem = problems.get(identity)
        print(f"{number} of {len(chosen)}: {describe(problem)}", flush=True)
        if is_asked(problem):
            fairy.judge(problem)
    fairy.client.quit()
    asked = [one for identity in chosen if is_asked(one := problems.get(identity))]
    print(f"checked {len(chosen)}, asked {len(asked)}: {dict(reasons(problems, chosen))}")
    check_again(asked, searcher, settings)


def add_game(path: Path, database: Database, out: Path, playouts: int) -> None:
    """Adds a game with its review, unless it is there."""
    game = read_record(path)
    identity = Games(database).add(game, path.name)
    if identity is None:
        return
    config = start_config(None, print)
    store = AnalysisStore(out / "analyses.sqlite3", print)
    reviewer = Reviewer(load_evaluator(config.evaluator, print), config, store)
    review = GameReview(game.start, game.moves, playouts)
    reviewer.review(review)
    store.close()
    Reviews(database).keep(identity, review, "network")
    print(f"{path.name}: {len(game.moves)} moves", flush=True)


def choose(database: Database, limit: int) -> list[int]:
    """Returns the problems to check: of each game some, chosen at random but always in the same way."""
    rng, chosen = Random(1), []
    for (game,) in database.rows("SELECT id FROM games ORDER BY id"):
        rows = database.rows("SELECT id FROM problems WHERE game = ? ORDER BY ply", game)
        found = [row["id"] for row in rows]
        chosen += sorted(rng.sample(found, min(limit, len(found))))
    return chosen


def describe(problem: Problem) -> str:
    """Returns a problem and what its check found as one line."""
    answers = problem.content.get("answers", [])
    moves = " ".join(
        f"{answer['move']}{'' if answer.get('accepted') else '-'}{answer['win_rate']:.2f}"
        for answer in answers
    )
    return f"{problem.kind} ply {problem.ply} {problem.state} {problem.content.get('reason', '')} {moves}"


def reasons(problems: Problems, chosen: Sequence[int]) -> Counter[str]:
    """Counts why candidates are not asked."""
    return Counter(problems.get(identity).content.get("reason", "") for identity in chosen)


def is_asked(problem: Problem) -> bool:
    """Is this a problem with one move to find, and sound? A mate problem is proved."""
    return problem.state is ProblemState.SOUND and problem.kind is not ProblemKind.TSUME


class Fairy:
    """Counts the problems in which the other engine plays one of the answers."""

    def __init__(self, path: Path, nodes: int) -> None:
        self.client = UsiClient(EngineSpec((str(path),), FAIRY_OPTIONS))
        self.client.start()
        self._nodes = nodes
        self._asked = self._agreed = 0

    def judge(self, problem: Problem) -> None:
        """Asks the engine for its move, and prints it."""
        self.client.new_game()
        position = " ".join(("position sfen", problem.start, "moves", *problem.moves))
        reply = self.client.go(position, f"go nodes {self._nodes}", None)
        answers = [answer["move"] for answer in problem.content["answers"] if answer["accepted"]]
        self._asked += 1
        self._agreed += reply.move in answers
        played = " = the move of the game" if reply.move == problem.played else ""
        print(
            f"  fairy: {reply.move}{played}, answers {answers}; {self._agreed} of {self._asked}", flush=True
        )


def check_again(asked: Sequence[Problem], searcher: PositionSearcher, settings: TrainingSettings) -> None:
    """Compares the moves near the best one again, each by a search of its own with twice the playouts.

    A problem stays sound if the best move is an answer and better by the threshold than all that are none.
    """
    sound = 0
    for number, problem in enumerate(asked, start=1):
        again = [dict(answer) for answer in problem.content["answers"]]
        least = again[0]["win_rate"] - NEAR * settings.threshold
        for answer in again:
            if least < answer["win_rate"] < 1.0:
                way = (*problem.moves, answer["move"])
                child = searcher.search(problem.start, way, 2 * settings.playouts, lambda: False)
                answer["win_rate"] = 1 - child.win_rate
        again.sort(key=lambda answer: -answer["win_rate"])
        best = again[0]
        wrong = max((answer["win_rate"] for answer in again if not answer["accepted"]), default=0.0)
        is_sound = best["accepted"] and best["win_rate"] - wrong >= settings.threshold
        sound += is_sound
        gap = f"{best['move']} better by {best['win_rate'] - wrong:.2f}"
        print(f"2x: {'sound' if is_sound else 'unsound'}, {gap}; {sound} of {number}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
