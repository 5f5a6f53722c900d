"""Lets an engine of the user search, in a process of its own; whatever goes wrong becomes a clear error."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Timer

from goryu.base.errors import GoryuError, InputError
from goryu.base.language import tr
from goryu.engines.engines_file import UserEngine
from goryu.engines.usi_client import EngineError, SearchReply, UsiClient
from goryu.games.shogi import START_SFEN, move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.kifu.record import Ending
from goryu.players.clock.limits import Limits
from goryu_page.dojo.timing import TIMING, Timing
from goryu_page.session.session import Job, StoppedError


class UsiEngines:
    """The engine that one view of a tab uses: one process at a time, and one search."""

    def __init__(self, timing: Timing = TIMING) -> None:
        self._timing = timing
        self._lock = Lock()
        self._engine: UserEngine | None = None
        self._client: UsiClient | None = None
        self._is_new_game = True

    def new_game(self, engine: UserEngine | None) -> None:
        """Notes that the next position belongs to another game; ends another engine than this one."""
        self._is_new_game = True
        if engine != self._engine:
            self.close()

    def load(self, engine: UserEngine) -> None:
        """Starts an engine, so that its first move need not wait for that; `search` tells what fails."""
        with suppress(InputError), self._lock:
            self._running(engine)

    def search(self, engine: UserEngine, board: Board, limits: Limits, job: Job) -> SearchReply:
        """Returns the engine's answer in a position, with the moves that led to it.

        limits: without a clock the engine has its own seconds.

        Raises:
            InputError: the engine cannot be started, ends, gives no answer or breaks the protocol; the next
                call starts it anew.
            StoppedError: the job was stopped.
        """
        with self._lock, _stoppable(job):
            client = self._running(engine)
            if job.is_stopped:
                raise StoppedError
            command, budget_ms = _go(limits, board.turn, engine.seconds)
            with _told(engine, client), _stopped_with(client, job, self._timing.stop_s):
                if self._is_new_game:
                    client.new_game()
                    self._is_new_game = False
                return client.go(_position(board), command, budget_ms)

    def _running(self, engine: UserEngine) -> UsiClient:
        """Returns the process of an engine, which is started if it does not run.

        A job that is stopped does not end the start, which may take long and is not in vain; `close` does.
        """
        if self._client is not None and self._engine == engine and self._client.is_alive:
            return self._client
        self.close()
        client = self._client = UsiClient(engine.spec, timeouts=self._timing.engines)
        self._engine = engine
        with _told(engine, client):
            client.start()
            if self._client is not client:
                client.kill()  # `close` came before there was a process.
            client.new_game()
            self._is_new_game = False
        return client

    def close(self) -> None:
        """Ends the process; from any thread."""
        client, self._client = self._client, None
        if client is not None:
            client.kill()


@contextmanager
def _stoppable(job: Job) -> Iterator[None]:
    """Raises StoppedError at the end if the job was stopped: nobody waits for the answer, or for an error."""
    try:
        yield
    except GoryuError as error:
        if job.is_stopped:
            raise StoppedError from error
        raise
    if job.is_stopped:
        raise StoppedError


@contextmanager
def _told(engine: UserEngine, client: UsiClient) -> Iterator[None]:
    """Kills an engine that fails, and says so to the user."""
    try:
        yield
    except GoryuError as error:
        client.kill()
        kind = error.kind if isinstance(error, EngineError) else ""
        details = error.translated()
        if kind == "crash":
            text = tr(
                "{engine} has ended or cannot be started: {details}", engine=engine.name, details=details
            )
        elif kind == "hang":
            text = tr("{engine} gives no answer: {details}", engine=engine.name, details=details)
        else:
            text = tr("{engine} cannot be used: {details}", engine=engine.name, details=details)
        raise InputError(text) from error


@contextmanager
def _stopped_with(client: UsiClient, job: Job, stop_s: float) -> Iterator[None]:
    """Stops the engine's search with the job, and kills an engine that goes on."""
    timer = Timer(stop_s, client.kill)
    timer.daemon = True
    is_over = False

    def stop() -> None:
        if not is_over:
            timer.start()
            with suppress(EngineError):
                client.stop()

    job.on_stop(stop)
    try:
        yield
    finally:
        is_over = True
        timer.cancel()


def move_of(reply: SearchReply, board: Board, engine: UserEngine) -> Move | Ending:
    """Returns the move of an answer, or how it ends the game; raises InputError for an illegal one."""
    if reply.move == "resign":
        return Ending.RESIGNATION
    if reply.move == "win" and board.declaration():
        return Ending.DECLARATION
    legal = {move_to_usi(move): move for move in board.all_legal_moves()}
    if reply.move not in legal:
        raise InputError(
            tr("{engine} answers {move}, which is not legal here", engine=engine.name, move=reply.move[:20])
        )
    return legal[reply.move]


def _go(limits: Limits, turn: int, seconds: float) -> tuple[str, int]:
    """Returns the `go` command, and the milliseconds that the engine has."""
    if limits.time_ms is None:
        budget_ms = round(1000 * seconds)
        return f"go btime 0 wtime 0 byoyomi {budget_ms}", budget_ms
    black_ms, white_ms = map(round, limits.time_ms)
    words = ["go", f"btime {black_ms}", f"wtime {white_ms}"]
    if any(limits.increment_ms):
        words.append("binc {:.0f} winc {:.0f}".format(*limits.increment_ms))
    if limits.byoyomi_ms or not any(limits.increment_ms):
        words.append(f"byoyomi {limits.byoyomi_ms:.0f}")
    return " ".join(words), (black_ms, white_ms)[turn] + round(limits.byoyomi_ms)


def _position(board: Board) -> str:
    """Returns the `position` command for a board with the moves that led to it."""
    past = board.copy()
    moves = [move_to_usi(move) for move in board.move_stack]
    while past.move_stack:
        past.pop()
    start = "startpos" if past.sfen() == START_SFEN else f"sfen {past.sfen()}"
    return f"position {start} moves {' '.join(moves)}" if moves else f"position {start}"
