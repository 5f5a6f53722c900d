"""The log of a first contact, a JSON line for each event: it is the state from which the next call goes on.

An event is {"stage", "item", "event"}: "begin", then "done" with what was found under "found", or "failed"
with a reason, and "so far" in between; or {"stage", "event": "end"}. An item without "done" or "failed" is
done again, unless the process died in it. The process that does the items writes them, and its supervisor how
it ended if it died; each line is on the disk before the next item begins.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goryu.base.errors import InputError

Event = Mapping[str, Any]

LOG = "log.jsonl"

SO_FAR = "so far"
"""The event with what an item has found that has not ended; the last one counts."""


class ContactLog:
    """The log in a file, which need not exist."""

    def __init__(self, path: Path) -> None:
        """Reads the file, without a last line that a kill has cut off; raises InputError if it is no log."""
        self.path = path
        self.events: list[dict[str, Any]] = []
        content = path.read_bytes() if path.is_file() else b""
        whole, _, torn = content.rpartition(b"\n")
        for number, line in enumerate(filter(None, whole.split(b"\n")), 1):
            try:
                event = json.loads(line)
                assert {"stage", "event"} <= event.keys()
            except (ValueError, AttributeError, AssertionError):
                raise InputError(f"{path}: line {number} is no event of a first contact") from None
            self.events.append(event)
        if torn:
            os.truncate(path, len(content) - len(torn))

    def append(self, event: Event) -> None:
        """Adds an event, and waits until it is on the disk."""
        self.events.append(dict(event))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(as_line(event) + "\n")
            file.flush()
            os.fsync(file.fileno())

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


def as_line(event: Event) -> str:
    """Returns an event as a line of JSON; what JSON does not know becomes a text."""
    return json.dumps(event, ensure_ascii=False, default=str)
