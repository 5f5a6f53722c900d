"""The view "Review": a game with the judgement of every move, and live analysis of any position."""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from msgspec import Meta

from goryu.analysis.deepening import Progress, deepen
from goryu.analysis.description import (
    Describer,
    board_after,
    named_line,
    ply_json,
    position_json,
    shown_position,
)
from goryu.analysis.position_searcher import PositionSearcher
from goryu.analysis.review import GameReview, PlyReview
from goryu.analysis.reviewer import OnChange, Reviewer
from goryu.analysis.standalone_page import html_report
from goryu.analysis.threat import passed_position
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.shogi import MoveError
from goryu.implementation import IMPLEMENTATION
from goryu.kifu.reading import parse_records
from goryu.kifu.record import Ending, GameRecord, RecordError
from goryu.kifu.writing import to_kif
from goryu.players.set_up.threads import search_threads
from goryu_page.dojo.games import MOST_PLIES, Moves
from goryu_page.dojo.move_judge import POINTS, verdict_of
from goryu_page.dojo.reviews import PLAYOUTS
from goryu_page.reasons.sentences import told_reason
from goryu_page.session.messages import MessageError, Request
from goryu_page.session.session import Job, Session, View, in_thread

Playouts = Annotated[int, Meta(ge=1, le=100_000)]
"""For each position of a review."""

Index = Annotated[int, Meta(ge=0, le=MOST_PLIES)]

SKETCH_PLAYOUTS = 16
"""For each position at first, so that the whole graph is there soon."""

LIVE_PLAYOUTS = 200_000
"""The live analysis of a position ends after this many."""

LIVE_FIRST = 50
LIVE_SHARE = 8
"""The live analysis reports after LIVE_FIRST playouts, then whenever an eighth has been added."""

LIVE_LINES = 10
"""Moves of a live analysis that have a continuation; the page shows as many as the user likes."""


class OpenRequest(Request):
    """A record, as bytes or as text. name: of the file. key: what the page calls the game in its address.

    Without bytes and text the key is the number of a game in "My games".
    """

    key: Annotated[str, Meta(max_length=40)] = ""
    name: str = "record"
    content: bytes | None = None
    text: str | None = None
    playouts: Playouts = PLAYOUTS


