"""Threads where the system has none: each has a stack of its own, and only one of them runs at a time.

A browser tab runs Python in one thread, but it can leave a stack in the middle of a function and come back
to it later (JavaScript Promise Integration). So a thread gives way where it would wait: for a lock that
another one holds, for an event, in a sleep. A thread that computes for long asks a `threading.Event` now and
then whether it must end; there it gives way, too, so that the tab can answer messages meanwhile.

`install` puts these classes into the module `threading`, whose other classes are made of them. It must come
before the modules that use threads are imported. Callbacks of the event loop have stacks of their own as
well, so they may wait for a lock; they count as one thread, the main thread.

What a computation does between two such points is never interrupted, so nothing here needs to be atomic.
"""

import asyncio
import concurrent.futures
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from time import monotonic
from typing import Any, Protocol

SLICE_S = 0.05
"""A thread gives way when it has run so long: a click is answered soon, and little time goes into changes."""


class Alarm(Protocol):
    """What one stack waits for, once."""

    def wait(self) -> None:
        """Leaves the stack until `ring` has been called, also if that was before."""

    def ring(self) -> None:
        """Lets the stack go on; may be called more than once."""


class Stacks(Protocol):
    """Makes stacks and changes between them."""

    def start(self, run: Callable[[], None]) -> None:
        """Calls a function soon, on a new stack."""

    def ring_later(self, alarm: Alarm, seconds: float) -> Callable[[], None]:
        """Rings an alarm after so many seconds; returns what cancels that."""

    def alarm(self) -> Alarm:
        """Returns a new alarm."""


class _Running:
    """The thread that runs now (None for the main thread), since when, and what changes threads."""

    stacks: Stacks
    thread: "Thread | None" = None
    since_s = 0.0
    may_leave = True


def _leave(alarm: Alarm, seconds: float | None = None) -> None:
    """Leaves the stack until an alarm rings, or for at most so many seconds."""
    thread = _Running.thread
    cancel = None if seconds is None else _Running.stacks.ring_later(alarm, max(0.0, seconds))
    _Running.thread = None
    try:
        alarm.wait()
    finally:
        _Running.thread, _Running.since_s = thread, monotonic()
        if cancel is not None:
            cancel()


def sleep(seconds: float) -> None:
    """Lets the others run for so many seconds."""
    _leave(_Running.stacks.alarm(), seconds)


def give_way() -> None:
    """Lets the others run if the thread that runs now has done so for `SLICE_S`."""
    is_late = _Running.thread is not None and monotonic() - _Running.since_s >= SLICE_S
    if is_late and _Running.may_leave:
        sleep(0.0)


@contextmanager
def in_one_go() -> Iterator[None]:
    """Keeps the thread from giving way: it cannot leave a stack on which JavaScript has called Python."""
    _Running.may_leave = False
    try:
        yield
    finally:
        _Running.may_leave = True


