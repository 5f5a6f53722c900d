"""tools/experiments/elo_by_commit.py: which matches it puts into one picture."""

from pathlib import Path
from typing import Any

import pytest

from goryu.base.errors import InputError
from goryu.match.game_log import GameEntry, GameLog
from paths import ROOT

tool: Any = pytest.importorskip("elo_by_commit")

CONFIG = {"engine1": {"command": ["one"], "limits": "nodes=9"}, "engine2": {"command": ["two"]}, "seed": 0}


def kept(folder: Path, config: dict[str, Any], name: str) -> Path:
    """Writes the log of a match that engine 1 won and lost once; returns its path."""
    folder.mkdir()
    log = GameLog(folder / "games.jsonl", config)
    log.write_names((name, "Two"))
    for number, score in enumerate((1.0, 0.0)):
        log.append(
            GameEntry(
                number=number, black=1 + number, opening="startpos", moves=(), score=score, reason="crash",
                detail="", plies=0, times_ms=(), cps=(), depths=(), nodes=(), late_ms=(), first_turn=0,
                seconds=0.0, date="",
            )
        )  # fmt: skip
    log.close()
    return folder / "games.jsonl"


def test_only_matches_against_the_same_opponent_can_be_compared(tmp_path: Path) -> None:
    other = {**CONFIG, "engine1": {"command": ["another"], "limits": "nodes=9"}}
    slower = {**CONFIG, "engine1": {"command": ["one"], "limits": "nodes=8"}}
    logs = [kept(tmp_path / str(i), config, "HEAD") for i, config in enumerate((CONFIG, other, slower))]
    tool.check_comparable(logs[:2])
    with pytest.raises(InputError, match=r"different: limits1\)"):
        tool.check_comparable(logs)


def test_the_first_engine_has_the_name_of_a_commit(tmp_path: Path) -> None:
    log = kept(tmp_path / "match", CONFIG, "--all")
    with pytest.raises(InputError, match="expected a commit"):
        tool.read_point(log, ROOT)
