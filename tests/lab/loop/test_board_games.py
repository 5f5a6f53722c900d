"""The loop with networks that learn: the small games and shogi, by the command line."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("torch")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from goryu.evaluators.board_network import BoardState
from goryu.games.state import State
from goryu.players.agents.agents import AgentSetup, make_agent
from goryu_lab.commands.training.selfplay import main
from goryu_lab.lessons import experiments
from goryu_lab.loop.adapter import NETWORK
from goryu_lab.loop.board_games import LOOPS
from goryu_lab.loop.folder import LoopFolder
from goryu_lab.loop.strength import champions, plot_strength
from goryu_lab.records.game_records import read_games
from goryu_lab.records.json_lines import read_lines

SHORT = ["--cycles", "2", "--steps", "20", "--batch-size", "16", "--match-limit", "4", "--window-start", "60"]


def selfplay(*words: object) -> int:
    return main(["loop", *map(str, words)])


def written(folder: Path) -> dict[Path, bytes]:
    names = ("lock", "clock.json")
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name not in names}


def replay(state: State, positions: list[Any]) -> None:
    """Checks that each recorded position follows from the one before by a move of its policy."""
    boards = [(own, opponent) for own, opponent, _, _ in positions]
    for place, (_, _, policy, value) in enumerate(positions):
        board = cast(BoardState, state)
        assert (board.own, board.opponent) == boards[place]
        assert [move for move, _ in policy] == state.legal_moves()
        assert sum(p for _, p in policy) == pytest.approx(1.0, abs=0.01)
        assert value in (-1.0, 0.0, 1.0)
        for move in state.legal_moves():
            state.push(move)
            if place + 1 < len(boards) and (board.own, board.opponent) == boards[place + 1]:
                break
            state.pop()


@pytest.mark.slow
def test_a_small_game_is_learnt_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--game", "reversi6", "--folder", tmp_path, *SHORT]
    assert selfplay(*command) == 0
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("candidate")]
    assert sum(" games, the last " in line for line in shown) == 2
    assert (tmp_path / "strength.svg").read_text().startswith("<?xml")
    for path in sorted((tmp_path / "games").iterdir()):
        for found in read_lines(path):
            replay(LOOPS["reversi6"][0].board.new(), found["positions"])
    before = written(tmp_path)
    assert selfplay(*command) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("candidate")] == shown
    after_again = written(tmp_path)
    svg = tmp_path / "strength.svg"  # It has its date in it.
    assert {**after_again, svg: b""} == {**before, svg: b""}


@pytest.mark.slow
def test_shogi_is_learnt_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = [
        "--blocks", "1", "--channels", "8", "--cheap-playouts", "1", "--full-playouts", "2",
        "--full-share", "1", "--mate-nodes", "0", "--max-plies", "16", "--match-playouts", "2",
        "--at-once", "2",
    ]  # fmt: skip
    command = ["--folder", tmp_path, *SHORT, *numbers]
    assert selfplay(*command) == 0
    shown = capsys.readouterr().out
    assert "candidate 2: " in shown
    games = [game for path in sorted((tmp_path / "games").iterdir()) for game in read_games(path)]
    found = [game.number for game in games]
    assert len(set(found)) == len(found)
    assert {game.teacher for game in games} <= {f"self-play, network {n}" for n in range(3)}
    log = list(read_lines(tmp_path / "log.jsonl"))
    trained = [entry for entry in log if entry["event"] == "trained"]
    assert [entry["candidate"] for entry in trained] == [1, 2]
    assert all(entry["policy_loss"] > 0 and entry["window"] >= 60 for entry in trained)
    assert (tmp_path / "candidates" / "0002" / NETWORK).exists()


def test_the_curve_of_strength_adds_the_matches_that_promoted(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    entries: list[dict[str, Any]] = [
        {"event": "trained", "candidate": 1, "seconds": 60, "policy_loss": 2.0, "value_loss": 0.9},
        {"event": "verdict", "candidate": 1, "seconds": 70, "promoted": True, "elo": 100, "error": 30},
        {"event": "verdict", "candidate": 2, "seconds": 90, "promoted": False, "elo": -10, "error": 40},
        {"event": "verdict", "candidate": 3, "seconds": 99, "promoted": True, "elo": 50, "error": 40},
    ]
    log.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert [(c.number, c.elo, c.error) for c in champions(log)] == [(0, 0, 0), (1, 100, 30), (3, 150, 50)]
    plot_strength(log, tmp_path / "strength.png")
    assert (tmp_path / "strength.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_tictactoe_is_learnt_to_the_last_position(tmp_path: Path) -> None:
    assert selfplay("--game", "tictactoe", "--folder", tmp_path, "--cycles", "4") == 0
    game, _ = LOOPS["tictactoe"]
    folder = LoopFolder(tmp_path, game)
    evaluator = game.open(folder.network(folder.champion), 16)
    folder.close()
    agent = make_agent("gumbel:20", AgentSetup(evaluator=evaluator, gumbel=game.config.gumbel))
    assert experiments.correctness(agent) >= 10
