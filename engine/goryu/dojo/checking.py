"""Checks candidates with more playouts than a review has, and says which of them are sound.

A problem is sound if its answers can be told from the other moves: the best move is better by the threshold
than the first move that is not an answer. A move is an answer if it loses less than half the threshold
against the best move, or wins anyway; a move between half and the whole threshold makes a problem unsound.

The values that are compared come from searches of the positions after the moves, with equal playouts: the
search before the moves only proposes them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from goryu.analysis.description import board_after
from goryu.analysis.position_searcher import PositionSearcher
from goryu.dojo.problems import Problem, ProblemKind, ProblemState
from goryu.dojo.settings import TrainingSettings
from goryu.dojo.tsume.solution import analyse

PROPOSALS = 6
"""Moves that are compared, beside the move of the game."""

COMPARISON_SHARE = 8
"""Each of them is searched with this part of the playouts."""

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
    answers = compared(searcher, problem, settings.playouts, should_stop)
    if answers is None:
        return None
    reason = judged(answers, problem, settings)
    return Verdict(reason, problem.content | {"answers": answers})


def compared(
    searcher: PositionSearcher, problem: Problem, playouts: int, should_stop: ShouldStop
) -> list[dict[str, Any]] | None:
    """Returns the best moves and the move of the game with their win rates, the best first; None if stopped.

    "line" begins with the move itself.
    """
    root = searcher.search(problem.start, problem.moves, playouts, should_stop)
    if should_stop():
        return None
    others = (move for move in root.moves[PROPOSALS:] if move.move == problem.played)
    wanted = [*root.moves[:PROPOSALS], *others]
    answers = []
    for move in wanted:
        win_rate, line = 0.0 if move.mate is None or move.mate < 0 else 1.0, move.pv
        if move.mate is None or len(line) < 2:
            after = (*problem.moves, move.move)
            child = searcher.search(problem.start, after, max(1, playouts // COMPARISON_SHARE), should_stop)
            if should_stop():
                return None
            line = (move.move, *(child.best.pv if child.best else ()))
            if move.mate is None:
                win_rate = 1 - child.win_rate
        answers.append({"move": move.move, "win_rate": round(win_rate, 4), "line": list(line[:LINE])})
    return sorted(answers, key=lambda answer: -answer["win_rate"])


def judged(answers: list[dict[str, Any]], problem: Problem, settings: TrainingSettings) -> str:
    """Marks the moves that are answers as "accepted"; returns why the problem is unsound, or ""."""
    if len(answers) < 2:
        return "over"
    best = answers[0]["win_rate"]
    is_close = False
    for answer in answers:
        loss = best - answer["win_rate"]
        answer["accepted"] = loss < settings.threshold / 2 or answer["win_rate"] >= WON
        is_close = is_close or (not answer["accepted"] and loss < settings.threshold)
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
