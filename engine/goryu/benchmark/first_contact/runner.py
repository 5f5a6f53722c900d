"""Runs stages, each in a process of its own with a limit of time.

A library that crashes, hangs or takes all memory ends that process and costs one item: this process notes how
it ended, and starts another one for the rest of the stage.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import IO

from goryu.base.errors import GoryuError, first_line
from goryu.benchmark.first_contact.contact_log import ContactLog, Event, as_event
from goryu.benchmark.first_contact.plan import Contact, Stage

SPARE_S = 10.0
"""Before its limit a stage begins no item, if the stage has ten times as long."""

HELD_S = 10.0
"""How long to wait for the end of a process that was killed."""

Say = Callable[[Event], None]


def run_stage(stage: Stage, contact: Contact, settled: set[str], seconds: float, say: Say) -> None:
    """Does the items of a stage that are not settled, in this process; `say` takes each event.

    An item that raises has failed. Items for which no time is left are neither done nor failed.
    """
    deadline = time.monotonic() + seconds - min(SPARE_S, seconds / 10)
    items = [item for item in stage.items(contact) if item[0] not in settled]
    for i, (name, work) in enumerate(items):
        left_s = deadline - time.monotonic()
        if left_s <= 0.0:
            say({"stage": stage.name, "event": "out of time", "left": [item[0] for item in items[i:]]})
            return
        say({"stage": stage.name, "item": name, "event": "begin"})
        start = time.monotonic()
        event: dict[str, object] = {"stage": stage.name, "item": name}
        try:
            event |= {"event": "done", "found": dict(work(left_s / (len(items) - i)))}
        except Exception as error:  # Whatever it is, it becomes a line of the report.
            kind = "" if isinstance(error, GoryuError) else f"{type(error).__name__}: "
            event |= {"event": "failed", "reason": kind + first_line(error)}
        say(event | {"seconds": round(time.monotonic() - start, 2)})
    say({"stage": stage.name, "event": "end"})


def supervise(
    stage: Stage, log: ContactLog, command: Sequence[str], seconds: float, say: Say, errors: Path
) -> None:
    """Runs a stage in processes of its own, until it ends or its time is up, and logs what they say.

    command: starts such a process, which prints events and does what the log has not settled; the seconds
        that it has are added. say: takes each event that is logged. errors: the file for what they write to
        stderr.
    """
    deadline = time.monotonic() + seconds
    is_over = False
    while not is_over:
        left_s = deadline - time.monotonic()
        if left_s <= 0.0:
            return
        item, is_over = "", True
        with errors.open("ab") as stderr:
            process = _start([*command, str(left_s)], stderr)
        try:
            for event in _events(process, deadline):
                log.append(event)
                say(event)
                item = str(event.get("item", "")) if event["event"] == "begin" else ""
        finally:
            _kill(process)
        if process.returncode == 0:
            return
        timed_out = process.returncode is None or time.monotonic() >= deadline
        reason = "over its time" if timed_out else _ended(int(process.returncode), errors)
        if item:  # Died in an item: go on without it.
            is_over = timed_out
            event = {"stage": stage.name, "item": item, "event": "failed", "reason": reason}
        else:
            event = {"stage": stage.name, "event": "broken", "reason": reason}
        log.append(event)
        say(event)


def _start(command: Sequence[str], stderr: IO[bytes]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True
    )


def _events(process: "subprocess.Popen[bytes]", deadline: float) -> Iterator[Event]:
    """Yields the events that a process prints until its output ends or the deadline has passed."""
    lines: Queue[bytes | None] = Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            return
        if line is None:
            return
        event = as_event(line)
        if event is not None:  # A library may print something else.
            yield event


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Waits for the end of a process whose output has ended, else kills it with all that it has started."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.5)
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):  # A driver may hold it.
        process.wait(HELD_S)


def _ended(code: int, errors: Path) -> str:
    """Returns how a process ended, with the last line that it wrote to stderr."""
    how = f"exit status {code}"
    if code < 0:
        with suppress(ValueError):
            how = f"killed by {signal.Signals(-code).name}"
    last = errors.read_text("utf-8", "replace").strip().rpartition("\n")[2]
    return f"{how}: {last[:200]}" if last else how
