"""Work on a Ray cluster gives the same games as on one computer, whatever happens to its nodes."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from goryu.engines.usi_client import EngineSpec
from goryu_lab.commands.training import selfplay
from goryu_lab.loop.config import LoopConfig
from goryu_lab.loop.gate import GateConfig
from goryu_lab.loop.loop import run_loop
from goryu_lab.loop.window import WindowRule
from goryu_lab.match.openings import Opening
from goryu_lab.match.tournament import MatchConfig, MatchJob
from goryu_lab.records.game_records import GameRecord, read_games
from goryu_lab.records.json_lines import read_lines
from goryu_lab.records.summary import GameSummary
from goryu_lab.self_play import workers as self_play
from goryu_lab.self_play.config import SelfPlayConfig
from goryu_lab.work.cluster import ClusterConfig, ClusterPool
from goryu_lab.work.cluster_connection import ClusterError
from goryu_lab.work.driver import Workforce, run_tasks
from goryu_lab.work.processes import ProcessPool
from goryu_lab.work.seam import Inbox, Result, Task, WorkError
from paths import ROOT
from rehearsal import Rehearsal
from rehearsal_game import RehearsalGame

pytest.importorskip("ray")
if sys.platform == "win32":
    pytest.skip("kills processes as POSIX does", allow_module_level=True)

import fcntl

import ray
from ray.cluster_utils import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MODEL = ROOT / "models" / "goryu-5x64.onnx"
SHORT = SelfPlayConfig(cheap_playouts=2, full_playouts=6, max_plies=60)
MAX_LOSSES, MAX_BAD_STARTS = 2, 1
NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A head without a core for workers, and two nodes of one core; one cluster at a time on a computer."""
    lock = Path(tempfile.gettempdir()) / "goryu-test-cluster.lock"
    with pytest.MonkeyPatch.context() as patch, lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        patch.setenv("RAY_health_check_initial_delay_ms", "1000")
        patch.setenv("RAY_health_check_period_ms", "1000")  # By itself Ray needs 15 s to miss a node.
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        cluster: Any = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
        try:
            for _ in range(2):
                cluster.add_node(**NODE)
            yield cluster
        finally:
            cluster.shutdown()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little of it: every worker and every node costs seconds. test_work.py tests the real numbers."""
    monkeypatch.setattr("goryu_lab.work.driver.MAX_LOSSES", MAX_LOSSES)
    monkeypatch.setattr("goryu_lab.work.cluster.MAX_BAD_STARTS", MAX_BAD_STARTS)


def kill_and_replace(cluster: Cluster) -> None:
    """Kills a node and its workers as a power failure does; another node joins."""
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    cluster.add_node(**NODE)


def by_number(path: Path) -> dict[int | None, GameRecord]:
    games = list(read_games(path))
    found = {game.number: game for game in games}
    assert len(found) == len(games), "a game was written twice"
    return found


def once(games: int, act: Callable[[], object]) -> Callable[[GameSummary], None]:
    """Returns a report that does something once, when `games` games are finished."""
    actions = [act]

    def report(summary: GameSummary) -> None:
        if summary.games >= games and actions:
            actions.pop()()

    return report


def test_work_goes_on_while_nodes_die_and_join(cluster: Cluster) -> None:
    job = Rehearsal(seconds=0.01, size=200_000)  # Larger than what Ray sends within a message.
    nodes: set[str] = set()
    done = 0
    workforce = Workforce()

    def tasks() -> Iterator[Task]:
        for number in count():
            if len(nodes) > 2 and workforce.losses and done > 50:
                return
            yield number, None

    found: dict[int, bytes] = {}
    pool = ClusterPool(ClusterConfig(cluster.address))

    def watch(now: Workforce) -> None:
        nonlocal workforce
        workforce = now
        nodes.update(now.nodes)

    with closing(run_tasks(pool, job, tasks(), watch=watch)) as finished:
        for results in finished:
            for number, result in results:
                assert number not in found
                found[number] = result
            if done <= 20 < len(found):
                kill_and_replace(cluster)
            done = len(found)
    assert sorted(found) == list(range(len(found)))
    assert all(result == job.answer(number) for number, result in found.items())
    assert sum(workforce.done.values()) == len(found)
    assert workforce.losses > 0


@dataclass(frozen=True, slots=True)
class Wait(Rehearsal):
    """Tasks that say who holds them, and end when a file appears; or that kill their workers."""

    folder: Path = Path()
    kills: bool = False

    def work(self, inbox: Inbox) -> Iterator[Result]:
        while (task := inbox.take(wait=True)) is not None:
            (self.folder / f"{inbox.index}.began").touch()
            while not (self.folder / "end").exists():
                if self.kills:
                    os._exit(1)
                time.sleep(0.05)
            yield task[0], self.answer(task[0])


@dataclass(frozen=True, slots=True)
class Deadly(Rehearsal):
    """Kills its workers before they begin, on the first `computers` nodes that come."""

    folder: Path = Path()
    computers: int = 0

    def prepared(self, place: Callable[[Path], Path]) -> "Deadly":
        mark = self.folder / str(ray.get_runtime_context().get_node_id())
        with (self.folder / "lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if len(list(self.folder.iterdir())) <= self.computers:
                mark.touch()
        if mark.exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return self


def dead_nodes() -> int:
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call, unused-ignore]
    return sum(not node["Alive"] for node in nodes)


def test_a_task_survives_more_nodes_than_workers_that_it_may_kill(cluster: Cluster, tmp_path: Path) -> None:
    pool = ClusterPool(ClusterConfig(cluster.address, workers=1))
    losses = 0

    def watch(now: Workforce) -> None:
        nonlocal losses
        losses = now.losses

    tasks = iter([(0, None)])
    finished: list[tuple[int, Any]] = []

    def work() -> None:
        with closing(run_tasks(pool, Wait(folder=tmp_path), tasks, watch=watch)) as running:
            for results in running:
                finished.extend(results)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    for killed in range(MAX_LOSSES):
        while len(list(tmp_path.glob("*.began"))) <= killed:
            assert thread.is_alive()
            time.sleep(0.1)
        gone = dead_nodes()
        for node in list(cluster.worker_nodes):
            gone += 1
            cluster.remove_node(node, allow_graceful=False)
        while dead_nodes() < gone:
            time.sleep(0.1)
        cluster.add_node(**NODE)
    (tmp_path / "end").touch()
    thread.join()
    cluster.add_node(**NODE)  # Two nodes, as before.
    assert losses == MAX_LOSSES
    assert [number for number, _ in finished] == [0]


def test_a_task_that_kills_its_workers_ends_the_run_while_the_nodes_live(
    cluster: Cluster, tmp_path: Path
) -> None:
    pool = ClusterPool(ClusterConfig(cluster.address, workers=1))
    with (
        closing(run_tasks(pool, Wait(folder=tmp_path, kills=True), iter([(0, None)]))) as running,
        pytest.raises(WorkError, match=f"task 0 was lost with {MAX_LOSSES} workers"),
    ):
        list(running)
    assert len(list(tmp_path.glob("*.began"))) == MAX_LOSSES


def test_self_play_gives_the_local_games_though_a_node_dies(cluster: Cluster, tmp_path: Path) -> None:
    def run(work: self_play.Work, name: str, *how: Any) -> dict[int | None, GameRecord]:
        self_play.run(self_play.GamesJob(work.bare(), MODEL, 4), work, tmp_path / name, *how)
        return by_number(tmp_path / name)

    there = partial(ClusterPool, ClusterConfig(cluster.address))
    play = self_play.PlayWork("test", SHORT, (Opening(),), 1, 12)
    remote = run(play, "remote.games", there, once(4, lambda: kill_and_replace(cluster)))
    assert remote == run(play, "local.games")
    games = tuple(remote[number] for number in range(4))
    label = self_play.ReanalysisWork("again", replace(SHORT, full_playouts=2), games, 0.5, False, 1)
    assert run(label, "again.games", there) == run(label, "here.games")


def test_a_killed_driver_resumes_with_the_same_command(cluster: Cluster, tmp_path: Path) -> None:
    pytest.importorskip("rich")
    words = ["--cheap-playouts", "2", "--full-playouts", "6", "--max-plies", "40", "--at-once", "2"]
    play = ["play", "--model", str(MODEL), *words, "--games", "12"]
    remote, local = tmp_path / "remote.games", tmp_path / "local.games"
    command = [sys.executable, "-m", "goryu", "selfplay", *play, "--out", str(remote)]
    command += ["--cluster", cluster.address]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while driver.poll() is None and not (remote.exists() and remote.stat().st_size > 400):
            time.sleep(0.02)
        driver.send_signal(signal.SIGKILL)
    finally:
        driver.kill()
        driver.wait()
    kept = by_number(remote)
    assert 0 < len(kept) < 12
    ended = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, ended.stderr
    assert "cluster: workers" in ended.stdout
    assert selfplay.main([*play, "--out", str(local)]) == 0
    games = by_number(remote)
    assert games == by_number(local)
    assert {number: games[number] for number in kept} == kept


def test_a_message_of_ray_is_one_line_and_a_file(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    from ray._private.utils import publish_error_to_driver

    ray: Any = pytest.importorskip("ray")
    pool = ClusterPool(ClusterConfig(cluster.address))
    text = "A node of the test is gone.\n" + "[state-dump] a line\n" * 300
    notices: list[str] = []

    def tasks() -> Iterator[Task]:
        yield 0, None
        publish_error_to_driver("node_died", text, gcs_client=ray._private.worker.global_worker.gcs_client)
        for number in range(1, 300):
            if any("of the test" in notice for notice in notices):
                return
            yield number, None

    for _ in run_tasks(pool, Rehearsal(seconds=0.1), tasks(), watch=lambda now: notices.extend(now.notices)):
        pass
    (notice,) = {notice for notice in notices if "of the test" in notice}
    message, _, path = notice.removesuffix(")").partition(" (")
    assert message == "Ray: A node of the test is gone."
    assert text in Path(path).read_text()
    printed = capsys.readouterr()
    assert "state-dump" not in printed.out + printed.err


def test_the_loop_goes_on_while_nodes_die(cluster: Cluster, tmp_path: Path) -> None:
    config = LoopConfig(4, 2.0, WindowRule(400), GateConfig(match_limit=20), at_once=4)
    game = RehearsalGame(frozenset({2}), seconds=0.2)
    champions = []
    remote = ClusterConfig(cluster.address)
    events = run_loop(game, config, tmp_path, lambda: ClusterPool(remote), lambda: ProcessPool(1))
    with closing(events):
        for event in events:
            if event.event == "verdict" and event.entry["promoted"]:
                champions.append(event.candidate)
            if event.event == "trained" and event.candidate == 1:
                kill_and_replace(cluster)
    assert champions[-1] == 4
    games = [game for path in sorted((tmp_path / "games").iterdir()) for game in read_lines(path)]
    numbers = {game["number"] for game in games}
    assert len(numbers) == len(games)
    assert max(numbers) < len(numbers) + 100  # Those between were in progress at the end.
    assert {game["network"] for game in games} <= {0, *champions}


def test_workers_that_were_sent_to_dead_nodes_do_not_end_the_run(cluster: Cluster) -> None:
    nodes = [cluster.add_node(**NODE) for _ in range(2 + MAX_BAD_STARTS)]
    for node in cluster.worker_nodes - set(nodes[-2:]):
        cluster.remove_node(node, allow_graceful=False)  # The head takes them for alive a while longer.
    pool = ClusterPool(ClusterConfig(cluster.address))
    engine = EngineSpec((str(MODEL),))
    job = MatchJob(MatchConfig((engine, engine), 2), {str(MODEL): "0" * 64})
    with pytest.raises(WorkError, match="no computer of the cluster can do this"):
        list(run_tasks(pool, job, iter([(0, None)])))


def test_a_cluster_without_room_is_waited_for_with_a_word(cluster: Cluster) -> None:
    pool = ClusterPool(ClusterConfig(cluster.address, worker_gpus=0.5))
    pool.start(Rehearsal())
    until, told = time.monotonic() + 5, list[str]()
    while time.monotonic() < until:
        told += [str(event) for event in pool.events() if "room for a worker" in str(event)]
    pool.close(breaks_off=True)
    assert len(told) == 1


def test_a_job_that_kills_every_worker_ends_with_the_reason(cluster: Cluster, tmp_path: Path) -> None:
    pool = ClusterPool(ClusterConfig(cluster.address))
    with pytest.raises(WorkError, match=r"^\d+ workers .*: The actor is dead because its worker process"):
        list(run_tasks(pool, Deadly(folder=tmp_path, computers=9), iter([(0, None)])))


def test_work_goes_on_while_one_node_kills_its_workers(cluster: Cluster, tmp_path: Path) -> None:
    notices: list[str] = []

    def tasks() -> Iterator[Task]:
        for number in count():
            if number > 30 and any("died before its work" in notice for notice in notices):
                return
            yield number, None

    pool = ClusterPool(ClusterConfig(cluster.address))
    job = Deadly(folder=tmp_path, computers=1, seconds=0.1)
    nodes: set[str] = set()

    def watch(now: Workforce) -> None:
        notices.extend(now.notices)
        nodes.update(now.nodes)

    found = [number for results in run_tasks(pool, job, tasks(), watch=watch) for number, _ in results]
    assert sorted(found) == list(range(len(found)))
    assert len(nodes) == 1


@pytest.mark.parametrize(
    "address, words", [("127.0.0.1:1", "nothing answers there"), ("here", "expected auto, local, HOST:PORT")]
)
def test_an_unknown_address_is_one_line(address: str, words: str) -> None:
    with pytest.raises(ClusterError, match=rf"^--cluster {address}: {words}[^\n]*$"):
        ClusterPool(ClusterConfig(address))
