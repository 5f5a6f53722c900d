"""Tasks are done once each, whatever happens to the workers."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import goryu_lab
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import Board
from goryu_lab.match.openings import Opening
from goryu_lab.records.game_records import read_games
from goryu_lab.self_play import workers
from goryu_lab.self_play.config import SelfPlayConfig
from goryu_lab.self_play.leaf_evaluator import LeafEvaluator, PairedEvaluator
from goryu_lab.work.cluster import ClusterConfig, ClusterPool
from goryu_lab.work.cluster_actor import code_digest
from goryu_lab.work.cluster_connection import ClusterError
from goryu_lab.work.driver import Workforce, run_bundles, run_tasks
from goryu_lab.work.processes import ProcessPool
from goryu_lab.work.seam import (
    Done,
    Event,
    Failed,
    Inbox,
    Job,
    Joined,
    Left,
    LocalFile,
    NodeLeft,
    Pool,
    RefusedError,
    Result,
    Results,
    Task,
    WorkError,
)
from goryu_lab.work.shipping import Parcel, check_installed, installed_files, unpack
from goryu_lab.work.threads import ThreadPool
from paths import ROOT
from rehearsal import Rehearsal

MODEL = ROOT / "models" / "goryu-5x64.onnx"


def play(path: Path) -> None:
    """Self-play of eight short games, those that the file lacks."""
    config = SelfPlayConfig(cheap_playouts=1, full_playouts=2, max_plies=12)
    work = workers.PlayWork("test", config, (Opening(),), 1, 8)
    workers.run(workers.GamesJob(work, MODEL, 2), work, path)


def test_other_code_of_the_lab_is_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_digest()
    monkeypatch.setattr(goryu_lab, "__file__", str(tmp_path / "__init__.py"))
    assert code_digest() != before


def numbered(count: int) -> Iterator[Task]:
    return ((number, None) for number in range(count))


def collect(pool: Pool, job: Job, tasks: Iterator[Task], total: int | None = None) -> list[Result]:
    with closing(run_tasks(pool, job, tasks, total)) as finished:
        return sorted(result for results in finished for result in results)


@pytest.mark.parametrize("pool", [ThreadPool, ProcessPool])
@pytest.mark.parametrize("at_once", [1, 3])
def test_every_task_is_done_once(pool: Callable[[int], Pool], at_once: int) -> None:
    job = Rehearsal(at_once=at_once)
    expected = [(number, job.answer(number)) for number in range(10)]
    assert collect(pool(2), job, numbered(10), 10) == expected
    assert collect(pool(2), job, iter(())) == []


@dataclass(frozen=True)
class Full(Rehearsal):
    """Its workers meet a full disk."""

    def work(self, inbox: Inbox) -> Iterator[Result]:
        for _ in iter(lambda: inbox.take(wait=True), None):
            raise OSError(28, "No space left on device", "state.pt")
        yield 0, b""


def test_a_full_disk_is_told_in_a_line() -> None:
    with pytest.raises(WorkError, match=r"^state\.pt: No space left on device$"):
        collect(ProcessPool(1), Full(), numbered(1))


@dataclass(slots=True)
class PaperPool:
    """A pool whose `script` returns the next events, from the tasks given so far."""

    script: Callable[[dict[int, list[int]]], Sequence[Event]]
    size: int = 2
    copies_late_tasks: bool = True
    hold_s: float = 0.0
    given: dict[int, list[int]] | None = None
    closed: bool | None = None

    def start(self, job: Job) -> None:
        self.given = {}

    def ship(self, path: Path) -> LocalFile:
        return LocalFile(path)

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        assert self.given is not None
        self.given.setdefault(worker, []).extend(number for number, _ in tasks)

    def events(self) -> list[Event]:
        assert self.given is not None
        return list(self.script(self.given))

    def close(self, *, breaks_off: bool) -> None:
        self.closed = breaks_off


def done(worker: int, number: int, result: str) -> Done:
    return Done(worker, Results([(number, result)]))


def steps(*lists: Sequence[Event]) -> Callable[[object], Sequence[Event]]:
    rest = iter(lists)
    return lambda given: next(rest)


def test_the_tasks_of_a_lost_worker_are_given_to_another() -> None:
    pool = PaperPool(
        steps([Joined(0), Joined(1)], [Left(0, "power failure"), done(1, 1, "b")], [done(1, 0, "a")])
    )
    assert collect(pool, Rehearsal(), numbered(2)) == [(0, "a"), (1, "b")]
    assert pool.given == {0: [0], 1: [1, 0]}
    assert pool.closed is False


def test_a_late_task_is_copied_and_the_first_answer_counts() -> None:
    pool = PaperPool(
        steps([Joined(0), Joined(1)], [done(1, 1, "b")], [done(1, 0, "fast")], [done(0, 0, "late")])
    )
    assert collect(pool, Rehearsal(), numbered(2)) == [(0, "fast"), (1, "b")]
    assert pool.given == {0: [0], 1: [1, 0]}


def test_the_second_answer_to_a_task_is_dropped() -> None:
    pool = PaperPool(
        steps(
            [Joined(0), Joined(1)],  # They take turns: 0 holds 0 and 2, 1 holds 1 and 3.
            [done(1, 1, "b"), done(1, 3, "d")],
            [done(1, 0, "fast"), done(0, 0, "late")],
            [done(0, 2, "c")],
        )
    )
    job = Rehearsal(at_once=2)
    assert collect(pool, job, numbered(4), 4) == [(0, "fast"), (1, "b"), (2, "c"), (3, "d")]
    assert pool.given is not None
    assert pool.given[1][:3] == [1, 3, 0]


def test_what_has_come_already_is_taken_out_of_a_bundle() -> None:
    pool = PaperPool(
        steps(
            [Joined(0), Joined(1)],  # They take turns: 0 holds 0 and 2, 1 holds 1 and 3.
            [Done(1, Results([(1, "b"), (3, "d")]))],
            [Done(1, Results([(0, "fast")])), Done(0, Results([(0, "late"), (2, "c")]))],
        )
    )
    seen = Workforce()

    def watch(now: Workforce) -> None:
        nonlocal seen
        seen = now

    bundles = list(run_bundles(pool, Rehearsal(at_once=2), numbered(4), 4, watch))
    assert [[bundle.results() for bundle in together] for together in bundles] == [
        [[(1, "b"), (3, "d")]],
        [[(0, "fast")], [(2, "c")]],
    ]
    assert seen.done.total() == 4


def test_a_worker_that_keeps_results_back_has_tasks_for_that_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    monkeypatch.setattr("goryu_lab.work.driver.time.monotonic", lambda: now_s)
    most = 0

    def script(given: dict[int, list[int]]) -> Sequence[Event]:
        """A worker that does a task every two seconds and sends four results every eight."""
        nonlocal now_s, most
        if not given:
            return [Joined(0)]
        held = given[0][sent:]
        most = max(most, len(held))
        now_s += 8.0
        return [Done(0, Results([(number, "") for number in held[:4]]))]

    sent = 0
    pool = PaperPool(script, hold_s=8.0)
    for results in run_tasks(pool, Rehearsal(at_once=3), numbered(100)):
        sent += len(results)
    assert most == 3 + 4


def test_no_task_is_copied_while_there_are_new_ones() -> None:
    pool = PaperPool(
        steps([Joined(0), Joined(1)], [done(1, 1, "")], [done(1, 2, "")], [done(1, 3, ""), done(0, 0, "")])
    )
    assert len(collect(pool, Rehearsal(), numbered(4))) == 4
    assert pool.given is not None
    assert pool.given[1] == [1, 2, 3]


def test_tasks_are_shared_evenly_when_their_number_is_known() -> None:
    first: dict[int, int] = {}

    def script(given: dict[int, list[int]]) -> Sequence[Event]:
        if not given:
            return [Joined(0), Joined(1)]
        first.update(first or {worker: len(numbers) for worker, numbers in given.items()})
        return [done(worker, number, "") for worker, numbers in given.items() for number in numbers]

    pool = PaperPool(script, copies_late_tasks=False)
    assert len(collect(pool, Rehearsal(at_once=32), numbered(40), 40)) == 40
    assert first == {0: 20, 1: 20}


def test_a_task_that_kills_its_workers_ends_the_run() -> None:
    lives = iter(range(100))

    def script(given: dict[int, list[int]]) -> Sequence[Event]:
        life = next(lives)
        return [Left(life - 1, "out of memory"), Joined(life)] if life else [Joined(0)]

    pool = PaperPool(script)
    with pytest.raises(WorkError, match="task 0 was lost with 4 workers: out of memory"):
        collect(pool, Rehearsal(), numbered(1))
    assert pool.closed is True


def test_only_workers_that_die_while_their_computers_live_speak_against_a_task() -> None:
    """Ten power failures, each noticed after its worker has gone, and two deaths of workers."""
    lists: list[list[Event]] = [[Joined(0)]]
    for life in range(12):
        lists.append([Left(life, "gone"), Joined(life + 1)])
        if life not in (1, 5):
            lists.append([NodeLeft(life)])
    assert sum(isinstance(event, NodeLeft) for events in lists for event in events) == 10
    pool = PaperPool(steps(*lists, [done(12, 0, "a")]))
    assert collect(pool, Rehearsal(), numbered(1)) == [(0, "a")]
    pool = PaperPool(steps(*lists, [Left(12, ""), Joined(13)], [Left(13, "out of memory")]))
    with pytest.raises(WorkError, match="task 0 was lost with 4 workers: out of memory"):
        collect(pool, Rehearsal(), numbered(1))


def test_an_error_of_the_job_ends_the_run() -> None:
    pool = PaperPool(steps([Joined(0)], [Failed(0, WorkError("broken"))]))
    with pytest.raises(WorkError, match="broken"):
        collect(pool, Rehearsal(), numbered(1))


def test_a_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    source = tmp_path / "net.onnx"
    source.write_bytes(b"weights")
    parcel = Parcel.of(source)
    store = tmp_path / "store"
    path = unpack(parcel, store)
    assert (path.name, path.read_bytes()) == ("net.onnx", b"weights")
    path.write_bytes(b"damaged later")
    assert unpack(parcel, store).read_bytes() == b"weights"
    source.write_bytes(b"other weights")
    other = unpack(Parcel.of(source), store)
    assert other != path
    assert path.read_bytes() == b"weights"
    with pytest.raises(RefusedError, match=r"net\.onnx has arrived damaged"):
        unpack(replace(parcel, content=b"weighty"), store)


def test_another_program_of_the_same_name_is_refused(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_bytes(b"version 1")
    expected = installed_files([str(engine), "--flag", "7", sys.executable])
    assert list(expected) == [str(engine)]
    check_installed(expected)
    engine.write_bytes(b"version 2")
    with pytest.raises(RefusedError, match="another file: expected SHA-256"):
        check_installed(expected)
    engine.unlink()
    with pytest.raises(RefusedError, match="is missing"):
        check_installed(expected)


def test_an_evaluation_does_not_depend_on_the_batch() -> None:
    """With `PairedEvaluator`; without it a lone position is rounded otherwise."""
    boards = [Board()]
    for move in ("7g7f", "3c3d", "2g2f", "4c4d", "6i7h", "8c8d"):
        boards.append(boards[-1].copy())
        boards[-1].push_usi(move)
    leaves = LeafEvaluator(NetworkEvaluator(MODEL, batch_size=4))
    evaluator = PairedEvaluator(leaves, 4)
    together = [(tuple(e.policy), e.value) for e in evaluator.evaluate(boards)]
    for size in (1, 2, 3, 5):
        parts = [e for i in range(0, len(boards), size) for e in evaluator.evaluate(boards[i : i + size])]
        assert [(tuple(e.policy), e.value) for e in parts] == together


def test_without_ray_the_cluster_is_one_line_of_advice(tmp_path: Path) -> None:
    pytest.importorskip("rich")
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError('No module named ray', name='ray')\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    for words in (
        ["selfplay", "play", "--model", str(MODEL), "--out", "x.games", "--cluster", "auto"],
        ["match", "--engine1", "x", "--engine2", "y", "--nodes", "1", "--out", "m", "--cluster", "local"],
    ):
        command = [sys.executable, "-m", "goryu", *words]
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert ended.returncode == 2
        assert len(ended.stderr.splitlines()) == 1
        assert "needs Ray, which is not installed: " in ended.stderr
        assert "cluster" in ended.stderr.rpartition(": ")[2]


def test_a_cluster_that_does_not_start_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray raises the base class of all errors if one of its programs does not start in time."""

    def init(*_: Any, **__: Any) -> None:
        raise Exception("The current node timed out during startup.\nMore of it.")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init))
    with pytest.raises(ClusterError, match=r"^--cluster local: The current node timed out during startup\.$"):
        ClusterPool(ClusterConfig("local"))


@pytest.mark.skipif(sys.platform == "win32", reason="limits a file's size as POSIX does")
def test_a_run_resumes_after_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "self.games"
    program = (
        "import resource, sys\n"
        "from test_work import play\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (700, resource.RLIM_INFINITY))\n"
        "from pathlib import Path\n"
        "play(Path(sys.argv[1]))\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]),
    }
    command = [sys.executable, "-c", program, str(path)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode != 0
    assert "File too large" in ended.stderr
    with pytest.warns(UserWarning, match="unfinished block"):
        assert 0 < len(list(read_games(path))) < 8
    with pytest.warns(UserWarning, match="unfinished block"):
        play(path)
    assert Counter(game.number for game in read_games(path)) == Counter(range(8))
