"""The teacher of a teaching game: judges the person's moves before the opponent answers."""

import asyncio
from collections.abc import Callable

from goryu.analysis.description import board_after
from goryu.analysis.review import PlyReview
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu_page.dojo.move_judge import loses
from goryu_page.reasons.sentences import told_reason
from goryu_page.session.session import Job, Session, text_of
from goryu_page.views.game import PageGame
from goryu_page.views.lesson import Fate, Lesson

JOB = "play.judge"


class Teacher:
    """The teacher of one game; its methods run in the event loop."""

    def __init__(self, session: Session, lesson: Lesson, go_on: Callable[[], None]) -> None:
        """go_on: is called when a move has been judged, or could not be judged."""
        self.lesson = lesson
        self._session = session
        self._go_on = go_on
        self._judging: asyncio.Task[None] | None = None

    def judge(self, game: PageGame) -> None:
        """Judges the last move if that is due, unless it is being judged."""
        if self.lesson.is_due and self._judging is None:
            self._judging = asyncio.get_running_loop().create_task(self._judge(game))

    def look_ahead(self, game: PageGame) -> None:
        """Searches the position while the person thinks, so that the judgement of the move is quick."""
        start, moves = game.first_position, [one["name"] for one in game.shown]
        dojo = self._session.dojo

        def work(job: Job) -> None:
            dojo.judge.prepare(start, moves, dojo.playouts.move, lambda: job.is_stopped)

        self._session.prepare(JOB, work)

    def stop(self) -> None:
        """Stops the searches. `judge` begins again."""
        self._session.stop(JOB)
        if self._judging is not None:
            self._judging.cancel()
            self._judging = None

    async def _judge(self, game: PageGame) -> None:
        start, moves = game.first_position, [one["name"] for one in game.shown]
        texts = {name: game.shown[-1][name] for name in ("name", "ja", "en")}
        dojo = self._session.dojo
        timing, playouts = dojo.timing, dojo.playouts.move
        end_s = timing.clock() + timing.judge_s

        before = board_after(start, moves[:-1])

        def work(job: Job) -> tuple[PlyReview, dict[str, str] | None] | None:
            if job.is_stopped:
                return None
            judged = dojo.judge.judge(
                start, moves[:-1], moves[-1], playouts, lambda: job.is_stopped or timing.clock() > end_s
            )
            if judged is None:
                return None
            is_asked = loses(judged, self.lesson.threshold, playouts)
            return judged, told_reason(before, judged) if is_asked else None

        try:
            found = await self._session.run(JOB, work)
            if found is None:
                raise InputError(tr("it took more than {seconds} seconds", seconds=round(timing.judge_s)))
        except Exception as error:
            self.lesson.is_due = False
            text = tr("Your move could not be judged: {error}", error=text_of(error))
            self._session.send("play.problem", text=text)
        else:
            judged, reason = found
            if loses(judged, self.lesson.threshold, playouts):
                self.lesson.ask(before, judged, texts, reason)
            else:
                self.lesson.accept(len(moves), texts, judged.loss, Fate.FINE)
        self._judging = None
        game.count_from_now()
        self._go_on()