class Lock:
    """Does what `threading.Lock` does."""

    def __init__(self) -> None:
        self._is_locked = False
        self._waiting: deque[Alarm] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1.0) -> bool:
        """Waits until the lock is free, at most `timeout` seconds if that is not negative, and takes it."""
        end_s = monotonic() + timeout if timeout >= 0 else None
        while self._is_locked:
            left_s = None if end_s is None else end_s - monotonic()
            if not blocking or (left_s is not None and left_s <= 0):
                return False
            alarm = _Running.stacks.alarm()
            self._waiting.append(alarm)
            try:
                _leave(alarm, left_s)
            finally:
                if alarm in self._waiting:
                    self._waiting.remove(alarm)
        self._is_locked = True
        return True

    def release(self) -> None:
        """Frees the lock; raises RuntimeError if it is free."""
        if not self._is_locked:
            raise RuntimeError("release unlocked lock")
        self._is_locked = False
        if self._waiting:
            self._waiting.popleft().ring()

    def locked(self) -> bool:
        """Is it taken?"""
        return self._is_locked

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class RLock:
    """Does what `threading.RLock` does."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._owner: Thread | None = None
        self._count = 0

    def acquire(self, blocking: bool = True, timeout: float = -1.0) -> bool:
        """Takes the lock as `Lock.acquire` does, or once more if this thread has it."""
        if self._count and self._owner is _Running.thread:
            self._count += 1
            return True
        if not self._lock.acquire(blocking, timeout):
            return False
        self._owner, self._count = _Running.thread, 1
        return True

    def release(self) -> None:
        """Frees the lock after as many calls as of `acquire`; raises RuntimeError if it has not got it."""
        if not self._is_owned():
            raise RuntimeError("cannot release un-acquired lock")
        self._count -= 1
        if not self._count:
            self._lock.release()

    def locked(self) -> bool:
        """Is it taken?"""
        return self._count > 0

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    # What `threading.Condition` needs.

    def _is_owned(self) -> bool:
        return self._count > 0 and self._owner is _Running.thread

    def _release_save(self) -> int:
        held, self._count = self._count, 0
        self._lock.release()
        return held

    def _acquire_restore(self, held: int) -> None:
        self._lock.acquire()
        self._owner, self._count = _Running.thread, held


class Event(threading.Event):
    """An event of which a thread that computes may ask often."""

    def is_set(self) -> bool:
        """Is it set? Lets the others run first if this thread has run for long."""
        give_way()
        return super().is_set()


class Thread:
    """Does what `threading.Thread` does. All threads are daemons: the tab ends without them."""

    _numbers = count(1)

    def __init__(
        self,
        group: None = None,
        target: Callable[..., object] | None = None,
        name: str | None = None,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        daemon: bool | None = None,
    ) -> None:
        assert group is None
        self.name = name or f"Thread-{next(self._numbers)}"
        self.daemon = daemon is not False
        self._target, self._args, self._kwargs = target, args, kwargs or {}
        self._is_started = False
        self._ended = Event()

    def start(self) -> None:
        """Has `run` called soon; raises RuntimeError the second time."""
        if self._is_started:
            raise RuntimeError("threads can only be started once")
        self._is_started = True
        _Running.stacks.start(self._run)

    def run(self) -> None:
        """Calls the target."""
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def _run(self) -> None:
        _Running.thread, _Running.since_s = self, monotonic()
        try:
            self.run()
        finally:
            _Running.thread = None
            self._ended.set()

    def join(self, timeout: float | None = None) -> None:
        """Waits for the end, at most so many seconds."""
        assert self._is_started
        self._ended.wait(timeout)

    def is_alive(self) -> bool:
        """Has it been started, and not ended?"""
        return self._is_started and not self._ended.is_set()


class ThreadPoolExecutor:
    """Names the threads of `run_in_executor`, as that of `concurrent.futures` does; there is no limit."""

    def __init__(self, max_workers: int = 0, thread_name_prefix: str = "executor") -> None:
        self.name = thread_name_prefix

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Does nothing: the threads end with the tab."""


class Timer(Thread):
    """Does what `threading.Timer` does."""

    def __init__(self, interval: float, function: Callable[..., object], args: Sequence[Any] = ()) -> None:
        super().__init__(target=function, args=args)
        self.interval = interval
        self._cancelled = Event()

    def cancel(self) -> None:
        """Does not call the function, unless it has begun."""
        self._cancelled.set()

    def run(self) -> None:
        """Waits, and calls the function."""
        if not self._cancelled.wait(self.interval):
            super().run()


def current_thread() -> Any:
    """Returns the thread that runs now."""
    return _Running.thread or threading.main_thread()


def run_in_executor(_executor: object, function: Callable[..., Any], *values: Any) -> "asyncio.Future[Any]":
    """Does what the method of an event loop does, with a thread for each call."""
    future = asyncio.get_running_loop().create_future()

    def run() -> None:
        try:
            result = function(*values)
        except BaseException as error:
            if not future.done():  # It may have been cancelled.
                future.set_exception(error)
        else:
            if not future.done():
                future.set_result(result)

    Thread(target=run, name="executor").start()
    return future


def install(stacks: Stacks) -> None:
    """Makes these threads the only ones, in this process and for the event loop that runs."""
    _Running.stacks = stacks
    replaced = {
        "Lock": Lock,
        "RLock": RLock,
        "Event": Event,
        "Thread": Thread,
        "Timer": Timer,
        "current_thread": current_thread,
        "_allocate_lock": Lock,  # Of `threading.Condition`.
    }
    for name, value in replaced.items():
        setattr(threading, name, value)
    time.sleep = sleep  # type: ignore[assignment]
    concurrent.futures.ThreadPoolExecutor = ThreadPoolExecutor  # type: ignore[assignment, misc]
