"""Runs stages, each in a process of its own with a limit of time.

A library that crashes, hangs or takes all memory ends that process and costs one item: its supervisor notes
how it ended, and starts another one for the rest of the stage. So it does after an item that has failed: an
error of CUDA may last as long as its process. Such a process is `python -m MODULE FOLDER STAGE WORDS SECONDS`
with the WORDS "rehearse" and "quick", joined by a comma. What it finds goes to the log in the folder, which
tells the next one what is settled.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from goryu.base.errors import GoryuError, first_line
from gpu import answers, contest, faults, machine, rates
from gpu.contact_log import LOG, SO_FAR, ContactLog, Event, as_line
from gpu.contact_report import write_report
from gpu.plan import Contact, Stage

STAGES = {
    stage.name: stage for stage in (machine.STAGE, answers.STAGE, rates.STAGE, faults.STAGE, contest.STAGE)
}
"""In the order in which they run."""

MODULE = "gpu.runner"

TOOLS = Path(__file__).resolve().parents[1]
"""The working directory of the processes, so that they find the module."""

SPARE_S = 10.0
"""Before its limit a stage begins no item, if the stage has ten times as long."""

HELD_S = 10.0
"""How long to wait for the end of a process that was killed."""

ERRORS = "errors.log"
"""What the processes write to stderr."""


def command(contact: Contact, stage: str) -> list[str]:
    """Returns the command of a process for one stage, to which its seconds are added."""
    words = [
        word for word, is_set in (("rehearse", contact.rehearses), ("quick", contact.is_quick)) if is_set
    ]
    return [sys.executable, "-m", MODULE, str(contact.folder), stage, ",".join(words)]


def main(arguments: Sequence[str]) -> None:
    """Does the items of one stage; prints, logs and reports each event."""
    folder, name, words, seconds = arguments
    log = ContactLog(Path(folder) / LOG)

    def note(event: Event) -> None:
        log.append(event)
        print(as_line(event), flush=True)
        if event["event"] != "begin":
            write_report(log, contact.folder, rehearses=contact.rehearses)

    contact = Contact(Path(folder), "rehearse" in words, "quick" in words, note)
    run_stage(STAGES[name], contact, log, float(seconds))


def run_stage(stage: Stage, contact: Contact, log: ContactLog, seconds: float) -> None:
    """Does the items of a stage that are not settled, in this process; `contact.say` takes each event.

    An item that raises has failed, and is the last one here. Items for which no time is left are neither done
    nor failed, and those that need one that has failed are left out.
    """
    deadline = time.monotonic() + seconds - min(SPARE_S, seconds / 10)
    settled, failed, say = log.settled(stage.name), log.failed(stage.name), contact.say
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


def supervise(stage: str, folder: Path, command: Sequence[str], seconds: float) -> None:
    """Runs a stage in processes of its own, until it ends or its time is up.

    command: starts such a process; the seconds that it has are added.
    """
    deadline = time.monotonic() + seconds
    while (left_s := deadline - time.monotonic()) > 0.0:
        before = len(ContactLog(folder / LOG).events)
        with (folder / ERRORS).open("ab") as stderr:
            start = stderr.tell()
            status = _status([*command, str(left_s)], stderr, left_s)
        log = ContactLog(folder / LOG)
        events = [event for event in log.events[before:] if event["event"] != SO_FAR]
        last = events[-1] if events else {"event": ""}
        if status != 0:
            reason = "over its time" if status is None else _ended(status, folder / ERRORS, start)
            if last["event"] == "begin":  # Died in an item: go on without it.
                log.append({"stage": stage, "item": last["item"], "event": "failed", "reason": reason})
            else:
                log.append({"stage": stage, "event": "broken", "reason": reason})
        if last["event"] in ("", "end", "out of time"):
            return


def _status(command: Sequence[str], stderr: IO[bytes], seconds: float) -> int | None:
    """Runs a process, then kills it with all that it has started; returns its exit status.

    None: it took longer than it had.
    """
    process = subprocess.Popen(command, stderr=stderr, start_new_session=True, cwd=TOOLS)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
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


if __name__ == "__main__":
    main(sys.argv[1:])
