"""The modules of the page that need no browser, tested under Node.js by the files in `javascript/`."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from goryu.analysis.joining import STATIC
from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from javascript_types import COMPILER, find_node, problems

TESTS = sorted((Path(__file__).parent / "javascript").glob("*.test.mjs"))
GAMES = 20
MOST_PLIES = 200


def node() -> str:
    return find_node() or pytest.skip("there is no Node.js: pip install pyright[nodejs]")


def random_games() -> list[dict[str, list[str]]]:
    """Returns games of random moves with the position before each move and after the last."""
    rng = random.Random(1)
    games = []
    for _ in range(GAMES):
        board = Board()
        sfens: list[str] = [board.sfen()]
        moves: list[str] = []
        while len(moves) < MOST_PLIES and (legal := board.legal_moves()):
            move = rng.choice(legal)
            moves.append(move_to_usi(move))
            board.push(move)
            sfens.append(board.sfen())
        games.append({"sfens": sfens, "moves": moves})
    return games


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.json"
    path.write_text(json.dumps(random_games()), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_module(path: Path, games: Path) -> None:
    environment = {**os.environ, "GORYU_JS": str(STATIC / "js"), "GORYU_GAMES": str(games)}
    done = subprocess.run(
        [node(), "--no-warnings", "--test", str(path)],
        env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_types() -> None:
    """What JSDoc says of the modules holds, and every field, import and call exists."""
    if not COMPILER.exists():
        pytest.skip("TypeScript is not there: tools/javascript_types.py fetches it from npm")
    assert problems(node()) == []
