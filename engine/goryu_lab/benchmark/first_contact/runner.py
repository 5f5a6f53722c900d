"""Runs stages, each in a process of its own with a limit of time.

A library that crashes, hangs or takes all memory ends that process and costs one item: this process notes how
it ended, and starts another one for the rest of the stage. So it does after an item that has failed: an error
of CUDA may last as long as its process.
"""

import json
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
from goryu_lab.benchmark.first_contact.contact_log import SO_FAR, ContactLog, Event, as_event
from goryu_lab.benchmark.first_contact.plan import Contact, Stage

SPARE_S = 10.0
"""Before its limit a stage begins no item, if the stage has ten times as long."""

HELD_S = 10.0
"""How long to wait for the end of a process that was killed."""

Say = Callable[[Event], None]


OVER = ("end", "out of time")
"""The events after which a stage needs no other process."""


def run_stage(
    stage: Stage, contact: Contact, settled: set[str], failed: set[str], seconds: float, say: Say
) -> None:
    """Does the items of a stage that are not settled, in this process; `say` takes each event.

    An item that raises has failed, and is the last one here. Items for which no time is left are neither done
    nor failed. failed: those of the settled items that others may need.
    """
    deadline = time.monotonic() + seconds - min(SPARE_S, seconds / 10)
    items = [item for item in stage.items(contact) if item.name not in settled and item.needs not in failed]
    for i, (name, work, _) in enumerate(items):
        left_s = deadline - time.monotonic()
        if left_s <= 0.0:
            say({"stage": stage.name, "event": "out of time", "left": [item.name for item in items[i:]]})
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
        if event["event"] == "failed":
            return
    say({"stage": stage.name, "event": "end"})


def supervise(
    stage: Stage, log: ContactLog, command: Sequence[str], seconds: float, say: Say, errors: Path
) -> None:
    """Runs a stage in processes of its own, until it ends or its time is up, and logs what they say.

    command: starts such a process, which prints events and does what is not settled; the seconds that it has
        are added. say: takes each event that is logged. errors: the file for what they write to stderr.
    """

    def note(event: Event) -> None:
        log.append(event)
        say(event)

    deadline = time.monotonic() + seconds
    while (left_s := deadline - time.monotonic()) > 0.0:
        item, is_over, has_settled = "", False, False
        with errors.open("ab") as stderr:
            start = stderr.tell()
            process = _start([*command, str(left_s)], stderr)
        try:
            _tell(process, (log.settled(stage.name), log.failed(stage.name)))
            for event in _events(process, deadline):
                note(event)
                if event["event"] != SO_FAR:
                    item = str(event.get("item", "")) if event["event"] == "begin" else ""
                is_over = event["event"] in OVER
                has_settled = has_settled or event["event"] in ("done", "failed")
        finally:
            _kill(process)
        timed_out = process.returncode is None or time.monotonic() >= deadline
        if process.returncode != 0:
            reason = "over its time" if timed_out else _ended(int(process.returncode), errors, start)
            if item:  # Died in an item: go on without it.
                note({"stage": stage.name, "item": item, "event": "failed", "reason": reason})
            else:
                note({"stage": stage.name, "event": "broken", "reason": reason})
        if is_over or not (item or has_settled):
            return


def _start(command: Sequence[str], stderr: IO[bytes]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True
    )


def _tell(process: "subprocess.Popen[bytes]", names: Sequence[set[str]]) -> None:
    """Tells a process which items are settled, and leaves its input open as long as this process lives."""
    assert process.stdin is not None
    with suppress(OSError):  # It has ended already.
        process.stdin.write(json.dumps([sorted(each) for each in names]).encode() + b"\n")
        process.stdin.flush()


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
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):  # A driver may hold it.
        process.wait(HELD_S)


def _ended(code: int, errors: Path, start: int) -> str:
    """Returns how a process ended, with the last line that it wrote to stderr from `start` on."""
    how = f"exit status {code}"
    if code < 0:
        with suppress(ValueError):
            how = f"killed by {signal.Signals(-code).name}"
    last = errors.read_bytes()[start:].decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"{how}: {last[:200]}" if last else how
