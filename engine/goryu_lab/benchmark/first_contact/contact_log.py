"""The log of a first contact, a JSON line for each event: it is the state from which the next call goes on.

An event is {"stage", "item", "event"}: "begin", then "done" with what was found under "found", or "failed"
with a reason, and "so far" in between; or {"stage", "event": "end"}. An item without "done" or "failed" is
done again, unless the process died in it. Each line is on the disk before the next item begins.
"""

import json
import os
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import Any

from goryu.base.errors import InputError, explained
from goryu.base.language import tr

Event = Mapping[str, Any]

LOG = "log.jsonl"

SO_FAR = "so far"
"""The event with what an item has found that has not ended; the last one counts."""


class ContactLog:
    """The log in a file, which need not exist.

    problem: why the last events are not on the disk; "" if they are.
    """

    def __init__(self, path: Path) -> None:
        """Reads the file, without a last line that a kill has cut off; raises InputError if it is no log."""
        self.path = path
        self.events: list[dict[str, Any]] = []
        self.problem = ""
        self._unsaved = b""
        content = path.read_bytes() if path.is_file() else b""
        whole, _, torn = content.rpartition(b"\n")
        for number, line in enumerate(filter(None, whole.split(b"\n")), 1):
            event = as_event(line)
            if event is None:
                raise InputError(
                    tr("{path}: line {number} is no event of a first contact", path=path, number=number)
                )
            self.events.append(event)
        if torn:
            os.truncate(path, len(content) - len(torn))

    def append(self, event: Event) -> None:
        """Adds an event, and waits until it is on the disk.

        If the disk takes it not, as a full one, `problem` says why, and the next call tries again.
        """
        self.events.append(dict(event))
        self._unsaved += as_line(event).encode() + b"\n"
        try:
            with self.path.open("ab", buffering=0) as file:
                _write(file, self._unsaved)
        except OSError as error:
            self.problem = explained(error)
        else:
            self.problem, self._unsaved = "", b""

    def results(self, stage: str) -> Iterator[dict[str, Any]]:
        """Yields the events of items that are done or have failed."""
        return (
            event
            for event in self.events
            if event["stage"] == stage and event["event"] in ("done", "failed") and event.get("item")
        )

    def unfinished(self, stage: str) -> list[dict[str, Any]]:
        """Returns what the items of a stage have found so far that are not done."""
        done = {event["item"] for event in self.results(stage) if event["event"] == "done"}
        found = {event["item"]: event for event in self.events if event["event"] == SO_FAR}
        return [each for each in found.values() if each["stage"] == stage and each["item"] not in done]

    def settled(self, stage: str) -> set[str]:
        """Returns the names of the items that are not done again."""
        return {event["item"] for event in self.results(stage)}

    def failed(self, stage: str) -> set[str]:
        """Returns the names of the items that have failed."""
        return {event["item"] for event in self.results(stage) if event["event"] == "failed"}

    def found(self, stage: str, item: str) -> Mapping[str, Any] | None:
        """Returns what an item found, or None."""
        return next((each.get("found") for each in self.results(stage) if each["item"] == item), None)

    def has_ended(self, stage: str) -> bool:
        """Is nothing of the stage left to do?"""
        return any(event["stage"] == stage and event["event"] == "end" for event in self.events)


def _write(file: FileIO, content: bytes) -> None:
    """Writes all at the end of a file, or nothing."""
    end = file.tell()
    try:
        while content:
            content = content[file.write(content) :]
        os.fsync(file.fileno())
    except OSError:
        file.truncate(end)
        raise


def as_line(event: Event) -> str:
    """Returns an event as a line of JSON; what JSON does not know becomes a text."""
    return json.dumps(event, ensure_ascii=False, default=str)


def as_event(line: bytes) -> dict[str, Any] | None:
    """Returns the event in a line, or None if it holds something else, such as a message of a library."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and {"stage", "event"} <= found.keys() else None
