"""The dojo as a whole: what works in the background together."""

from pathlib import Path
from threading import Event
from typing import Any

from goryu.dojo.dojo import Dojo
from goryu.dojo.problems import NewProblem, ProblemKind
from goryu.dojo.settings import change_training_settings
from goryu.players.config import EngineConfig, EvaluatorConfig

WAIT_S = 60


def test_candidates_are_checked_beside_the_background_review(tmp_path: Path) -> None:
    dojo = Dojo(tmp_path / "dojo.sqlite3", EngineConfig(evaluator=EvaluatorConfig(kind="material")))
    change_training_settings(dojo.database, {"playouts": 100})
    dojo.problems.add([NewProblem(ProblemKind.TSUME, "4k4/9/4P4/9/9/9/9/r8/4K4 b G 1", (), {})])
    is_checked = Event()

    def listen(kind: str, **_content: Any) -> None:
        if kind == "train.changed" and dojo.problems.counts()[ProblemKind.TSUME]["sound"]:
            is_checked.set()

    dojo.subscribe(listen)
    dojo.reviewing.wake()
    dojo.checker.wake()
    assert is_checked.wait(WAIT_S)
    dojo.close()
