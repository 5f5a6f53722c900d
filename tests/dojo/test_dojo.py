"""What the parts of the dojo do together."""

import os
import shutil
from pathlib import Path

import pytest

from goryu.dojo.dojo import Dojo
from goryu.evaluators.network.model_files import shipped_model
from goryu.players.config import EngineConfig, EvaluatorConfig


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
