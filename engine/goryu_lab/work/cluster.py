"""Workers that are actors of a Ray cluster (https://docs.ray.io), on any number of computers.

The driver holds all state: an actor that dies, or whose computer leaves, is replaced as soon as the cluster
has room, and actors are added when computers join. The job and its files go once into Ray's object store,
from which every actor fetches them. Each actor has one call under way, which returns a bundle of results; the
answer wakes the driver by a callback. A call costs the driver more than anything else, so the more actors
there are, the longer each one keeps results back: all of them together make `CALLS_PER_S` calls.

The other side of a call is `cluster_actor.py`. Only these modules and
`cluster_connection.py` import Ray, and only when a cluster is used.
"""

import queue
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from goryu.base.config_fields import ranged
from goryu_lab.work.cluster_actor import CLOSE_S, Actor, StoredFile, code_digest
from goryu_lab.work.cluster_connection import connect, one_line
from goryu_lab.work.seam import Done, Event, Failed, Job, Joined, Left, NodeLeft, Notice, Task, WorkError
from goryu_lab.work.shipping import Parcel

CLUSTER_HELP = (
    "do the work on a Ray cluster: auto (the one of this computer), local (start one here), HOST:PORT, or "
    "ray://HOST:PORT (Ray Client); needs the extra cluster"
)

LOOK_EVERY_S = 2.0
"""How often the pool looks for computers that have joined."""

WAIT_S = 0.2
"""How long `events` waits at most."""

GATHER_S = 0.02
"""How long an actor waits at least for more results to send together."""

CALLS_PER_S = 250.0
"""About how many calls of all actors together end in a second; each takes the driver 0.5 to 1 ms."""

STARTS = 200
"""How many actors are asked for at a time, so that the first ones do not wait for the last ones."""

MAX_BAD_STARTS = 3
"""While no actor is ready, the run ends when this many more than have room have died before they were ready.

Actors whose computers have died do not count: the head of a cluster takes a dead computer for alive for ten
seconds and more, and gives it actors.
"""

LONGEST_PAUSE_S = 60.0
"""The longest pause between two attempts to start actors where they die before they are ready."""


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """Which cluster to use, and what of it.

    address: as in CLUSTER_HELP. workers: the most workers; None: as many as its computers have room for, also
        those that join later.
    worker_gpus: a part of a GPU lets several workers share one.
    """

    address: str
    workers: int | None = None
    worker_cpus: float = ranged(1.0, "with --cluster: cores that each worker needs")
    worker_gpus: float = ranged(
        0.0, "with --cluster: the share of a GPU that each worker needs", least=0, most=1
    )


