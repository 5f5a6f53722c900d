"""The view "Train": problems from the user's games, the list of the day, and mate problems."""

from dataclasses import dataclass
from dataclasses import field as data_field
from datetime import datetime
from time import monotonic
from typing import Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import asdict as fields_of

from goryu.analysis.description import board_after, named_line, shown_position
from goryu.analysis.review import PlyReview
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.implementation import Board
from goryu.players.set_up.model_path import told_choice
from goryu_page.dojo.answering import following, hint_move, judge_answer
from goryu_page.dojo.database import now
from goryu_page.dojo.idea import MOVES, Idea
from goryu_page.dojo.move_judge import loses
from goryu_page.dojo.next_move_file import read_next_moves, write_next_moves
from goryu_page.dojo.problems import Problem, ProblemKind
from goryu_page.dojo.schedule import Attempt
from goryu_page.dojo.settings import change_training_settings, training_settings, tsume_lengths
from goryu_page.dojo.strength import GRADES, set_grade, strength
from goryu_page.session.messages import MessageError
from goryu_page.session.session import Job, Session, View, in_thread
from goryu_page.tsume.judge import TsumeGame, Verdict
from goryu_page.views.told_problems import (
    answer_json,
    board_after_move,
    board_of,
    day_json,
    judged_json,
    problem_json,
    solution_json,
)

Json = dict[str, Any]

NO_NEXT_MOVES = (ProblemKind.TSUME, ProblemKind.OPENING)
"""Kinds that a file of next-move problems does not have."""


@dataclass
class Shown:
    """The problem on the board of one tab.

    mode: "today", "free" or "storm", whose answers are not kept. began_s: when it was shown, later by the
    time of the judgements; answered_s: when the last answer came (both monotonic). hints: given so far.
    is_kept: has the first answer been kept? game: of a mate problem. reply: what a page that is loaded again
    shows: {"move", "answer"} of the last answer, {"told"}, or None. idea: how the game goes on after a right
    answer, if that is known; is_idea: does the board show it?
    """

    problem: Problem
    mode: str
    began_s: float = data_field(default_factory=monotonic)
    answered_s: float = 0.0
    hints: int = 0
    is_kept: bool = False
    game: TsumeGame | None = None
    reply: Json | None = None
    idea: Idea | None = None
    is_idea: bool = False


