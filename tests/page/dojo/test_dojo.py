"""What the parts of the dojo do together."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from goryu.evaluators.network.model_files import shipped_model
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up import loading
from goryu.players.set_up.loading import LoadedEvaluator, load_evaluator
from goryu.search.evaluator import Evaluator
from goryu_page.dojo.dojo import Dojo
from goryu_page.dojo.problems import NewProblem, ProblemKind
from goryu_page.dojo.settings import change_training_settings
from sample_games import sample_game

WAIT_S = 60


@pytest.mark.parametrize("calls", [3, 30])
def test_after_a_lost_gpu_all_use_a_network_that_works(
    calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: Callable[[int, str], Evaluator]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    loads: list[LoadedEvaluator] = []

    def load(config: EvaluatorConfig, report: Callable[[str], None]) -> LoadedEvaluator:
        loaded = load_evaluator(config, report)
        loads.append(loaded if loads else replace(loaded, evaluator=failing(calls, "the GPU has gone")))
        return loads[-1]

    monkeypatch.setattr(loading, "load_evaluator", load)
    config = EngineConfig(evaluator=EvaluatorConfig(kind="material", threads=1))
    dojo = Dojo(tmp_path / "dojo.sqlite3", config)
    change_training_settings(dojo.database, {"playouts": 100})
    dojo.games.add(sample_game(1))
    dojo.problems.add([NewProblem(ProblemKind.MISTAKE, "4k4/9/4P4/9/9/9/9/r8/4K4 b G 1", (), {}, "5c5b+")])
    is_done = Event()

    def listen(_kind: str, **_content: object) -> None:
        if dojo.problems.next_candidate() is None and not dojo.reviewing.reviews.work().left:
            is_done.set()

    dojo.subscribe(listen)
    try:
        dojo.start()
        assert is_done.wait(WAIT_S)
        contents = [row["content"] for row in dojo.database.rows("SELECT content FROM problems")]
        assert contents
        assert not any('"reason": "failed"' in content for content in contents)
        loads[-1].lost.set()
        assert dojo.judge.judge("", (), "7g7f", 10)
        assert len(loads) == 3
    finally:
        dojo.close()


def test_reviews_and_judgements_share_one_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    model = Path(shutil.copy(shipped_model(), tmp_path / "network.onnx"))
    config = EngineConfig(evaluator=EvaluatorConfig(model=str(model), threads=1))
    dojo = Dojo(tmp_path / "dojo.sqlite3", config)
    networks = []
    for _ in range(2):
        networks.append(network := dojo.network())
        assert dojo.reviewer().loaded is dojo.reviewer().loaded is network
        assert dojo.judge.loaded is dojo._searcher().loaded is network
        os.utime(model, (1, 1))  # Another program has written the file.
    assert networks[0] is not networks[1]
    dojo.close()
