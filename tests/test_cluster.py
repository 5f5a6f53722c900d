"""Work on a Ray cluster gives the same games as on one computer, whatever happens to its nodes."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goryu.learning.records.game_records import GameRecord, read_games
from goryu.learning.records.summary import GameSummary
from goryu.learning.self_play import workers as self_play
from goryu.learning.self_play.config import SelfPlayConfig
from goryu.match.openings import Opening
from goryu.work.cluster import ClusterConfig
from goryu.work.driver import Workforce

pytest.importorskip("ray")
if sys.platform == "win32":
    pytest.skip("kills processes as POSIX does", allow_module_level=True)

from ray.cluster_utils import Cluster

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "models" / "goryu-5x64-int8.onnx"
SHORT = SelfPlayConfig(cheap_playouts=2, full_playouts=6, max_plies=60)
NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A head without a core for workers, and two nodes of one core."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setenv("RAY_DISABLE_IMPORT_WARNING", "1")
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
    for _ in range(2):
        cluster.add_node(**NODE)
    try:
        yield cluster
    finally:
        cluster.shutdown()


def by_number(path: Path) -> dict[int | None, GameRecord]:
    games = list(read_games(path))
    found = {game.number: game for game in games}
    assert len(found) == len(games), "a game was written twice"
    return found


def kill_node(cluster: Cluster) -> None:
    """Kills a node and its workers as a power failure does."""
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)


def after(games: int, act: Callable[[], object]) -> Callable[[GameSummary], None]:
    """Returns a report that does something once, when so many games are finished."""
    actions = [act]

    def report(summary: GameSummary) -> None:
        if summary.games >= games and actions:
            actions.pop()()

    return report


def test_self_play_gives_the_local_games_though_a_node_dies_and_another_joins(
    cluster: Cluster, tmp_path: Path
) -> None:
    def play(name: str, games: int, **how: Any) -> dict[int | None, GameRecord]:
        work = self_play.PlayWork("test", SHORT, (Opening(),), 1, games)
        self_play.run(work, MODEL, tmp_path / name, at_once=4, **how)
        return by_number(tmp_path / name)

    def replace_node() -> None:
        kill_node(cluster)
        cluster.add_node(**NODE)

    seen: list[Workforce] = []
    nodes: set[str] = set()

    def watch(workforce: Workforce) -> None:
        seen.append(workforce)
        nodes.update(workforce.nodes)

    config = ClusterConfig(cluster.address)
    remote = play("remote.games", 30, cluster=config, report=after(6, replace_node), watch=watch)
    local = play("local.games", 30, processes=2)
    assert remote == local
    assert len(nodes) == 3
    assert seen[-1].losses >= 1
    assert sum(seen[-1].done.values()) <= 30
