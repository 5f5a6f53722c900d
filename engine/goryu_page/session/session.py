"""The session of one tab: its views and its searches."""

import asyncio
import contextvars
import inspect
import logging
import secrets
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache, partial, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from msgspec.structs import asdict

from goryu.base.errors import GoryuError, explained
from goryu.base.language import speaking, tr
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import LoadingError
from goryu.players.set_up.model_path import told_choice
from goryu_page.dojo.dojo import Dojo
from goryu_page.session.messages import (
    Fields,
    Language,
    Message,
    MessageError,
    Request,
    parse,
    read,
    request_of,
)
from goryu_page.session.outbox import Outbox

if TYPE_CHECKING:
    from goryu_page.lan.lan import Lan
    from goryu_page.lan.pairing import Device

_log = logging.getLogger("goryu_page.server")

T = TypeVar("T")
P = ParamSpec("P")
V = TypeVar("V", bound="View")
Handler = Callable[[Message], Any]

MOST_THREADS = 64
"""Jobs of a tab that can run at once."""


class Job:
    """A search, or another long computation, in its own thread.

    The function that runs in the thread must return soon after `is_stopped` becomes true.
    """

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._stopped = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def is_stopped(self) -> bool:
        """Must the job end?"""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Ends the job; from any thread."""
        with self._lock:
            self._stopped.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_stop(self, callback: Callable[[], None]) -> None:
        """Calls `callback` (such as `SearchControl.stop`) when the job is stopped; at once if it has been."""
        with self._lock:
            if not self._stopped.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def report(self, kind: str, **content: Any) -> None:
        """Sends a message that the next one of its kind replaces; from any thread, as often as you like."""
        if not self.is_stopped:
            self._session.report(kind, **content)

    def send(self, kind: str, **content: Any) -> None:
        """Sends a message that must arrive; from any thread."""
        self._session.send(kind, **content)


class StoppedError(Exception):
    """The job was stopped in the middle of work that has no other way to end."""


class View:
    """The part of a session that one view of the page talks to; subclasses are listed in `views.py`.

    name: the messages "NAME.X" of the page call the methods `on_x`, whose parameters say what the message
        must hold. They run in the event loop, so they must return quickly; slow work goes to `session.run`,
        and `in_thread` lets a whole method run in a thread. A method returns the value of the reply, or is a
        coroutine that does. A GoryuError becomes the reply's error, which the page shows to the user.
    """

    name: str

    def __init__(self, session: "Session") -> None:
        self.session = session

    @classmethod
    @cache
    def requests(cls) -> dict[str, type[Request]]:
        """Returns what the messages must hold, by the names of the methods that handle them."""
        return {name: request_of(getattr(cls, name)) for name in dir(cls) if name.startswith("on_")}

    def handlers(self) -> dict[str, Handler]:
        """Returns what handles messages of JSON, by the type of the message."""
        return {
            f"{self.name}.{name.removeprefix('on_')}": partial(self._handle, name, kind)
            for name, kind in self.requests().items()
        }

    def _handle(self, name: str, kind: type[Request], message: Message) -> Any:
        method, given = getattr(self, name), read(kind, message)
        return method(**asdict(given)) if isinstance(given, Fields) else method(given)

    async def ask(self, name: str, work: Callable[[], T]) -> T:
        """Returns what `work` does in a thread, such as with the database, which may have to wait.

        The background review does not rest for it. A call of the same name waits until this one has ended;
        neither is stopped, but a job of `run` with this name is.
        """
        return await self.session.run(name, lambda _job: work(), is_search=False)

    def pause(self) -> None:
        """Is called when the tab has gone, after its jobs were stopped; it may come back (a reload)."""


def in_thread(
    method: Callable[Concatenate[V, P], T],
) -> Callable[Concatenate[V, P], Coroutine[Any, Any, T]]:
    """Lets a method of a view run in a thread, as `View.ask` does, under the name of its message."""

    async def run(self: V, /, *args: P.args, **kwargs: P.kwargs) -> T:
        name = f"{self.name}.{method.__name__.removeprefix('on_')}"
        return await self.ask(name, lambda: method(self, *args, **kwargs))

    update_wrapper(run, method)
    return run


def text_of(error: Exception) -> str:
    """Returns what the page shows; an error that only a defect of Goryu can cause is also logged."""
    if isinstance(error, LoadingError):
        return error.reason  # The page has no options.
    if isinstance(error, GoryuError) or (isinstance(error, OSError) and error.strerror):
        return explained(error)
    _log.error("an unexpected error", exc_info=error)
    return tr("a defect of Goryu, please report it: {error}", error=f"{type(error).__name__}: {error}")


def _log_failure(task: asyncio.Task[None]) -> None:
    """Logs the error of a task that prepared something: the page shows it when the thing itself fails."""
    if not task.cancelled() and (error := task.exception()):
        _log.error("preparing failed", exc_info=error)


class Session:
    """One tab of the browser; it survives a short loss of the connection and a reload.

    id: a secret that only this tab knows. language: of the page, and of the messages for it.
    dojo: shared by all tabs.
    record: (name, content) of the record that the user named on the command line, or None.
    """

    def __init__(
        self,
        views: Mapping[str, type[View]],
        dojo: Dojo,
        record: tuple[str, bytes] | None = None,
    ) -> None:
        """Must be called in the event loop."""
        self.id = secrets.token_urlsafe(24)
        self.language: Language = "en"
        self.dojo = dojo
        self.record = record
        self.left_s: float | None = None
        """When the connection was lost (monotonic); None while there is one."""
        self.answered = asyncio.Event()
        """Is set when the page answers "session.alive"."""
        self.device: Device | None = None
        """The device of the local network whose tab this is; None for a tab of this machine."""
        self.lan: Lan | None = None
        """Pairs and revokes devices, for a tab of this machine with `--lan`; else None."""
        self._loop = asyncio.get_running_loop()
        self.outbox = Outbox(self._loop)
        self._jobs: dict[str, Job] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="goryu-web")
        self._tasks: set[asyncio.Task[None]] = set()
        self.views = {name: view(self) for name, view in views.items()}
        dojo.subscribe(self.report)
        self._handlers: dict[str, Handler] = {}
        for view in self.views.values():
            self._handlers |= view.handlers()

    @property
    def config(self) -> EngineConfig:
        """That of the dojo, which a choice of the network changes."""
        return self.dojo.config

    def receive(self, text: str) -> None:
        """Handles a message of the page; errors go back to it in its language."""
        with speaking(self.language):
            self._receive(text)

    def _receive(self, text: str) -> None:
        identity = None
        try:
            message = parse(text)
            identity = message.get("id")
            handler = self._handlers.get(message["type"])
            if handler is None:
                raise MessageError(
                    f"message {message['type']!r}: expected one of {', '.join(self._handlers)}"
                )
            value = handler(message)
        except Exception as error:
            self._reply_error(identity, error)
            return
        if inspect.isawaitable(value):
            task = self._loop.create_task(self._reply_later(identity, value))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._reply(identity, value)

    async def _reply_later(self, identity: Any, value: Awaitable[Any]) -> None:
        try:
            self._reply(identity, await value)
        except Exception as error:
            self._reply_error(identity, error)

    def _reply(self, identity: Any, value: Any) -> None:
        if identity is not None:
            self.outbox.put({"type": "reply", "id": identity, "ok": True, "value": value})

    def _reply_error(self, identity: Any, error: Exception) -> None:
        self.outbox.put({"type": "reply", "id": identity, "ok": False, "error": text_of(error)})

    def network_texts(self) -> dict[Language, str]:
        """Returns which network plays at full strength and reviews, and why, in both languages."""

        def text(language: Language) -> str:
            with speaking(language):
                return tr("network: {name}", name=told_choice(self.config.evaluator))

        return {"en": text("en"), "ja": text("ja")}

    def send(self, kind: str, **content: Any) -> None:
        """Sends a message that must arrive; from any thread."""
        self.outbox.put({"type": kind, **content})

    def report(self, kind: str, **content: Any) -> None:
        """Sends a message that the next one of its kind replaces, at a bounded rate; from any thread."""
        self.outbox.put_report({"type": kind, **content})

    async def run(self, name: str, work: Callable[[Job], T], *, is_search: bool = True) -> T:
        """Runs `work` in a thread and returns its result; a job of the same name is stopped first.

        `work` begins when the old job has ended, so jobs of one name may share a player. It should check
        `job.is_stopped`, which may be true from the start.

        is_search: does it need the processor? The background review of games rests meanwhile.
        """
        self.stop(name)
        job = self._jobs[name] = Job(self)
        async with self._locks.setdefault(name, asyncio.Lock()):
            # Messages of the thread are in the page's language.
            context = contextvars.copy_context()
            busy = self.dojo.activity.going_on() if is_search else nullcontext()

            def run() -> T:
                with busy:
                    return context.run(work, job)

            thread = self._loop.run_in_executor(self._threads, run)
            try:
                return await asyncio.shield(thread)
            except asyncio.CancelledError:
                job.stop()
                await asyncio.wait([thread])  # The next job of this name begins after this one's end.
                raise
            finally:
                if self._jobs.get(name) is job:
                    del self._jobs[name]

    def prepare(self, name: str, work: Callable[[Job], object]) -> None:
        """Begins `work` as `run` does, unless it is stopped before; an error is only logged."""

        async def run() -> None:
            await self.run(name, lambda job: None if job.is_stopped else work(job))

        self._loop.create_task(run()).add_done_callback(_log_failure)

    def stop(self, name: str) -> None:
        """Stops the job of this name, if there is one."""
        if job := self._jobs.get(name):
            job.stop()

    def is_running(self, name: str) -> bool:
        """Is there a job of this name?"""
        return name in self._jobs

    def pause(self) -> None:
        """Stops all jobs: the tab was closed, or its connection was lost for long."""
        for job in list(self._jobs.values()):
            job.stop()
        for view in self.views.values():
            view.pause()

    def close(self) -> None:
        """Ends the session."""
        self.dojo.unsubscribe(self.report)
        self.outbox.close()
        self.pause()
        self._threads.shutdown(wait=False, cancel_futures=True)
