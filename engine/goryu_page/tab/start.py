"""Starts the page in a browser tab: gives it threads by the stacks of Pyodide, and opens the session."""

import asyncio
import gc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from js import Promise
from pyodide.ffi import run_sync

from goryu_page.tab import green_threads

if TYPE_CHECKING:
    from goryu_page.tab.page import Page

PAUSE_S = 0.003
"""Pyodide calls what is to come sooner before all timers and messages, which then wait for seconds."""

COLLECT_S = 10.0
"""How often objects that only hold each other are freed."""


class PromiseAlarm:
    """An alarm that is a promise of JavaScript."""

    def __init__(self) -> None:
        self._made: Any = Promise.withResolvers()

    def wait(self) -> None:
        """Leaves the stack until the promise is resolved."""
        run_sync(self._made.promise)

    def ring(self) -> None:
        """Resolves the promise."""
        self._made.resolve(None)


class TabStacks:
    """The stacks of Pyodide: each callback of its event loop has one, and `run_sync` leaves it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def start(self, run: Callable[[], None]) -> None:
        """Calls a function soon, on a new stack."""
        self._loop.call_soon(run)

    def ring_later(self, alarm: green_threads.Alarm, seconds: float) -> Callable[[], None]:
        """Rings an alarm after so many seconds; returns what cancels that."""
        return self._loop.call_later(max(seconds, PAUSE_S), alarm.ring).cancel

    def alarm(self) -> PromiseAlarm:
        """Returns a new alarm."""
        return PromiseAlarm()


def collect_garbage(loop: asyncio.AbstractEventLoop) -> None:
    """Frees objects that only hold each other, now and every `COLLECT_S`, and keeps Python from doing so.

    What Python 3.14 does by itself follows the frames of all threads. Pyodide 314.0.7 has moved those of
    threads that wait, and ends (https://github.com/pyodide/pyodide/issues/6464). A whole collection looks
    at no frames.
    """
    gc.disable()
    gc.collect()
    loop.call_later(COLLECT_S, collect_garbage, loop)


def start(send: Callable[[str], None], new_instance: Callable[[], Any]) -> "Page":
    """Returns the page's session. send(text): takes each message for the page. new_instance: of goryu.js."""
    loop = asyncio.get_running_loop()
    collect_garbage(loop)
    green_threads.install(TabStacks(loop))
    loop.run_in_executor = green_threads.run_in_executor  # type: ignore[method-assign, assignment]
    from goryu_page.tab import native  # Now, because it imports what uses threads.

    native.install(new_instance)
    from goryu_page.tab.page import Page  # And this what uses the engine.

    return Page(send)
