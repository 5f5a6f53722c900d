"""Stage 4: what the engine does when the GPU fails it.

Whatever happens, it must answer every `go` with exactly one `bestmove` that is a move, and say what happened.
"""

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread

from goryu.base.errors import first_line
from goryu.engines.usi_client import EngineSpec, Timeouts, UsiClient
from goryu.evaluators.network.model_files import shipped_model
from goryu.evaluators.network.providers import compiled_networks
from gpu import device_memory
from gpu.plan import Contact, ContactError, Found, Item, Stage

MOVE = re.compile(r"([1-9][a-i]|[PLNSGBR]\*)[1-9][a-i]\+?")
POSITIONS = (
    "position startpos",
    "position startpos moves 7g7f 3c3d",
    "position startpos moves 2g2f 8c8d 2f2e",
)
MOVETIME_MS, REHEARSED_MOVETIME_MS, QUICK_MOVETIME_MS = 2000, 500, 50
BIG_BATCH = 1024
NO_DEVICE = "99"
QUICK_FAULTS = 2

TIMEOUTS = Timeouts(start_timeout_s=120.0, move_timeout_s=60.0, grace_s=20.0)


def items(contact: Contact) -> Iterator[Item]:
    """Yields the faults; 700 MB are enough for a context but not for large batches."""
    faults = {
        "a killed engine beside another": lambda: killed_neighbour(contact),
        "memory taken between two moves": lambda: memory_taken(contact, 0, before=False),
        "no fault": lambda: played(contact),
        "no memory left before the start": lambda: memory_taken(contact, 0, before=True),
        "700 MB left before the start": lambda: memory_taken(contact, 700, before=True),
        "a device number that is not there": lambda: played(contact, Device=NO_DEVICE),
        "two engines at once": lambda: two_engines(contact),
        "a torn cache of TensorRT": lambda: torn_cache(contact),
    }
    for name, work in list(faults.items())[: QUICK_FAULTS if contact.is_quick else None]:
        yield Item(name, lambda seconds, work=work: work())  # type: ignore[misc]


STAGE = Stage("faults", 8.0, items)


@contextmanager
def engine(contact: Contact, name: str = "engine", **options: str) -> Iterator[UsiClient]:
    """Starts an engine on the GPU with goryu-5x64, ready to play; all its lines are logged."""
    folder = contact.folder / "faults"
    folder.mkdir(parents=True, exist_ok=True)
    given = {"Backend": contact.gpu, "DNN_Model": str(shipped_model()), "USI_OwnBook": "false", **options}
    spec = EngineSpec((sys.executable, "-m", "goryu", "usi"), tuple(given.items()), name=name)
    client = UsiClient(spec, folder / f"{name}.stderr.log", TIMEOUTS)
    with ExitStack() as stack:
        client.transcript = stack.enter_context((folder / f"{name}.usi.log").open("a", encoding="utf-8"))
        stack.callback(client.kill)
        client.start()
        client.new_game()
        yield client
        client.quit()


def play(client: UsiClient, contact: Contact, positions: Sequence[str] = POSITIONS) -> list[int]:
    """Lets an engine search; returns its times in ms. Raises ContactError if an answer is no move."""
    rehearsed = QUICK_MOVETIME_MS if contact.is_quick else REHEARSED_MOVETIME_MS
    movetime = rehearsed if contact.rehearses else MOVETIME_MS
    times = []
    for position in positions:
        reply = client.go(position, f"go movetime {movetime}", movetime)
        if not MOVE.fullmatch(reply.move):
            raise ContactError(f"{client.name} answered {reply.move} to {position}")
        times.append(reply.elapsed_ms)
    return times


def one_answer_each(log: Path, start: int) -> tuple[int, list[str]]:
    """Returns how many searches an engine was asked for, and what it said besides; by its log from `start`.

    Raises ContactError if it did not answer each exactly once.
    """
    lines = log.read_text("utf-8", "replace")[start:].splitlines()
    asked = sum(" > go " in line for line in lines)
    answered = sum(" < bestmove" in line for line in lines)
    if asked != answered:
        raise ContactError(f"{asked} times go, {answered} times bestmove")
    said = [line.partition(" < ")[2] for line in lines if " < info string" in line]
    return asked, [line.removeprefix("info string ")[:700] for line in dict.fromkeys(said)]


