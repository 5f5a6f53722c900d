"""The engine in a browser tab answers as the native one; wasmtime stands for the browser."""

import json
import os
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.shogi import Board as PythonBoard
from goryu.implementation import Board, Puct, mate_in_one, solve
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import MateSolver
from goryu_lab.benchmark.signature import POSITIONS
from goryu_page.tab.engine import Engine
from goryu_page.tab.mates import Mates
from goryu_page.tab.network import Network
from goryu_page.tab.puct import Puct as TabPuct
from paths import ROOT
from tab_answers import answers
from wasm_instance import WasmtimeInstance
from wasm_module import module, wasm

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.usefixtures(module.__name__)]

MODEL = ROOT / "models" / "goryu-5x64.onnx"
PACKED = wasm.BUILD / "goryu-5x64.onnx"
"""Beside the packed network; it is not there itself."""

MATE = "8k/9/9/8P/9/9/9/9/4K4 b 2GS 1"
HARD = "3gkg3/9/4P4/9/9/9/9/9/4K4 b GR 1"
"""More than 5,000 positions decide whether it is a mate."""

WITHOUT_KING = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"


def new_engine() -> Engine:
    return Engine(WasmtimeInstance())


@pytest.fixture(scope="module")
def networks(module: None) -> tuple[Network, NetworkEvaluator]:
    """In the tab, and natively."""
    native = NetworkEvaluator(MODEL, batch_size=1, backend="winograd", threads=1)
    return Network(new_engine, PACKED), native


def test_searches_answer_bit_by_bit_as_the_native_ones(networks: tuple[Network, NetworkEvaluator]) -> None:
    config, solver = PuctConfig(final_move="visits", draw_value=-0.1), MateSolver(20, 2)
    searches: list[Any] = [TabPuct(networks[0], config, solver), Puct(networks[1], config, solver)]
    for sfen in (dict(POSITIONS)["middle game"], MATE):
        boards = PythonBoard(sfen), Board(sfen)
        for playouts in (60, 20):
            found = []
            for puct, board in zip(searches, boards, strict=True):
                known = puct.table.find(board.key)
                inherited = known.total_visits if known else 0
                puct.search(board, lambda _: False, max_playouts=playouts)
                result = puct.result(3)
                found.append((inherited, result, puct.root.ply, puct.dump()))
                board.push(result.moves[0].move)
            assert found[0] == found[1]
        few = boards[0].legal_moves()[:2]
        for puct in searches:
            puct.clear()
        of_few = [
            puct.search(board, lambda _: False, max_evaluations=9, root_moves=few)
            for puct, board in zip(searches, boards, strict=True)
        ]
        assert of_few[0] == of_few[1]


def test_a_search_takes_a_mate_and_stops_when_it_is_told(networks: tuple[Network, NetworkEvaluator]) -> None:
    mate = solve(Board(MATE), 1000).moves
    for puct, board in ((TabPuct(networks[0]), PythonBoard), (Puct(networks[1]), Board)):
        assert puct.search(board(MATE), lambda _: True).stats.playouts == 0
        assert puct.add_mate(board(MATE), mate)
        assert puct.result().moves[0].mate == len(mate)
        with pytest.raises(ValueError, match="expected the moves of a mate, received none"):
            puct.add_mate(board(MATE), ())


def test_a_network_answers_as_the_native_one(networks: tuple[Network, NetworkEvaluator]) -> None:
    tab, native = networks
    assert (tab.sha256, tab.batch_size) == (native.sha256, native.batch_size)
    boards = [PythonBoard(sfen) for _, sfen in POSITIONS[:3]]
    for own, other in zip(tab.evaluate(boards), native.evaluate(boards), strict=True):
        assert own.value == other.value
        # The last bit is that of the C library's `exp`.
        assert own.policy == pytest.approx(other.policy, rel=1e-14)


def test_an_engine_that_is_not_used_any_more_serves_the_next_search() -> None:
    numbers = count()

    def made() -> Engine:
        next(numbers)
        return new_engine()

    network = Network(made, PACKED)
    for _ in range(2):
        puct = TabPuct(network)
        puct.search(PythonBoard(), lambda stats: True)
        puct.clear()
        assert puct.root is None
        assert puct.stats().nodes == 0
        puct.search(PythonBoard(), lambda stats: True)
        del puct
    assert next(numbers) == 1


def test_mates_are_those_of_the_native_code() -> None:
    def no_stop() -> bool:
        return False

    mates = Mates(new_engine)
    for _, sfen in [*POSITIONS, ("mate", MATE)]:
        assert mates.mate_in_one(PythonBoard(sfen)) == mate_in_one(Board(sfen))
        assert mates.solve(PythonBoard(sfen), 500, no_stop, 100) == solve(Board(sfen), 500, no_stop, 100)
    assert mates.mate_in_one(PythonBoard(WITHOUT_KING, allow_missing_king=True)) is not None

    def interrupted() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mates.solve(PythonBoard(HARD), 5000, interrupted)
    assert mates.solve(PythonBoard(HARD), 5000, lambda: True).nodes < 5000


def test_a_network_that_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"missing\.onnx is not in this browser yet"):
        Network(new_engine, tmp_path / "missing.onnx")
    for content, problem in ((b"", "expected a network packed by"), (b"goryu network 2\n", "damaged")):
        (tmp_path / "broken.network").write_bytes(content)
        with pytest.raises(ModelError, match=problem):
            Network(new_engine, tmp_path / "broken.onnx")


def test_players_and_reviews_run_unchanged_without_numpy() -> None:
    command = [sys.executable, "-m", "tab_answers", str(PACKED)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == answers(str(MODEL))
