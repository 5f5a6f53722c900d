"""Candidates from a review, and what the check makes of them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from goryu.analysis.position_analysis import MoveAnalysis, PositionAnalysis
from goryu.analysis.position_searcher import PositionSearcher
from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.kifu.reading import parse_record
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from goryu_page.dojo.checking import check, hopeless, judged
from goryu_page.dojo.collecting import REST_S, Collector, collect
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Games
from goryu_page.dojo.problems import NewProblem, Problem, ProblemKind, Problems, ProblemState
from goryu_page.dojo.reviews import Reviews
from goryu_page.dojo.settings import TrainingSettings
from present import present

GAME = "position startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b"


def reviewed(
    database: Database, *plies: tuple[int, str, float, int | None, int | None], at: str = "1"
) -> int:
    """Adds a game with the judgement of some plies: (ply, class, loss, missed mate, allowed mate)."""
    record = parse_record(GAME.removesuffix(" 4a3b") if at == "2" else GAME)
    game = present(Games(database).add(record, "game.kif"))
    with database.transaction() as connection:
        connection.execute("UPDATE games SET black = '甲', white = '乙' WHERE id = ?", (game,))
        review = {"game": game, "playouts": 100, "engine": "x", "reviewed": at}
        database.insert("reviews", review | {"black_mistakes": 1, "white_mistakes": 1})
        for ply, kind, loss, missed, allows in plies:
            judgement = {"kind": kind, "missed_mate": missed, "allows_mate": allows, "lead": ply / 10}
            phase = "opening" if ply > 4 else "middlegame"
            row = (game, ply, (ply - 1) % 2, kind, loss, phase, json.dumps(judgement))
            connection.execute("INSERT INTO plies VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return game


def kinds(database: Database) -> dict[int, str]:
    return {row["ply"]: row["kind"] for row in database.rows("SELECT ply, kind FROM problems ORDER BY ply")}


PLIES = (
    (1, "mistake", 0.3, None, None),
    (2, "blunder", 0.4, None, None),
    (3, "good", 0.02, None, None),
    (4, "great", 0.0, None, None),
    (5, "blunder", 0.5, None, 7),
    (6, "mistake", 0.2, 5, None),
    (7, "inaccuracy", 0.06, None, None),
)


def test_each_move_becomes_the_problem_that_it_can_ask_for(database: Database) -> None:
    reviewed(database, *PLIES)
    problems = Problems(database)
    assert collect(database) == 5
    assert kinds(database) == {1: "mistake", 2: "unpunished", 4: "only", 5: "mate", 6: "tsume"}
    assert collect(database) == 0
    first = present(problems.next_candidate())
    assert (first.ply, first.played, len(first.moves)) == (6, "8d8e", 5)
    assert first.content["source"]["names"] == ["甲", "乙"]


def test_what_is_likely_to_be_sound_is_checked_first(database: Database) -> None:
    reviewed(database, *PLIES)
    problems, order = Problems(database), list[int | None]()
    collect(database)
    while (candidate := problems.next_candidate()) is not None:
        order.append(candidate.ply)
        problems.decide(candidate.id, ProblemState.UNSOUND, 100, {"reason": "lost" if order[1:] else "many"})
    assert order == [
        6,
        4,
        2,
        1,
        5,
    ]  # The mate; the middlegame, then the opening, by the lead of the best move.
    assert problems.refusals() == {"lost": 4, "many": 1}


def test_only_the_moves_of_the_user_count_once_a_name_is_known(database: Database) -> None:
    reviewed(database, *PLIES)
    problems = Problems(database)
    collect(database)
    checked = database.rows("SELECT id FROM problems WHERE ply = 2")[0][0]
    problems.decide(checked, ProblemState.SOUND, 100, {})
    Games(database).set_me(["乙"])
    assert collect(database) == 0
    assert set(kinds(database)) == {2, 4, 6}
    assert problems.get(checked).state is ProblemState.SOUND  # What still applies need not be checked again.
    Games(database).set_me(["乙", "別名"])
    assert collect(database) == 0
    Games(database).set_me([])
    assert collect(database) == 2
    assert set(kinds(database)) == {1, 2, 4, 5, 6}
    Games(database).set_me(["乙"])
    assert collect(database) == 0
    reviewed(database, *PLIES[:2], at="2")  # The same position: it is asked once.
    assert collect(database) == 0


def test_reviews_give_their_candidates_in_portions(database: Database) -> None:
    reviewed(database, PLIES[0])
    newest = reviewed(database, PLIES[1], at="2")
    assert collect(database, 1, before_others=newest) == 1
    assert kinds(database) == {2: "mistake"}
    told: list[int] = []
    collector = Collector(database, lambda: told.append(1))
    assert (collector.step(), collector.step()) == (REST_S, None)
    assert kinds(database) == {1: "mistake", 2: "mistake"}
    assert told == [1]


def test_a_removed_problem_does_not_come_back(database: Database) -> None:
    game = reviewed(database, PLIES[0])
    problems = Problems(database)
    collect(database)
    candidate = present(problems.next_candidate())
    problems.remove(candidate.id)
    problems.decide(candidate.id, ProblemState.SOUND, 1, {})
    with database.transaction() as connection:
        connection.execute("UPDATE reviews SET is_collected = 0 WHERE game = ?", (game,))
    collect(database)
    assert problems.get(candidate.id).state is ProblemState.REMOVED


def test_a_damaged_row_is_not_counted(database: Database) -> None:
    reviewed(database, PLIES[0])
    problems = Problems(database)
    collect(database)
    before = problems.counts()
    candidate = present(problems.next_candidate())
    database.run("UPDATE problems SET kind = 'tsuVe' WHERE id = ?", candidate.id)
    before[candidate.kind]["candidate"] -= 1
    assert problems.counts() == before


def answers_of(rates: tuple[float, ...]) -> list[dict[str, Any]]:
    """Returns answers with these win rates, the best first; the last rate is that of the move of the game."""
    moves = [*["7g7f", "2g2f", "6g6f", "1g1f"][: len(rates) - 1], "9g9f"]
    answers = [{"move": move, "win_rate": rate} for move, rate in zip(moves, rates, strict=True)]
    return sorted(answers, key=lambda answer: -float(str(answer["win_rate"])))


def problem(kind: ProblemKind = ProblemKind.MISTAKE, played: str = "9g9f", **changes: Any) -> Problem:
    values: dict[str, Any] = {"start": "", "moves": (), "content": {}} | changes
    return Problem(1, 1, 1, kind, played=played, state=ProblemState.CANDIDATE, playouts=0, **values)


@pytest.mark.parametrize(
    ("rates", "reason"),
    [
        ((0.60, 0.40, 0.20), ""),
        ((0.60, 0.57, 0.40), ""),  # Two answers.
        ((0.60, 0.53, 0.20), "close"),  # Is the second one an answer?
        ((0.60, 0.49, 0.20), "close"),  # Is it wrong?
        ((0.60, 0.48, 0.20), ""),
        ((0.60, 0.59, 0.58, 0.57, 0.20), "many"),
        ((0.09, 0.01, 0.00), "lost"),
        ((1.00, 0.96, 0.40), ""),  # Both win.
        ((0.60, 0.40, 0.58), "played"),  # The move of the game was as good.
    ],
)
def test_a_problem_is_sound_if_its_answers_stand_apart(rates: tuple[float, ...], reason: str) -> None:
    assert judged(answers_of(rates), problem(), TrainingSettings()) == reason


@pytest.mark.parametrize(
    ("game", "plies", "answer"),
    [
        ("ln1g2k2/1rs6/p3ppS1p/1Pnp2p2/9/2P2P3/P1bPP1P1P/3S5/L1G1KGSNL w RNL4Pbg 1 moves 3a2a", 3, "7g3c+"),
        (
            "ln7/1r2g4/3p1+B1k1/p1p1ps1p1/1p4P2/P1PPSl3/1PS5p/1KGG1+b2P/LN5N1 w GSN2Prl3p 1 moves L*1d",
            5,
            "5b4c",
        ),
    ],
)
def test_who_walks_into_a_mate_is_asked_to_avoid_it(
    database: Database, game: str, plies: int, answer: str
) -> None:
    """From the review of the game to a sound problem; the position before the mistake is about even."""
    config = EngineConfig(evaluator=EvaluatorConfig(kind="material"))
    record = parse_record(f"position sfen {game}")
    number = present(Games(database).add(record))
    review = GameReview(record.start, record.moves, 200)
    assert Reviewer(load_evaluator(config.evaluator, print), config).review(review)
    assert Reviews(database).keep(number, review, "material")
    problems = Problems(database)
    assert collect(database) == 1
    candidate = present(problems.next_candidate())
    assert (candidate.kind, candidate.content["allows_mate"]) == (ProblemKind.MATE, plies)
    searcher = PositionSearcher(load_evaluator(config.evaluator, print), config)
    verdict = present(check(searcher, candidate, TrainingSettings(playouts=1000), lambda: False))
    assert verdict.reason == ""
    assert [one["move"] for one in verdict.content["answers"] if one["accepted"]] == [answer]


class Searcher(PositionSearcher):
    """Answers with given win rates of moves: those of a short search, and of a longer one."""

    def __init__(self, rates: dict[str, tuple[float, float]]) -> None:
        self.rates = rates
        self.searched: list[tuple[str, int]] = []

    def search(
        self,
        start: str,
        moves: tuple[str, ...],
        playouts: int,
        should_stop: Callable[[], bool],
        lines: int = 3,
    ) -> PositionAnalysis:
        proposed = tuple(MoveAnalysis(move, 0.1, 1, 0.0, None, (move,)) for move in self.rates)
        return PositionAnalysis(playouts, False, 0.0, proposed)

    def deepen(self, move: str, playouts: int, should_stop: Callable[[], bool]) -> MoveAnalysis:
        should_stop()
        self.searched.append((move, playouts))
        return MoveAnalysis(move, 0.1, playouts, 2 * self.rates[move][playouts >= 800] - 1, None, (move,))


@pytest.mark.parametrize(
    ("rates", "kind", "reason"),
    [
        ((0.60, 0.45, 0.57), ProblemKind.MISTAKE, "played"),
        ((0.60, 0.45, 0.54), ProblemKind.MISTAKE, ""),  # A longer search may find it to be wrong.
        ((0.60, 0.59, 0.58, 0.55, 0.30), ProblemKind.MISTAKE, "many"),
        ((0.04, 0.01, 0.00), ProblemKind.MISTAKE, "lost"),
        ((0.55, 0.30, 0.60), ProblemKind.ONLY, "many"),
        ((0.50, 0.30, 0.60), ProblemKind.ONLY, ""),
    ],
)
def test_a_short_search_refuses_only_beyond_its_error(
    rates: tuple[float, ...], kind: ProblemKind, reason: str
) -> None:
    assert hopeless(answers_of(rates), problem(kind), TrainingSettings(), 0.05) == reason


def test_moves_near_the_best_are_compared_again_with_all_playouts() -> None:
    settings = TrainingSettings(playouts=800)
    searcher = Searcher(
        {"7g7f": (0.60, 0.58), "2g2f": (0.45, 0.50), "1g1f": (0.20, 0.60), "9g9f": (0.47, 0.3)}
    )
    verdict = present(check(searcher, problem(), settings, lambda: False))
    assert verdict.reason == "close"  # At first 2g2f seemed to lose enough.
    assert searcher.searched[4:] == [("7g7f", 800), ("9g9f", 800), ("2g2f", 800)]

    searcher.rates["2g2f"] = (0.45, 0.40)
    verdict = present(check(searcher, problem(), settings, lambda: False))
    assert verdict.reason == ""
    assert [answer["win_rate"] for answer in verdict.content["answers"]] == [0.58, 0.4, 0.3, 0.2]


def test_a_check_that_was_stopped_for_a_moment_decides_nothing() -> None:
    asked = iter([False, True])
    searcher = Searcher({"7g7f": (0.60, 0.60), "9g9f": (0.20, 0.20)})
    assert check(searcher, problem(), TrainingSettings(playouts=800), lambda: next(asked, False)) is None


def test_a_mate_is_found_and_every_other_move_is_wrong() -> None:
    """A gold on 5b mates; a check by a search with few playouts knows that nothing else does."""
    config = EngineConfig(evaluator=EvaluatorConfig(kind="material"))
    searcher = PositionSearcher(load_evaluator(config.evaluator, print), config)
    start = "4k4/9/4P4/9/9/9/9/r8/4K4 b G 1"
    one = problem(ProblemKind.MATE, "5c5b+", start=start)
    verdict = present(check(searcher, one, TrainingSettings(playouts=200), lambda: False))
    assert [answer["move"] for answer in verdict.content["answers"] if answer["accepted"]] == ["G*5b"]
    assert verdict.content["answers"][0]["win_rate"] == 1
    assert check(searcher, one, TrainingSettings(playouts=200), lambda: True) is None

    tsume = problem(ProblemKind.TSUME, start=start)
    verdict = present(check(searcher, tsume, TrainingSettings(), lambda: False))
    assert verdict.state is ProblemState.SOUND
    assert verdict.content == {"length": 1, "line": ["G*5b"]}


def test_free_training_begins_with_what_was_never_answered(database: Database) -> None:
    problems = Problems(database)
    starts = ("4k4/9/4P4/9/9/9/9/9/9 b G 1", "4k4/9/4P4/9/9/9/9/9/9 b G2P 1", "4k4/9/4P4/9/9/9/9/9/9 b GS 1")
    lengths = (1, 1, 3)
    problems.add(
        [
            NewProblem(ProblemKind.TSUME, start, (), {"length": length, "line": []}, state=ProblemState.SOUND)
            for start, length in zip(starts, lengths, strict=True)
        ]
    )
    assert problems.lengths() == {1: 2, 3: 1}

    def picked(lengths: tuple[int, int] | None, *avoid: int) -> int:
        return present(problems.pick(ProblemKind.TSUME, lengths, avoid)).id

    assert picked((3, 5)) == 3
    assert picked((1, 1)) == 1
    assert picked((1, 1), 1) == 2
    with database.transaction() as connection:
        connection.execute("INSERT INTO attempts VALUES (1, 1, '2026', '', 0, 0, 1, 0)")
    assert picked(None) == 3  # One of each length.
    assert picked(None, 3) == 2
    assert problems.pick(ProblemKind.ONLY) is None