class ReviewView(View):
    """One game of a tab at a time."""

    name = "review"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._reviewer: Reviewer | None = None
        self._live: PositionSearcher | None = None
        self._file = self._key = ""
        self._side: int | None = None
        self._describer: Describer | None = None
        self._reasons: dict[PlyReview, dict[str, str] | None] = {}

    # The game.

    async def on_open(self, message: OpenRequest) -> dict[str, Any]:
        """Opens a record; returns it with what is known about it."""
        if message.text is None and message.content is None:
            opened, side, ending = await self.ask("review.game", lambda: self._kept(message))
        else:
            opened, side, ending = message, None, None
        self.session.stop("review")
        self.session.stop("review.live")
        self.session.stop("review.guess")
        state = await self.session.run("review.open", lambda job: self._open(opened, side, ending))
        if (describer := self._describer) is not None:
            self.session.prepare("review.reasons", lambda job: self._prove(job, describer))
        return state

    def _kept(self, message: OpenRequest) -> tuple[OpenRequest, int | None, Ending]:
        """Returns a game of "My games" with the playouts of its review, the side of the user or None, and
        its ending: its record is KIF, which has one word for all games that break the rules.
        """
        if not re.fullmatch(r"\d{1,18}", message.key):
            raise MessageError("review.open: expected text, content or the number of a game")
        dojo, number = self.session.dojo, int(message.key)
        game = dojo.games.get(number)
        names = " – ".join(name or "?" for name in game.names)
        opened = OpenRequest(
            key=message.key,
            name=game.file.rpartition("/")[2] or f"{game.date} {names}".strip(),
            text=game.record,
            playouts=dojo.reviewing.reviews.playouts_of(number) or message.playouts,
        )
        return opened, dojo.games.side_of(number), Ending(game.ending)

    async def on_state(self) -> dict[str, Any]:
        """Returns the open game with what is known, or {"game": null}."""
        describer = self._describer
        if describer is None:
            return {"game": None}
        return await self.session.run("review.open", lambda job: self._state(describer))

    async def on_start(self, playouts: Playouts = PLAYOUTS) -> dict[str, Any]:
        """Searches what is missing; replies when it is done or stopped. playouts: of each position."""
        describer = self._opened()
        describer.review.playouts = playouts
        return {"isWhole": await self._run(lambda job: self._review(job, describer))}

    async def on_deepen(self, playouts: Playouts) -> dict[str, Any]:
        """Searches the mistakes with more playouts; replies when it is done or stopped."""
        describer = self._opened()
        return {"isWhole": await self._run(lambda job: self._deepen(job, describer, playouts))}

    async def _run(self, work: Callable[[Job], bool]) -> bool:
        """Runs a review; tells its end to a page that has come back meanwhile and gets no reply, too."""
        try:
            return await self.session.run("review", work)
        finally:
            self.session.send("review.running", isRunning=self.session.is_running("review"))

    def on_stop(self) -> None:
        """Ends the review; what is known stays."""
        self.session.stop("review")

    @in_thread
    def on_export(self, kind: Literal["kif", "html"]) -> dict[str, str]:
        """Returns the game as a file: KIF with comments, or a page that needs no server."""
        describer = self._opened()
        stem = self._file.rpartition(".")[0] or self._file
        title = describer.record.title or self._file
        content = to_kif(describer.commented()) if kind == "kif" else html_report(title, describer)
        return {"name": f"{stem}-goryu.{kind}", "content": content}

    def _opened(self) -> Describer:
        if self._describer is None:
            raise InputError(tr("no game is open: open a record first"))
        return self._describer

    def _open(self, opened: OpenRequest, side: int | None, ending: Ending | None) -> dict[str, Any]:
        data = opened.content if opened.text is None else opened.text
        assert data is not None
        file = opened.name[:200]
        record, place, has_others = _first_game(data, file)
        if has_others:
            self._tell(tr("the file has several games; this is number {number}", number=place))
        if ending is not None:
            record = replace(record, ending=ending)
        review = GameReview(record.start, record.moves, opened.playouts)
        self._load().recall(review)
        self._file, self._key, self._side = file, opened.key, side
        self._describer, self._reasons = Describer(record, review), {}
        return self._state(self._describer)

    def _state(self, describer: Describer) -> dict[str, Any]:
        return {
            "file": self._file,
            "key": self._key,
            "side": self._side,
            "date": describer.record.date,
            "isRunning": self.session.is_running("review"),
            "network": self.session.network_texts(),
            **describer.everything(),
            "plies": [self._ply(describer, index) for index in range(len(describer.review.moves))],
        }

    def _ply(self, describer: Describer, index: int) -> dict[str, Any] | None:
        """Returns the judgement of a move with its reason, once that is known."""
        told, ply = describer.ply(index), describer.review.ply(index)
        return told and told | {"reason": ply and self._reasons.get(ply)}

    def _prove(self, job: Job, describer: Describer) -> None:
        """Proves why each mistake is one, the worst first, and tells the page."""
        review, on_change, reasons = describer.review, self._on_change(job, describer), self._reasons
        for ply in review.mistakes():
            if job.is_stopped or describer is not self._describer:
                return
            if ply not in reasons and review.is_judged(ply.ply - 1):
                board = board_after(review.start, review.moves[: ply.ply - 1])
                reasons[ply] = told_reason(board, ply)
                on_change(review, ply.ply - 1)

    def _load(self) -> Reviewer:
        """Loads the network at the first use, and after it was lost."""
        if self._reviewer is None or self._reviewer.loaded.lost.is_set():
            if warning := self.session.dojo.warning:
                self._tell(warning)
            self._reviewer, self._live = self.session.dojo.reviewer(), None
            if problem := (loaded := self._reviewer.loaded).problem:
                used = "{problem}; the review uses another network: {description}"
                self._tell(tr(used, problem=problem, description=loaded.description))
        return self._reviewer

    def _tell(self, text: str) -> None:
        self.session.send("review.message", text=text)

    def _review(self, job: Job, describer: Describer) -> bool:
        review, on_change, stop = describer.review, self._on_change(job, describer), lambda: job.is_stopped
        sketch = GameReview(review.start, review.moves, min(SKETCH_PLAYOUTS, review.playouts))

        def enter(_sketch: GameReview, index: int) -> None:
            if review.analyses[index] is None and (analysis := sketch.analyses[index]) is not None:
                review.enter(index, analysis)
                on_change(review, index)

        if None in review.analyses:
            self._load().review(sketch, enter, stop)
        is_whole = self._load().review(review, on_change, stop)
        self._prove(job, describer)
        return is_whole

    def _deepen(self, job: Job, describer: Describer, playouts: int) -> bool:
        def on_progress(progress: Progress) -> None:
            job.report("review.deep", **asdict(progress))

        on_change = self._on_change(job, describer)
        reviewer, review = self._load(), describer.review
        is_whole = deepen(reviewer, review, playouts, on_change, on_progress, lambda: job.is_stopped)
        self._prove(job, describer)
        return is_whole

    def _on_change(self, job: Job, describer: Describer) -> OnChange:
        """Returns a function that tells the page what has changed in a review."""

        def on_change(review: GameReview, index: int) -> None:
            if describer is not self._describer:
                return  # The page shows another game now.
            moves = range(max(0, index - 1), min(index + 1, len(review.moves)))
            job.send(
                "review.position",
                index=index,
                position=describer.position(index),
                plies={move: self._ply(describer, move) for move in moves},
                summary=describer.summary(),
                known=review.known(),
            )

        return on_change

    # Free exploration.

    def on_explore(self, moves: Moves) -> dict[str, Any]:
        """Returns the position after `moves` (from the start of the game) and its legal moves."""
        start = self._opened().review.start
        try:
            board = board_after(start, moves[:-1])
            line = named_line(board, moves[-1:])
            for move in moves[-1:]:
                board.push_usi(move)
        except MoveError as error:
            raise MessageError(f"review.explore: {error}") from error
        outcome = board.outcome()
        return {
            **shown_position(board),
            "ending": "" if outcome is None else outcome.reason,
            "name": {"ja": line["ja"][-1], "en": line["en"][-1]} if moves else None,
        }

    async def on_live(self, moves: Moves) -> None:
        """Analyses the position after `moves` until `quiet` or another position comes, and reports."""
        await self._run_live("review.live", moves)

    async def on_threat(self, moves: Moves) -> None:
        """Analyses the position after `moves` with the turn passed, and reports as `on_live` does."""
        await self._run_live("review.threat", moves)

    async def _run_live(self, kind: str, moves: list[str]) -> None:
        start, is_passed = self._opened().review.start, kind == "review.threat"
        try:
            board_after(start, moves)
            place = (passed_position(start, moves), ()) if is_passed else (start, tuple(moves))
        except MoveError as error:
            raise MessageError(f"{kind}: {error}") from error

        def analyse(job: Job) -> None:
            self._analyse(job, *place, lambda position: job.report(kind, moves=moves, position=position))

        await self.session.run("review.live", analyse)

    def on_quiet(self) -> None:
        """Ends the live analysis, or that of a threat."""
        self.session.stop("review.live")

    # Guess the move.

    async def on_guess(self, index: Index, move: str, is_mistake: bool = False) -> dict[str, Any] | None:
        """Judges a guess, a move instead of move `index` of the game (0 for the first); null if stopped.

        is_mistake: is the move of the game a mistake, so that the better one is the right answer?

        Returns {verdict, points, guess, right}; the last two as `ply_json`, with the name of the move.
        right: the move that was to be found.
        """
        review = self._opened().review
        if index >= len(review.moves):
            raise MessageError(f"review.guess: index {index}: the game has {len(review.moves)} moves")
        known = review.ply(index) if is_mistake else None
        right = known.best if known and known.best else review.moves[index]
        return await self.session.run(
            "review.guess", lambda job: self._judge(job, review, index, move, right)
        )

    def _judge(
        self, job: Job, review: GameReview, index: int, move: str, right: str
    ) -> dict[str, Any] | None:
        before = review.moves[:index]
        board = board_after(review.start, before)
        found, playouts = {}, self.session.dojo.playouts.move
        for name in dict.fromkeys((move, right)):
            judge = self.session.dojo.judge
            judged = judge.judge(review.start, before, name, playouts, lambda: job.is_stopped)
            if job.is_stopped:
                return None
            if judged is None:
                raise InputError(tr("the game is over"))
            found[name] = judged
        verdict = verdict_of(found[move], right, playouts)

        def described(name: str) -> dict[str, Any]:
            line = named_line(board, [name])
            names = {"name": name, "ja": line["ja"][0], "en": line["en"][0]}
            return {**ply_json(board, found[name]), **names}

        return {
            "verdict": str(verdict),
            "points": POINTS[verdict],
            "guess": described(move),
            "right": described(right),
        }

    def _analyse(
        self,
        job: Job,
        start: str,
        moves: tuple[str, ...],
        report: Callable[[dict[str, Any]], None],
    ) -> None:
        loaded = self._load().loaded
        if self._live is None:
            config = self.session.config
            threads = search_threads(config.evaluator.threads) if IMPLEMENTATION == "native" else 1
            self._live = PositionSearcher(loaded, config, threads)
        board = board_after(start, moves)
        playouts = LIVE_FIRST
        while True:
            analysis = self._live.search(start, moves, playouts, lambda: job.is_stopped, LIVE_LINES)
            if job.is_stopped:
                return
            report(position_json(board, analysis, LIVE_LINES))
            if analysis.is_final or analysis.playouts >= LIVE_PLAYOUTS:
                return
            playouts = analysis.playouts + max(LIVE_FIRST, analysis.playouts // LIVE_SHARE)


def _first_game(data: bytes | str, title: str) -> tuple[GameRecord, int, bool]:
    """Returns the first game of a file that can be read, its number, and whether the file has others.

    Raises RecordError: no game can be read, or the game is too long.
    """
    games = parse_records(data, title)
    first_error: RecordError | None = None
    for place, game in enumerate(games, start=1):
        if isinstance(game, RecordError):
            first_error = first_error or game
        elif len(game.moves) > MOST_PLIES:
            raise RecordError(tr("expected at most {count} moves", count=MOST_PLIES), title)
        else:
            return game, place, place > 1 or next(games, None) is not None
    raise first_error or RecordError(tr("no game was found"), title)
