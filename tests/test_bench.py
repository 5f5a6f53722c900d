"""The bench signature, and that the benchmark measures what it says."""

import json
import runpy
from pathlib import Path

import pytest

from goryu.benchmark import throughput
from goryu.benchmark.profile import time_shares
from goryu.benchmark.signature import POSITIONS, bench_signature, games
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.network import NetworkEvaluator
from goryu.games.shogi.sfen import START_SFEN
from goryu.search.puct import PuctConfig

DEFAULT_MODEL = Path(__file__).parents[1] / "models" / "goryu-5x64-int8.onnx"
GOLDEN = Path(__file__).parent / "golden" / "bench_signature.json"


@pytest.mark.skipif(
    not GOLDEN.exists(), reason=f"{GOLDEN.name} has not been blessed (tools/bench.py --bless)"
)
def test_the_bench_signature_is_the_stored_one() -> None:
    """A change of search or rules changes it: then bless the new one and name it in the commit message."""
    golden, found = json.loads(GOLDEN.read_text("utf-8")), bench_signature()
    different = [name for name, digest in found.parts.items() if golden["parts"].get(name) != digest]
    assert not different
    assert (found.digest, found.nodes) == (golden["signature"], golden["nodes"])


def test_the_signature_covers_sixteen_positions_and_the_small_games() -> None:
    assert len(POSITIONS) == len({sfen for _, sfen in POSITIONS}) == 16
    states = dict(games())
    assert list(states)[16:] == ["tic-tac-toe", "reversi"]
    assert all(state.legal_moves() and state.outcome() is None for state in states.values())


def test_perft_counts_the_published_numbers() -> None:
    leaves, seconds = throughput.perft_run(START_SFEN, 2)
    assert leaves == 900
    assert seconds.wall > 0


def test_a_search_run_counts_playouts_and_evaluations() -> None:
    run = throughput.search_run(throughput.MIDDLE_GAME, HashedEvaluator(), PuctConfig(batch_size=4), 60)
    assert run.playouts == 60
    assert 0 < run.evaluations <= 60
    assert run.seconds.wall > 0


def test_a_sweep_deletes_what_the_move_played_leaves_behind() -> None:
    nodes, left, seconds = throughput.sweep_run(throughput.MIDDLE_GAME, 200)
    assert 0 < left < nodes <= 201
    assert seconds.wall > 0.0


def test_both_implementations_make_the_search_that_is_compared() -> None:
    config = PuctConfig(batch_size=4, mate_nodes=5)
    assert throughput.native_over_python_run(throughput.MIDDLE_GAME, config, 60) > 0.0


def test_calls_of_the_network_are_counted_while_a_search_lasts() -> None:
    network = NetworkEvaluator(DEFAULT_MODEL, batch_size=4)
    run = throughput.search_run(throughput.MIDDLE_GAME, network, PuctConfig(batch_size=4), 60, counts=True)
    assert 0 < run.network.calls <= run.network.positions
    assert run.network.positions == run.evaluations + 1  # The root's.
    assert 0.0 < run.network.wall < run.seconds.wall
    assert {"run", "bind"}.isdisjoint(vars(network))
    assert throughput.search_run(throughput.MIDDLE_GAME, network, PuctConfig(), 5).network.calls == 0


@pytest.mark.parametrize("bound", [False, True])
def test_the_network_alone_is_called_by_each_thread(bound: bool) -> None:
    network = NetworkEvaluator(DEFAULT_MODEL, batch_size=4)
    count, seconds = throughput.raw_run(network, 4, 2, threads=2, bound=bound)
    assert count == 16
    assert seconds.wall > 0.0


def test_the_shares_of_the_time_are_a_whole() -> None:
    shares = time_shares(throughput.MIDDLE_GAME, HashedEvaluator(), PuctConfig(mate_nodes=10), 30)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert "evaluate" in shares
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert time_shares(throughput.MIDDLE_GAME, HashedEvaluator(), PuctConfig(), 5).keys() == shares.keys()


def test_a_stopped_search_answers() -> None:
    assert throughput.stop_run(throughput.MIDDLE_GAME, HashedEvaluator(), PuctConfig(), think_s=0.05) >= 0.0


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("bench", ["--batch", "0"], "--batch 0: expected at least 1"),
        ("bench", ["--runs", "0"], "--runs 0: expected at least 1"),
        ("bench", ["--json", "none/figures.json"], "expected a file in a folder that exists"),
        ("bench", ["--backend", "abacus"], "backend 'abacus': expected one of"),
        ("bench", ["--model", "none.onnx"], "none.onnx"),
        ("perft", ["--rounds", "0"], "--rounds 0: expected at least 1"),
        ("perft", ["--depth", "0"], "--depth 0: expected at least 1"),
        ("perft", ["--depth", "1", "--json", "none/figures.json"], "none/figures.json"),
        ("perft", ["--sfen", "9/9/9"], "'9/9/9'"),
    ],
)
def test_the_tools_say_what_is_wrong(
    tool: str,
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("rich")
    monkeypatch.chdir(tmp_path)
    main = runpy.run_path(str(Path(__file__).parents[1] / "tools" / f"{tool}.py"))["main"]
    try:
        status = main(arguments)
    except SystemExit as error:
        status = error.code
    assert status == 2
    assert words in capsys.readouterr().err
