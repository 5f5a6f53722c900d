"""The session of MCTS_player, in which a reader of the book tries the program, with `--preset mcts-player`.

A notebook shows its table beside ours.
"""

from __future__ import annotations

import re
import sys
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from goryu.evaluators.network.model_files import shipped_model
from present import present

if TYPE_CHECKING:
    from tests.acceptance.conftest import Engine, Pool

shogi = pytest.importorskip("shogi")

COMMAND = (sys.executable, "-m", "goryu", "usi", "--preset", "mcts-player")
START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
ROOT = Path(__file__).parents[2]


class Row(NamedTuple):
    """A row of the table. win_rate: None for an untried move."""

    move: str
    visits: int
    prior: float
    win_rate: float | None


@pytest.fixture(scope="module")
def mode() -> tuple[str, str]:
    """As built."""
    return "", "unread"


def go(engine: Engine) -> tuple[list[Row], str, str]:
    """Sends `go`; returns the table, the last info line and the move."""
    engine.send("go")
    rows: list[Row] = []
    info = ""
    while (line := engine.next_line()) is not None and not line.startswith("bestmove"):
        if found := re.fullmatch(
            r"info string +(\d+):(\S+) +move_count: *(\d+) nn_rate:(\S+) win_rate:(\S+)", line
        ):
            assert int(found[1]) == len(rows)
            rate = None if found[5] == "untried" else float(found[5])
            rows.append(Row(found[2], int(found[3]), float(found[4]), rate))
        elif line.startswith("info depth"):
            info = line
    assert line is not None
    return rows, info, line.split()[1]


def test_the_session_of_the_text(pool: Pool) -> None:
    with pool.start(COMMAND) as engine:
        engine.send("usi")
        offered = list(iter(engine.next_line, "usiok"))
        assert "option name modelfile type string default <empty>" in offered
        assert "option name temperature type spin default 100 min 1 max 10000" in offered
        assert "option name playout type spin default 300 min 100 max 10000" in offered
        engine.send("isready")
        engine.expect("readyok")
        engine.send(f"setoption name modelfile value {shipped_model()}\nposition startpos")
        engine.expect(f"info string {START}")
        rows, info, move = go(engine)
        by_move = {row.move: row for row in rows}
        assert [row.move for row in rows] == [move.usi() for move in shogi.Board().legal_moves]
        assert (rows[0].move, rows[29].move) == ("9g9f", "5i4h")
        # The book's program visits the same with this network.
        assert sum(row.visits for row in rows) == 279
        assert [by_move[name].visits for name in ("7g7f", "2g2f", "1g1f", "9g9f")] == [109, 86, 20, 17]
        assert " hashfull 60 " in info
        assert f" nodes {sum(row.visits for row in rows)} " in info
        assert all((row.win_rate is None) == (row.visits == 0) for row in rows)
        rate = present(by_move[move].win_rate)
        score = present(re.search(r" score cp (-?\d+) ", info))
        assert float(score[1]) == pytest.approx(600 * log(rate / (1 - rate)), abs=0.6)
        notebook = (ROOT / "docs" / "notebooks" / "mcts-player.ipynb").read_text("utf-8")
        shown = re.findall(r"info string +\d+:(\w+) +move_count: *\d+ nn_rate:(0\.\d+)", notebook)[
            : len(rows)
        ]
        assert [move for move, _ in shown] == [row.move for row in rows]
        assert [float(prior) for _, prior in shown] == pytest.approx([row.prior for row in rows], abs=0.005)

        engine.send("setoption name temperature value 10000\nposition startpos")
        even, _, _ = go(engine)
        assert all(0.0316 <= row.prior <= 0.0353 for row in even)  # The bounds of the text's table.

        engine.send("setoption name playout value 100\nsetoption name temperature value 100")
        engine.send("usinewgame\nposition startpos moves 7g7f 3c3d 2g2f")
        rows, _, _ = go(engine)
        assert sum(row.visits for row in rows) <= 100

        engine.send("usinewgame\nposition sfen k8/9/9/9/9/9/8r/9/7rK b - 1")
        rows, _, move = go(engine)
        assert (len(rows), move) == (1, "1i2i")
        assert rows[0].visits < 10, "a single legal move is answered at once"


def test_a_lost_game_is_resigned(pool: Pool) -> None:
    with pool.start(COMMAND) as engine:
        engine.send("setoption name Evaluator value material\nisready")
        engine.expect("readyok")
        engine.send("position sfen 4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1\ngo")
        assert engine.expect("bestmove .*") != "bestmove resign"
        engine.send("position sfen 4K4/9/9/9/9/9/9/9/4k4 b 2r2b4g4s4n4l18p 1\ngo")
        assert engine.expect("bestmove .*") == "bestmove resign"


def test_the_books_chainer_file_is_refused_with_the_command_that_converts_it(
    pool: Pool, tmp_path: Path
) -> None:
    model = tmp_path / "model_policy_value"
    with pool.start(COMMAND) as engine:
        for head in (b"PK\x03\x04", b"\x89HDF\r\n"):
            model.write_bytes(head + bytes(100))
            engine.send(
                f"setoption name modelfile value\nisready\nsetoption name modelfile value {model}\nisready"
            )
            engine.expect("readyok")
            line = engine.expect(r"info string Error! .*goryu convert.*")
            assert f'goryu convert "{model}" --out model_policy_value.onnx' in line
            engine.expect("readyok")
