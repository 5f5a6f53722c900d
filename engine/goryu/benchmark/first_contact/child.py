"""Does the items of one stage in a process of its own: `python -m MODULE FOLDER STAGE WORDS SECONDS`.

WORDS: "rehearse" and "quick", or neither, joined by a comma. It prints the events as lines of JSON.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from goryu.benchmark.first_contact import answers, contest, faults, machine, rates
from goryu.benchmark.first_contact.contact_log import LOG, ContactLog, Event, as_line
from goryu.benchmark.first_contact.plan import Contact
from goryu.benchmark.first_contact.runner import run_stage

STAGES = {
    stage.name: stage for stage in (machine.STAGE, answers.STAGE, rates.STAGE, faults.STAGE, contest.STAGE)
}
"""In the order in which they run."""

MODULE = "goryu.benchmark.first_contact.child"


def command(contact: Contact, stage: str) -> list[str]:
    """Returns the command of a process for one stage, to which its seconds are added."""
    words = [
        word for word, is_set in (("rehearse", contact.rehearses), ("quick", contact.is_quick)) if is_set
    ]
    return [sys.executable, "-m", MODULE, str(contact.folder), stage, ",".join(words)]


def main(arguments: Sequence[str]) -> None:
    """Runs the stage."""
    folder, name, words, seconds = arguments
    contact = Contact(Path(folder), "rehearse" in words, "quick" in words)
    settled = ContactLog(contact.folder / LOG).settled(name)
    run_stage(STAGES[name], contact, settled, float(seconds), say)


def say(event: Event) -> None:
    """Prints an event as a line of JSON."""
    sys.stdout.write(as_line(event) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