class ClusterPool:
    """Workers on a cluster. Raises ClusterError if it cannot be reached."""

    copies_late_tasks = True
    calls_per_s = CALLS_PER_S

    def __init__(self, config: ClusterConfig) -> None:
        self._config = config
        self._messages: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ray = connect(config.address, self._messages.put)
        self._actors: dict[int, _ActorState] = {}
        self._ready = 0  # Actors.
        self._unexplained: dict[int, str] = {}  # Ray's numbers of the computers of actors that have died.
        self._to_call: set[int] = set()
        self._answers: queue.SimpleQueue[Event | _Returned | _Refused] = queue.SimpleQueue()
        self._started = 0
        self._has_worked = self._has_told_room = False
        self._bad_starts = 0
        self._lost_room = 0  # How many workers had room on computers that have left since one was ready.
        self._looked_s = 0.0
        self._start_s = 0.0  # When actors may be started again.
        self._alive: dict[str, int] = {}  # How many workers fit on every computer, by Ray's numbers.

    @property
    def size(self) -> int:
        """How many workers fit on the computers that are there now."""
        return max(self._room, len(self._actors))

    @property
    def _room(self) -> int:
        return sum(self._alive.values())

    @property
    def hold_s(self) -> float:
        """How long an actor keeps results back."""
        return max(GATHER_S, self._ready / self.calls_per_s)

    def start(self, job: Job) -> None:
        """Sends the job and its files to the object store and asks for the actors."""
        parcels = [Parcel.of(path) for path in job.files]
        self._payload = self._ray.put((job, parcels, code_digest()))
        self._actor = self._ray.remote(
            num_cpus=self._config.worker_cpus,
            num_gpus=self._config.worker_gpus,
            max_concurrency=2,
            max_restarts=0,
        )(Actor)
        self._look()

    def ship(self, path: Path) -> StoredFile:
        """Puts a file into the object store."""
        return StoredFile(self._ray.put(Parcel.of(path)))

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        """Gives tasks to a worker, with its next call."""
        actor = self._actors.get(worker)
        if actor is not None and actor.node is not None:
            actor.gifts += tasks
            if not actor.is_called:
                self._to_call.add(worker)

    def events(self) -> list[Event]:
        """Returns what has happened; raises WorkError if no worker can do the job."""
        if time.monotonic() >= self._looked_s + LOOK_EVERY_S:
            self._look()
        for worker in self._to_call:
            self._call(worker)
        self._to_call.clear()
        answers: list[Event | _Returned | _Refused] = []
        with suppress(queue.Empty):
            answers.append(self._answers.get(timeout=WAIT_S))
            while True:
                answers.append(self._answers.get_nowait())
        while not self._messages.empty():
            answers.append(Notice(f"Ray: {self._messages.get()}"))
        return [event for answer in answers if (event := self._noted(answer)) is not None]

    def close(self, *, breaks_off: bool) -> None:
        """Ends the actors and leaves the cluster; a cluster that was started here ends."""
        ready = [actor for actor in self._actors.values() if actor.node is not None]
        asked = [actor.handle.stop.remote(breaks_off) for actor in ready]
        if asked:
            self._ray.wait(asked, num_returns=len(asked), timeout=CLOSE_S)
        for actor in self._actors.values():
            self._ray.kill(actor.handle)
        self._actors.clear()
        self._ray.shutdown()

    def _noted(self, answer: "Event | _Returned | _Refused") -> Event | None:
        """Brings the lists of actors up to date; returns what the driver should know."""
        if isinstance(answer, (Notice, NodeLeft, Failed)):
            return answer
        worker = answer.worker
        actor = self._actors[worker]
        if isinstance(answer, Joined):
            self._bad_starts = self._lost_room = 0
            self._has_worked = True
            actor.node = answer.node
            self._ready += 1
        elif isinstance(answer, Done):
            actor.held -= len(answer.bundle.numbers)
        elif isinstance(answer, Left):
            self._forget(worker)
            if actor.node is None and not actor.refused:
                return self._note_bad_start(answer)
            self._unexplained[worker] = actor.node_id
        elif isinstance(answer, _Refused):
            actor.refused = answer.reason
            self._check_refusals()
            return Notice(f"not used: {answer.reason}")
        elif isinstance(answer, _Returned):
            actor.is_called = False
            if actor.held or actor.gifts:
                self._to_call.add(worker)
            return None
        return answer

    def _forget(self, worker: int) -> None:
        """Removes an actor that has died; `_look` starts another."""
        actor = self._actors.pop(worker)
        self._to_call.discard(worker)
        if actor.node is not None:
            self._ready -= 1

    def _note_bad_start(self, left: Left) -> Notice | None:
        """Notes that an actor has died before it was ready; the next ones start after a pause.

        The job may kill every worker, or one computer may be at fault, whose room Ray offers again and again
        while others work.
        """
        self._bad_starts += 1
        self._note_nodes()
        bad = self._bad_starts - self._lost_room
        if bad <= 0:
            return None
        if not self._ready and bad >= self._room + MAX_BAD_STARTS:
            raise WorkError(f"{bad} workers in a row died before their work: {left.reason}")
        now_s = time.monotonic()
        if now_s < self._start_s:
            return None  # It was started together with one that has been noted.
        self._start_s = now_s + min(LONGEST_PAUSE_S, LOOK_EVERY_S * bad)
        return Notice(f"a worker died before its work: {left.reason}")

    def _look(self) -> None:
        """Asks for more actors if the cluster has room for more, and notes which computers have left."""
        self._looked_s = time.monotonic()
        self._note_nodes()
        missing = self._wanted() - len(self._actors) if time.monotonic() >= self._start_s else 0
        for _ in range(min(STARTS, missing)):
            index = self._started
            self._started += 1
            actor = self._actors[index] = _ActorState(self._actor.remote(index))
            self._watch(actor.handle.open.remote(self._payload), partial(self._opened, index, actor))
        self._check_refusals()

    def _note_nodes(self) -> None:
        """Notes which computers there are; tells the driver which actors have died with theirs."""
        try:
            alive = {node["NodeID"]: self._fitting(node) for node in self._ray.nodes() if node["Alive"]}
        except ConnectionError:
            return
        self._lost_room += sum(self._alive[node_id] for node_id in self._alive.keys() - alive.keys())
        self._alive = alive
        for worker, node_id in list(self._unexplained.items()):
            if node_id not in alive:
                del self._unexplained[worker]
                self._answers.put(NodeLeft(worker))

    def _wanted(self) -> int:
        """Returns how many actors there should be."""
        return self._room if self._config.workers is None else self._config.workers

    def _check_refusals(self) -> None:
        """Raises WorkError if the actors that cannot do the job take all the room, and no other ever could.

        That no computer has room for an actor is an error of a cluster that was started here, which stays as
        it is; of another one the driver is told it once. Actors that wait for room do not count: `_room` may
        have included a computer that was leaving.
        """
        most = min(self._room, self._wanted())
        if self._has_worked:
            return
        if not self._room and not self._has_told_room:
            self._has_told_room = True
            needs = f"{self._config.worker_cpus:g} CPUs, {self._config.worker_gpus:g} GPUs"
            text = f"no computer of the cluster has room for a worker ({needs})"
            if self._config.address == "local":
                raise WorkError(text)
            self._answers.put(Notice(f"{text}; waiting for one that has"))
        if most == 0:
            return
        refused = [actor.refused for actor in self._actors.values() if actor.refused]
        if most <= len(refused):
            raise WorkError(f"no computer of the cluster can do this: {refused[-1]}")

    def _fitting(self, node: Mapping[str, Any]) -> int:
        """Returns how many workers fit on a computer."""
        have = node["Resources"]
        counts = [int(have.get("CPU", 0) / self._config.worker_cpus)] if self._config.worker_cpus else []
        counts += [int(have.get("GPU", 0) / self._config.worker_gpus)] if self._config.worker_gpus else []
        return min(counts, default=1)

    def _watch(self, reference: Any, then: Callable[[Any], Sequence["Event | _Returned | _Refused"]]) -> None:
        """Queues what `then` makes of the answer to a call, or of its error; in one of Ray's threads."""

        def finish(future: "Future[Any]") -> None:
            error = future.exception()
            for event in then(error if error is not None else future.result()):
                self._answers.put(event)

        reference.future().add_done_callback(finish)

    def _opened(self, index: int, actor: "_ActorState", answer: Any) -> Sequence["Event | _Refused"]:
        if isinstance(answer, BaseException):
            return [Left(index, one_line(answer))]
        node, node_id, problem = answer
        actor.node_id = node_id
        if problem is None:
            return [Joined(index, node)]
        # It keeps its place, where another one would be refused too, until its computer leaves.
        self._watch(actor.handle.rest.remote(), partial(self._answered, index))
        return [_Refused(index, f"{node}: {problem}")]

    def _call(self, worker: int) -> None:
        """Sends an actor its new tasks and asks for its results."""
        actor = self._actors[worker]
        tasks, actor.gifts = actor.gifts, []
        actor.is_called = True
        actor.held += len(tasks)
        self._watch(actor.handle.exchange.remote(tasks, self.hold_s), partial(self._answered, worker))

    def _answered(self, worker: int, answer: Any) -> Sequence["Event | _Returned"]:
        if isinstance(answer, BaseException):
            return [Left(worker, one_line(answer))]
        bundle, error = answer
        events: list[Event] = [] if bundle is None else [Done(worker, bundle)]
        return [*events, _Returned(worker) if error is None else Failed(worker, WorkError(error))]


@dataclass(slots=True)
class _ActorState:
    """What the driver knows of an actor.

    handle: Ray's, whose methods call the actor. node: the name of its computer when it is ready.
    node_id: Ray's number of its computer, since the actor has answered.
    refused: why it cannot do the job. held: how many tasks it has. gifts: tasks that go with the next call.
    """

    handle: Any
    node: str | None = None
    node_id: str = ""
    refused: str = ""
    held: int = 0
    gifts: list[Task] = field(default_factory=list)
    is_called: bool = False


@dataclass(frozen=True, slots=True)
class _Returned:
    """The call to a worker has ended."""

    worker: int


@dataclass(frozen=True, slots=True)
class _Refused:
    """A worker cannot do the job, since something on its computer differs."""

    worker: int
    reason: str
