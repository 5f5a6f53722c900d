"""Does the items of one stage in a process of its own: `python -m MODULE FOLDER STAGE WORDS SECONDS`.

WORDS: "rehearse" and "quick", or neither, joined by a comma. It prints the events as lines of JSON. The first
line of its input is a JSON list: the items that are settled, and those of them that have failed. When the
input ends, the process that reads the events is gone; then this one ends with all that it has started.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from goryu_lab.benchmark.first_contact import answers, contest, faults, machine, rates
from goryu_lab.benchmark.first_contact.contact_log import Event, as_line
from goryu_lab.benchmark.first_contact.plan import Contact
from goryu_lab.benchmark.first_contact.runner import run_stage

STAGES = {
    stage.name: stage for stage in (machine.STAGE, answers.STAGE, rates.STAGE, faults.STAGE, contest.STAGE)
}
"""In the order in which they run."""

MODULE = "goryu_lab.benchmark.first_contact.child"


def command(contact: Contact, stage: str) -> list[str]:
    """Returns the command of a process for one stage, to which its seconds are added."""
    words = [
        word for word, is_set in (("rehearse", contact.rehearses), ("quick", contact.is_quick)) if is_set
    ]
    return [sys.executable, "-m", MODULE, str(contact.folder), stage, ",".join(words)]


def main(arguments: Sequence[str]) -> None:
    """Runs the stage."""
    folder, name, words, seconds = arguments
    contact = Contact(Path(folder), "rehearse" in words, "quick" in words, say)
    settled, failed = map(set, json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with_reader, daemon=True).start()
    run_stage(STAGES[name], contact, settled, failed, float(seconds), say)


def say(event: Event) -> None:
    """Prints an event as a line of JSON."""
    sys.stdout.write(as_line(event) + "\n")
    sys.stdout.flush()


def _end_with_reader() -> None:
    while os.read(sys.stdin.fileno(), 1):  # `sys.stdin` would hold a lock that the end of Python needs.
        pass
    if sys.platform == "win32":
        os._exit(1)
    os.killpg(0, signal.SIGKILL)  # The process leads a group of its own (`supervise`).


if __name__ == "__main__":
    main(sys.argv[1:])