def played(contact: Contact, name: str = "engine", **options: str) -> Found:
    """Plays a few moves in an engine with these options."""
    with watched(contact, name) as found, engine(contact, name, **options) as client:
        found["times_ms"] = play(client, contact)
    return found


@contextmanager
def watched(contact: Contact, name: str) -> Iterator[dict[str, object]]:
    """Yields a dict, to which it adds what an engine of this name said and how often it answered."""
    log = contact.folder / "faults" / f"{name}.usi.log"
    start = len(log.read_text("utf-8", "replace")) if log.is_file() else 0
    found: dict[str, object] = {}
    yield found
    found["answers"], found["said"] = one_answer_each(log, start)


def two_engines(contact: Contact) -> Found:
    """Lets two engines search at the same time."""
    found: dict[str, object] = {}
    errors: list[str] = []

    def work(name: str) -> None:
        try:
            found[name] = played(contact, name)
        except Exception as error:
            errors.append(f"{name}: {first_line(error)}")

    threads = [Thread(target=work, args=(name,)) for name in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise ContactError("; ".join(errors))
    return found


def killed_neighbour(contact: Contact) -> Found:
    """Kills an engine in its search; another that searches, and one that is started next, must answer."""
    with (
        watched(contact, "survivor") as found,
        engine(contact, "survivor") as survivor,
        engine(contact, "victim") as victim,
    ):
        victim.ponder(POSITIONS[0], "go infinite")
        found["times_ms"] = play(survivor, contact, POSITIONS[:1])
        victim.kill()
        found["times_ms_after"] = play(survivor, contact)
    found["next"] = played(contact, "next")
    return found


def memory_taken(contact: Contact, left_mb: int, *, before: bool) -> Found:
    """Takes the GPU's memory away, and gives it back in the end: then the engine must answer, too."""
    options = {"DNN_Batch_Size": "8" if contact.rehearses else str(BIG_BATCH)}
    with watched(contact, "engine") as found, ExitStack() as stack:
        client = None if before else stack.enter_context(engine(contact, **options))
        hog = _Hog(contact, left_mb)
        stack.callback(hog.free)
        found["memory"] = hog.said
        if client is None:
            client = stack.enter_context(engine(contact, **options))
        found["times_ms"] = play(client, contact)
        hog.free()
        found["times_ms_after"] = play(client, contact, POSITIONS[1:])
    return found


class _Hog:
    """A process that holds the GPU's memory; in a rehearsal it holds nothing."""

    def __init__(self, contact: Contact, left_mb: int) -> None:
        code = "print('taken nothing: a rehearsal', flush=True); import sys; sys.stdin.read()"
        command = ["-c", code] if contact.rehearses else [str(device_memory.__file__), "0", str(left_mb)]
        self._process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        self.said = self._process.stdout.readline().strip()
        if not self.said.startswith("taken"):
            rest = self._process.communicate()[0]
            raise ContactError(f"no memory was taken: {rest.strip().rpartition(chr(10))[2]}")

    def free(self) -> None:
        """Ends the process."""
        if self._process.poll() is None:
            self._process.communicate()


def torn_cache(contact: Contact) -> Found:
    """Cuts the networks that TensorRT compiles for an engine in half, before the engine starts again."""
    start = time.time()
    first = played(contact, "tensorrt", Backend="tensorrt")
    torn = []
    for path in sorted(compiled_networks().rglob("*")):
        if path.is_file() and path.stat().st_mtime >= start:
            torn.append(path.name)
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2])
    if not torn:
        raise ContactError("TensorRT has compiled no network, so there was nothing to cut")
    return {"first": first, "torn": torn, **played(contact, "tensorrt", Backend="tensorrt")}
