"""What the parts of the dojo do together."""

import os
import shutil
from pathlib import Path
from threading import Event

import pytest

from goryu.dojo.dojo import Dojo
from goryu.dojo.problems import NewProblem, ProblemKind
from goryu.dojo.settings import change_training_settings
from goryu.evaluators.network.model_files import shipped_model
from goryu.players.config import EngineConfig, EvaluatorConfig

WAIT_S = 60


def test_candidates_are_checked_beside_the_background_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    dojo = Dojo(tmp_path / "dojo.sqlite3", EngineConfig(evaluator=EvaluatorConfig(kind="material")))
    change_training_settings(dojo.database, {"playouts": 100})
    dojo.problems.add([NewProblem(ProblemKind.MISTAKE, "4k4/9/4P4/9/9/9/9/r8/4K4 b G 1", (), {}, "5c5b+")])
    is_done = Event()

    def listen(_kind: str, **_content: object) -> None:
        if dojo.problems.next_candidate() is None:
            is_done.set()

    dojo.subscribe(listen)
    try:
        dojo.start()
        assert is_done.wait(WAIT_S)
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
        assert dojo.judge.loaded is dojo._searcher()._loaded is network
        os.utime(model, (1, 1))  # Another program has written the file.
    assert networks[0] is not networks[1]
    dojo.close()
