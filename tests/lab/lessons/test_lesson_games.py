"""The lesson of the reversi tutorial: its numbers, its games, and the program."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from goryu.base.errors import InputError
from goryu_lab.lessons.lesson_games import (
    LessonGame,
    read_games,
    replay,
    running_win_rates,
    strip,
    win_rate,
    write_games,
)
from goryu_lab.lessons.value_config import ValueLearnerConfig

COMMAND = [sys.executable, "-m", "goryu", "learn"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"size": 5}, "size 5: expected 4, 6 or 8"),
        ({"layers": 4}, "layers 4: expected at most 3"),
        ({"epsilon": 1.5}, "epsilon: expected at least 0 and at most 1"),
        ({"epsilon_decay": -0.1}, "epsilon_decay: expected"),
        ({"batch": -1}, "batch: expected at least 0"),
        ({"as_published": True, "depth": 3}, "depth 3: expected 2, as published"),
        ({"hidden": 10**20}, "hidden: expected more than 0 and at most 2147483647"),
        ({"learning_rate": 0.0}, "learning_rate: expected more than 0"),
    ],
)
def test_impossible_numbers_are_refused(changes: dict[str, float], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        replace(ValueLearnerConfig(size=4), **changes)  # type: ignore[arg-type]


GAME = LessonGame(1, 4, "random", 0, 0.9, 3, ("b1", "a1"))


def test_the_strip_and_the_running_win_rate_count_the_results() -> None:
    games = [replace(GAME, discs=discs) for discs in (3, -2, 0, 8)]
    assert strip(games) == "+-=+"
    assert win_rate(games) == 0.625
    assert running_win_rates(games) == [1.0, 0.5, 0.5, 0.625]
    many = [replace(GAME, discs=-1)] * 100 + [replace(GAME, discs=1)] * 100
    assert running_win_rates(many)[-1] == 1.0
    assert running_win_rates(many)[149] == 0.5


def test_damaged_games_are_named(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    write_games(path, [GAME, GAME])
    assert read_games(path) == [GAME, GAME]
    path.write_text(path.read_text("utf-8") + '{"number": 3}\n', "utf-8")
    with pytest.raises(InputError, match="line 3: expected a game"):
        read_games(path)
    with pytest.raises(InputError, match="move 'h8' is not legal after 1 moves"):
        list(replay(replace(GAME, moves=("b1", "h8"))))


def tool(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments, "--folder", str(folder)]
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


def test_the_strip_and_a_replay_need_no_pytorch(tmp_path: Path) -> None:
    write_games(tmp_path / "games.jsonl", [GAME, replace(GAME, number=2, discs=-1)])
    shown = tool("strip", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[0].split()[:2] == ["1", "+-"]
    assert "2 games, 50 % won" in shown.stdout
    replayed = tool("replay", "2", folder=tmp_path)
    assert replayed.stdout.count("a b c d") == len(GAME.moves) + 1
    write_games(tmp_path / "checkpoint-games.jsonl", [replace(GAME, number=30), replace(GAME, number=60)])
    assert tool("replay", "30", "--checkpoint", folder=tmp_path).stdout.startswith("game 30:")
    assert tool("replay", "final", folder=tmp_path).stdout.startswith("game 60:")
    missing = tool("strip", folder=tmp_path / "none")
    assert missing.stderr == f"goryu learn: {tmp_path / 'none' / 'games.jsonl'}: No such file or directory\n"
    refused = tool("replay", "3", folder=tmp_path)
    assert refused.returncode == 2
    assert "game 3: expected 1 to 2 or final" in refused.stderr