class TrainView(View):
    """The problem of one tab; what is due is the same in all tabs."""

    name = "train"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._shown: Shown | None = None
        self._skipped: dict[int, None] = {}  # In order.
        self._stormed: list[int] = []

    def now(self) -> datetime:
        """The time."""
        return self.session.dojo.timing.now()

    # The list and the settings.

    @in_thread
    def on_state(self) -> Json:
        """Returns settings, counts and the list of the day, and makes problems of new reviews."""
        self.session.dojo.problems.add_starter_set()
        self.session.dojo.collect()
        return self._state()

    @in_thread
    def on_summary(self) -> Json:
        """Returns what `on_state` returns, without making problems."""
        return self._state()

    def _state(self) -> Json:
        dojo = self.session.dojo
        counts = dojo.problems.counts()
        waiting = sum(states["candidate"] for states in counts.values())
        mates = counts[ProblemKind.TSUME]["candidate"]
        return {
            "settings": fields_of(training_settings(dojo.database)),
            "counts": {kind: states["sound"] for kind, states in counts.items()},
            "waiting": waiting,
            "seconds": dojo.checker.seconds(mates, waiting - mates),
            "refused": dojo.problems.refusals(),
            "isChecking": dojo.checker.is_running,
            "failure": dojo.checker.failure,
            "lengths": dojo.problems.lengths(),
            "strength": self._strength(),
            "tsume": tsume_lengths(dojo.database),
            "day": day_json(dojo.schedule.day(self.now())),
        }

    @in_thread
    def on_change(self, changes: dict[str, Any]) -> Json:
        """Changes settings, given by their names; returns the state."""
        change_training_settings(self.session.dojo.database, changes)
        self.session.dojo.checker.wake()
        return self._state()

    @in_thread
    def on_strength(self) -> Json:
        """Returns how strong the user is: grade (None: not known), level (a match), and all grades."""
        return self._strength()

    @in_thread
    def on_grade(self, grade: str) -> Json:
        """Keeps the grade that the user names; returns what `on_strength` returns."""
        set_grade(self.session.dojo.database, grade)
        self.session.dojo.tell("train.changed")
        return self._strength()

    def _strength(self) -> Json:
        known = strength(self.session.dojo.database)
        return {"grade": known and known.grade, "level": known and known.level, "grades": list(GRADES)}

    # A problem on the board.

    async def on_next(
        self,
        mode: Literal["today", "free", "storm"],
        skips: bool = False,
        kind: ProblemKind | None = None,
        length: Annotated[int, Meta(ge=1, le=99)] | None = None,
    ) -> Json | None:
        """Shows the next problem and returns it, or None if there is none.

        kind: with "free", where mate problems may also have a length. length: with "storm", mate problems
        against the clock. skips: is the shown problem to come after all others?
        """
        dojo = self.session.dojo
        if mode == "free" and kind is None:
            raise MessageError("train.next: expected a kind")
        self.session.stop("train.answer")
        avoided = [*self._skipped]
        if self._shown:
            avoided.append(self._shown.problem.id)
            if skips:
                self._skipped.pop(self._shown.problem.id, None)
                self._skipped[self._shown.problem.id] = None

        def work() -> Problem | None:
            if mode == "storm":
                return dojo.problems.any_tsume(length or 1, self._stormed)
            if mode == "free" and kind is not None:
                return self._pick(kind, length, avoided)
            left = dojo.schedule.day(self.now()).problems
            if skipped := [one for one in self._skipped if one in left]:
                left = (*(one for one in left if one not in skipped), *skipped)
            return dojo.problems.get(left[0]) if left else None

        problem = await self.ask("train.next", work)
        self._shown = Shown(problem, mode) if problem else None
        if problem and mode == "storm":
            self._stormed.append(problem.id)
        return self._problem()

    async def on_open(self, problem: Annotated[int, Meta(ge=1, le=1 << 62)]) -> Json | None:
        """Shows a problem and returns it; it counts for the list of the day if that has it.

        problem: its number in the database.
        """
        self.session.stop("train.answer")
        dojo = self.session.dojo

        def work() -> Shown:
            is_listed = problem in dojo.schedule.day(self.now()).problems
            return Shown(dojo.problems.sound_one(problem), "today" if is_listed else "free")

        self._shown = await self.ask("train.next", work)
        return self._problem()

    def _pick(self, kind: ProblemKind, length: int | None, avoided: list[int]) -> Problem | None:
        """Returns a problem for free training; without a length those that suit the user come first."""
        dojo = self.session.dojo
        if length:
            return dojo.problems.pick(kind, (length, length), avoided)
        suiting = tsume_lengths(dojo.database) if kind is ProblemKind.TSUME else None
        return dojo.problems.pick(kind, suiting, avoided) or dojo.problems.pick(kind, None, avoided)

    def on_problem(self, is_again: bool = False) -> Json | None:
        """Returns the problem that is shown, from its start, and what was said of the answer; or None.

        is_again: may the user answer again?
        """
        if self._shown is not None:
            self._shown.game, self._shown.is_idea = None, False
            if is_again:
                self._shown.reply = None
        return self._problem()

    def _problem(self) -> Json | None:
        shown = self._shown
        if shown is None:
            return None
        known = {"reply": shown.reply, "isAnswered": shown.is_kept}
        return problem_json(shown.problem, shown.mode) | known

    def _here(self) -> Shown:
        if self._shown is None:
            raise InputError(tr("no problem is shown"))
        return self._shown

    async def on_prepare(self) -> None:
        """Searches the position while the user thinks, so that the answer is judged quickly."""
        problem = self._here().problem
        if problem.kind is ProblemKind.TSUME:
            return
        await self.session.run("train.answer", lambda job: self._prepare(job, problem))

    def _prepare(self, job: Job, problem: Problem) -> None:
        dojo = self.session.dojo
        dojo.judge.prepare(problem.start, problem.moves, dojo.playouts.answer, lambda: job.is_stopped)

    async def on_answer(self, move: str) -> Json | None:
        """Judges a move in USI; returns the result, or None if another problem was shown meanwhile."""
        shown = self._here()
        if move not in shown_position(_reached(shown))["legal"]:
            raise MessageError(f"train.answer: {move[:10]!r} is not legal")
        shown.answered_s = monotonic()
        try:
            return await self.session.run("train.answer", lambda job: self._answer(job, shown, move))
        finally:
            shown.began_s += monotonic() - shown.answered_s

    def _answer(self, job: Job, shown: Shown, move: str) -> Json | None:
        if shown.problem.kind is ProblemKind.TSUME:
            return self._answer_tsume(shown, move)
        if shown.is_idea and shown.idea:
            return self._answer_in_idea(job, shown, shown.idea, move)
        dojo = self.session.dojo
        threshold = training_settings(dojo.database).threshold
        answer = judge_answer(
            shown.problem,
            move,
            lambda: dojo.judge,
            threshold,
            lambda: job.is_stopped,
            dojo.playouts.answer,
        )
        if answer is None or shown is not self._shown:
            return None
        past = self._keep(shown, move, answer.is_right)
        idea = Idea(shown.problem)
        has_idea = answer.is_right and idea.play(move, following(shown.problem, answer)) is not None
        shown.idea = idea if has_idea else None
        said = answer_json(shown.problem, answer) | self._told(shown, past) | {"hasIdea": has_idea}
        shown.reply = {"move": move, "answer": said}
        return said

    def on_idea(self) -> Json:
        """Goes on after a right answer; returns the position after the opponent's reply, and the reply."""
        shown = self._here()
        if shown.idea is None:
            raise MessageError("train.idea: expected a right answer with hasIdea")
        shown.is_idea = True
        return _reply_json(shown.idea)

    def _answer_in_idea(self, job: Job, shown: Shown, idea: Idea, move: str) -> Json | None:
        """Judges a move after the answer; nothing of it is kept."""
        dojo, review, rest = self.session.dojo, None, idea.expected[1:]
        if move != idea.expected[0]:
            playouts = dojo.playouts.answer
            review = dojo.judge.judge(idea.problem.start, idea.way, move, playouts, lambda: job.is_stopped)
            if review is None or shown is not self._shown:
                return None
            rest = review.refutation
            if loses(review, training_settings(dojo.database).threshold, playouts):
                return judged_json(idea.board, move, False, review)
        said = judged_json(idea.board, move, True, review)
        if idea.play(move, rest):
            text = tr("Right, {count} of {all}.", count=idea.found, all=MOVES)
            return said | {"text": text, "isOver": False, **_reply_json(idea)}
        shown.idea, shown.is_idea = None, False
        told = self._told(shown, self._keep(shown, move, True))
        shown.reply = {"told": told}
        return said | {"text": tr("Right, that is the idea."), "isOver": True, **told}

    async def on_solution(self) -> Json:
        """Returns the solution; a problem that was not answered yet counts as not solved."""
        shown = self._here()
        shown.answered_s = monotonic()
        # Under the name of the answer's job: they never run at once, so one of them is kept. An answer that
        # is still being judged is given up.
        told = await self.ask("train.answer", lambda: self._told(shown, self._keep(shown, "", False)))
        shown.reply = {"told": told}
        return told

    async def on_hint(self) -> Json:
        """Returns the piece that moves, then also the square: {"from": "7g" or "P*", "to": "7f" or None}."""
        shown = self._here()
        if shown.problem.kind is ProblemKind.TSUME:
            move = await self.session.run("train.answer", lambda job: _tsume_hint(shown))
        elif shown.is_idea and shown.idea:
            move = shown.idea.expected[0]
        else:
            move = hint_move(shown.problem)
        shown.hints += 1
        return {"from": move[:2], "to": move[2:4] if shown.hints > 1 else None}

    def _keep(self, shown: Shown, move: str, is_right: bool) -> list[Attempt]:
        """Keeps the first answer; returns the attempts before it."""
        if shown.mode == "storm":
            return []
        schedule = self.session.dojo.schedule
        past = schedule.attempts(shown.problem.id)
        if shown.is_kept:
            return past[1:]
        seconds = shown.answered_s - shown.began_s
        is_free = shown.mode == "free"
        schedule.keep(Attempt(shown.problem.id, self.now(), move, is_right, shown.hints, seconds, is_free))
        shown.is_kept = True  # Not if the disk is full: the next answer is kept then.
        self.session.dojo.tell("train.changed")
        return past

    def _told(self, shown: Shown, past: list[Attempt]) -> Json:
        """Returns what may be told after the first answer."""
        day = self.session.dojo.schedule.day(self.now())
        told = solution_json(shown.problem, past, self._judged(shown.problem), self.session.dojo.games.me())
        return {**told, "day": day_json(day)}

    def _judged(self, problem: Problem) -> PlyReview | None:
        """Returns the judgement of the move of the game, for problems that ask what was better."""
        if problem.kind is ProblemKind.TSUME or problem.game is None or problem.ply is None:
            return None
        judged = self.session.dojo.reviewing.reviews.judgement(problem.game, problem.ply)
        return judged if judged and judged.move == problem.played else None

    # Mate problems.

    def _answer_tsume(self, shown: Shown, move: str) -> Json:
        game = shown.game = shown.game or TsumeGame(board_of(shown.problem).sfen())
        judgement = game.judge(move)
        name = named_line(game.board, [move])
        result: Json = {"move": name, "text": judgement.text(), "verdict": judgement.verdict}
        if not judgement.is_accepted:
            # Whether a move mates that the solver cannot decide is not held against the user.
            if judgement.verdict is not Verdict.UNDECIDED:
                self._keep(shown, game.moves[0] if game.moves else move, False)
            refutation = [judgement.reply] if judgement.reply else []
            result["refutation"] = named_line(board_after_move(game.board, move), refutation)
            return result | {"isRight": False, "isOver": False}
        game.play(move)
        reply = game.defend()
        if reply is None:
            past = self._keep(shown, game.moves[0], True)
            plies, shortest = len(game.moves), shown.problem.content["length"]
            told = self._told(shown, past)
            shown.reply = {"told": told}
            return result | {"isRight": True, "isOver": True, "plies": plies, "shortest": shortest, **told}
        result["reply"] = named_line(game.board, [reply])
        game.play(reply)
        return result | {"isRight": True, "isOver": False, "lastMove": reply, **shown_position(game.board)}

    # Files, removal.

    async def on_remove(self) -> None:
        """Never asks the shown problem again."""
        identity = self._here().problem.id
        await self.ask("train.remove", lambda: self.session.dojo.problems.remove(identity))
        self._shown = None

    @in_thread
    def on_import(self, name: str, content: bytes) -> Json:
        """Adds the problems of a file of ShogiHome. Returns how many, and faults."""
        read = read_next_moves(content, name[:200])
        added = self.session.dojo.problems.add(read.problems)
        return {"added": added, "known": len(read.problems) - added, "faults": list(read.faults)}

    @in_thread
    def on_export(self) -> Json:
        """Returns the sound next-move problems as a file of ShogiHome: name, content, count."""
        dojo = self.session.dojo
        problems = [one for one in dojo.problems.sound() if one.kind not in NO_NEXT_MOVES]
        settings = training_settings(dojo.database)
        engine = told_choice(self.session.config.evaluator)
        day = now()[:10]
        content = write_next_moves(problems, f"Goryu {day}", engine, settings, self.now())
        return {"name": f"goryu-{day}.json", "content": content, "count": len(problems)}


def _reached(shown: Shown) -> Board:
    if shown.is_idea and shown.idea:
        return shown.idea.board
    return shown.game.board if shown.game else board_of(shown.problem)


def _reply_json(idea: Idea) -> Json:
    """Returns the position of an idea and the opponent's move that led to it."""
    before = board_after(idea.problem.start, idea.way[:-1])
    reply = idea.moves[-1]
    return {"reply": named_line(before, [reply]), "lastMove": reply, **shown_position(idea.board)}


def _tsume_hint(shown: Shown) -> str:
    shown.game = shown.game or TsumeGame(board_of(shown.problem).sfen())
    line = shown.game.solution()
    if not line:
        raise InputError(tr("no mate is known from here"))
    return line[0]
