"""Checks candidates with more playouts than a review has, and says which of them are sound.

A problem is sound if its answers can be told from the other moves: the best move is better by the threshold
than the first move that is not an answer. A move is an answer if it loses less than half the threshold
against the best move, or wins anyway; a move between half the threshold and `CLEAR` thresholds makes a
problem unsound.

A search proposes moves; each of them then gets equal playouts, those that it had included. Of a problem that
seems sound the moves near the best one are compared again, with as many playouts each as the search before
had: most of the problems that a longer search refutes have a move near one of the limits. All this is one
graph: what was searched for one move serves the others.

A first, short comparison refuses what is hopeless beyond its margin of error, such as positions of an opening
with four good moves. It accepts nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from goryu.analysis.description import board_after
from goryu.analysis.judgement import margin
from goryu.analysis.position_searcher import PositionSearcher, kept_stop
from goryu_page.dojo.problems import Problem, ProblemKind, ProblemState
from goryu_page.dojo.settings import TrainingSettings
from goryu_page.tsume.solution import analyse

PROPOSALS = 6
"""Moves that are compared, beside the move of the game."""

COMPARISON_SHARE = 8
"""Each of them is searched with this part of the playouts."""

CLEAR = 1.15
"""A wrong move loses so many thresholds: of those that lose less a longer search often says otherwise."""

NEAR = 2
"""Moves that lose less than so many thresholds are compared again."""

FIRST_PLAYOUTS = 2_000
"""Of the first comparison."""

LINE = 10
"""Moves that are kept of a line."""

LOST = 0.10
"""Below this win rate after the best move the position is lost anyway."""

WON = 0.95
"""From this win rate on, a move wins, even if another one has a higher rate."""

ShouldStop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found.

    reason: "" if the problem is sound; "lost", "close" (a move is neither good nor bad enough), "many"
    answers, "played" (the move of the game is as good, or was not the only one), "over", "unsolved", or
    "failed" (a defect ended the check).
    """

    reason: str
    content: dict[str, Any]

    @property
    def state(self) -> ProblemState:
        """What becomes of the problem."""
        return ProblemState.UNSOUND if self.reason else ProblemState.SOUND


def check(
    searcher: PositionSearcher, problem: Problem, settings: TrainingSettings, should_stop: ShouldStop
) -> Verdict | None:
    """Checks a candidate; None if `should_stop` ended it early."""
    if problem.kind is ProblemKind.TSUME:
        return _check_tsume(problem, should_stop)
    stop = kept_stop(should_stop)
    reason = ""
    if settings.playouts > FIRST_PLAYOUTS:
        answers = compared(searcher, problem, FIRST_PLAYOUTS, stop)
        reason = hopeless(answers, problem, settings, margin(FIRST_PLAYOUTS // COMPARISON_SHARE))
    if not reason:
        answers = compared(searcher, problem, settings.playouts, stop)
        reason = judged(answers, problem, settings)
    if not reason:
        compare_again(searcher, answers, settings, stop)
        reason = judged(answers, problem, settings)
    if stop():
        return None
    return Verdict(reason, problem.content | {"answers": answers})


def compared(
    searcher: PositionSearcher, problem: Problem, playouts: int, should_stop: ShouldStop
) -> list[dict[str, Any]]:
    """Returns the best moves and the move of the game with their win rates, the best first.

    "line" begins with the move itself.
    """
    root = searcher.search(problem.start, problem.moves, playouts, should_stop)
    others = (move for move in root.moves[PROPOSALS:] if move.move == problem.played)
    share = max(1, playouts // COMPARISON_SHARE)
    answers = [
        _answer(searcher, move.move, share, should_stop) for move in (*root.moves[:PROPOSALS], *others)
    ]
    return sorted(answers, key=_falling)


def hopeless(
    answers: list[dict[str, Any]], problem: Problem, settings: TrainingSettings, error: float
) -> str:
    """Returns why a problem will be unsound although each win rate may be wrong by half of `error`, or ""."""
    if len(answers) < 2:
        return "over"
    best = answers[0]["win_rate"]
    if best + error < LOST:
        return "lost"
    good = [one["move"] for one in answers if best - one["win_rate"] < settings.threshold - error]
    if len(good) > (1 if problem.kind is ProblemKind.ONLY else settings.most_answers):
        return "many"
    return "played" if (problem.played in good) != (problem.kind is ProblemKind.ONLY) else ""


def compare_again(
    searcher: PositionSearcher,
    answers: list[dict[str, Any]],
    settings: TrainingSettings,
    should_stop: ShouldStop,
) -> None:
    """Gives the best moves of the last position all playouts each, and sorts the answers."""
    reach = NEAR * settings.threshold
    best = answers[0]["win_rate"]
    for answer in answers:
        if best - answer["win_rate"] < reach and answer["win_rate"] < 1.0:
            answer |= _answer(searcher, answer["move"], settings.playouts, should_stop)
    answers.sort(key=_falling)


def _answer(searcher: PositionSearcher, move: str, playouts: int, should_stop: ShouldStop) -> dict[str, Any]:
    """Gives a move of the last position playouts: its win rate for the side that moves, and the line."""
    found = searcher.deepen(move, playouts, should_stop)
    rate = (1 + (found.value or 0.0)) / 2 if found.mate is None else float(found.mate > 0)
    return {"move": move, "win_rate": round(rate, 4), "line": list(found.pv[:LINE])}


def _falling(answer: dict[str, Any]) -> float:
    return -float(answer["win_rate"])


def judged(answers: list[dict[str, Any]], problem: Problem, settings: TrainingSettings) -> str:
    """Marks the moves that are answers as "accepted"; returns why the problem is unsound, or ""."""
    if len(answers) < 2:
        return "over"
    best = answers[0]["win_rate"]
    is_close = False
    for answer in answers:
        loss = best - answer["win_rate"]
        answer["accepted"] = loss < settings.threshold / 2 or answer["win_rate"] >= WON
        is_close = is_close or (not answer["accepted"] and loss < CLEAR * settings.threshold)
    accepted = [answer["move"] for answer in answers if answer["accepted"]]
    if best < LOST:
        return "lost"
    if is_close:
        return "close"
    if len(accepted) > settings.most_answers or len(accepted) == len(answers):
        return "many"
    if problem.kind is ProblemKind.ONLY:
        return "" if accepted == [problem.played] else "played"
    return "played" if problem.played in accepted else ""


def _check_tsume(problem: Problem, should_stop: ShouldStop) -> Verdict | None:
    sfen = board_after(problem.start, problem.moves).sfen()
    solution = analyse(sfen, should_stop=should_stop)
    if should_stop():
        return None
    try:
        tsume = solution.problem()
    except ValueError:
        return Verdict("unsolved", problem.content)
    return Verdict("", problem.content | {"length": tsume.length, "line": list(tsume.solution)})
