"""The side of a Ray cluster that works: an actor takes tasks and returns bundles of results."""

import math
import os
import platform
import queue
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import goryu
import goryu_lab
from goryu.base.errors import GoryuError, explained
from goryu_lab.work.seam import Bundle, Job, RefusedError, Result, Task
from goryu_lab.work.shipping import Parcel, unpack
from goryu_lab.work.threads import ThreadInbox

CLOSE_S = 5.0
"""How long the pool waits at the end for actors to stop what they have started, such as engines."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in Ray's object store."""

    reference: Any

    def path(self) -> Path:
        """Fetches the file; raises RefusedError if it has arrived damaged."""
        import ray

        return unpack(ray.get(self.reference))


class Actor:
    """A worker on a computer of the cluster; Ray makes an actor of this class."""

    def __init__(self, index: int) -> None:
        os.environ.setdefault("GORYU_MEASURE", "off")  # Engines must not depend on a cache, as in programs,
        os.environ.setdefault("GORYU_BOOK", "off")  # and must think from the first move.
        self._inbox = ThreadInbox(index)
        self._answers: queue.SimpleQueue[Result | str] = queue.SimpleQueue()
        self._held = 0

    def open(self, payload: tuple[Job, Sequence[Parcel], str]) -> tuple[str, str, str | None]:
        """Prepares the job; returns this computer's name, Ray's number for it, and why it cannot do the job.

        None: it can.
        """
        job, parcels, driver = payload
        number = node_id()
        node = f"{platform.node()} {number[:4]}"  # Tells two nodes of one computer apart.
        try:
            check_code(driver)
            places = {parcel.path: unpack(parcel) for parcel in parcels}
            job = job.prepared(lambda path: places.get(path, path))
        except RefusedError as error:
            return node, number, str(error)
        self._job = job
        self._thread = threading.Thread(target=self._work, args=(job,), daemon=True)
        self._thread.start()
        return node, number, None

    def exchange(self, tasks: Sequence[Task], hold_s: float) -> tuple[Bundle | None, str | None]:
        """Takes tasks; returns results (None: there are none) and an error's text (None: there is none).

        It waits for the first result if it holds tasks, then `hold_s` for more, but not for the last one.
        """
        for task in tasks:
            self._inbox.put(task)
        self._held += len(tasks)
        results: list[Result] = []
        error = None
        end_s = math.inf
        while self._held and error is None:
            try:
                answer = self._answers.get(timeout=max(0.0, end_s - time.monotonic()) if results else None)
            except queue.Empty:
                break
            if isinstance(answer, str):
                error = answer
            else:
                end_s = end_s if results else time.monotonic() + hold_s
                results.append(answer)
                self._held -= 1
        try:
            return self._job.bundled(results) if results else None, error
        except Exception:
            return None, traceback.format_exc()

    def rest(self) -> None:
        """Never returns: the call fails when this actor dies."""
        threading.Event().wait()

    def stop(self, breaks_off: bool) -> None:
        """Ends the job and waits a little for it; it is broken off if it holds a copy that nobody wants."""
        if breaks_off or self._held:
            self._inbox.close()
        else:
            self._inbox.end()
        self._thread.join(CLOSE_S)

    def _work(self, job: Job) -> None:
        try:
            for result in job.work(self._inbox):
                self._answers.put(result)
        except (GoryuError, OSError) as error:
            self._answers.put(explained(error))
        except Exception:
            self._answers.put(traceback.format_exc())


def code_digest() -> str:
    """Returns a checksum of the Python code of engine and lab: other code could give other results.

    The native code is not in it: its builds differ from computer to computer.
    """
    digest = sha256(goryu.__version__.encode())
    for package in (goryu, goryu_lab):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            name = path.relative_to(root).as_posix()
            digest.update(name.encode() + path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def check_code(driver: str) -> None:
    """Raises RefusedError if this computer has another Goryu than the driver."""
    if code_digest() != driver:
        raise RefusedError(
            f"the Goryu installed here ({goryu.__version__}) differs from the driver's: "
            "expected the same version or the same checkout"
        )


def node_id() -> str:
    """Returns Ray's number for this computer."""
    import ray

    return str(ray.get_runtime_context().get_node_id())
