"""The bench signature, and the measurements of the benchmark."""

import json
from pathlib import Path

import numpy as np
import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.shogi import Board
from goryu.search.graph.config import PuctConfig
from goryu_lab.benchmark import throughput
from goryu_lab.benchmark.backends import Comparison
from goryu_lab.benchmark.random_network import SHARPNESS, TENSORS, write_random_network
from goryu_lab.benchmark.signature import bench_signature
from goryu_lab.benchmark.suite import NAMES, Plan, Suite
from goryu_lab.benchmark.throughput import MIDDLE_GAME
from goryu_lab.commands.bench import main, make_table
from paths import DATA, MODELS

DEFAULT_MODEL = MODELS / "goryu-5x64.onnx"
GOLDEN = DATA / "golden" / "bench_signature.json"


@pytest.mark.skipif(
    not GOLDEN.exists(), reason=f"{GOLDEN.name} has not been blessed (tools/bench.py --bless)"
)
def test_the_bench_signature_equals_the_stored_one() -> None:
    """A change of search or rules changes it: then bless the new one and name it in the commit message."""
    golden, found = json.loads(GOLDEN.read_text("utf-8")), bench_signature()
    different = [name for name, digest in found.parts.items() if golden["parts"].get(name) != digest]
    assert not different
    assert (found.digest, found.nodes) == (golden["signature"], golden["nodes"])


def test_calls_of_the_network_are_counted_while_a_search_lasts() -> None:
    network = NetworkEvaluator(DEFAULT_MODEL, backend="onnxruntime", batch_size=4)
    run = throughput.search_run(throughput.MIDDLE_GAME, network, PuctConfig(batch_size=4), 60, counts=True)
    assert 0 < run.network.calls <= run.network.positions
    assert run.network.positions == run.evaluations + 1  # The root's.
    assert 0.0 < run.network.seconds.wall < run.seconds.wall
    assert {"run", "bind"}.isdisjoint(vars(network))
    assert throughput.search_run(throughput.MIDDLE_GAME, network, PuctConfig(), 5).network.calls == 0


SMALL = Plan(batch=4, playouts=40, stub_playouts=100, perft_depth=1, runs=2)


def test_every_measurement_has_a_median_or_a_reason() -> None:
    suite = Suite(SMALL, NetworkEvaluator(DEFAULT_MODEL, backend="onnxruntime", batch_size=4))
    assert len(list(suite.run())) == 2
    results = suite.results()
    for name in NAMES:
        if results[name] is None:
            assert results["reasons"][name]
        else:
            least, most = results["spread"][name]
            assert least <= results[name] <= most
            assert name not in results["reasons"]
    assert results["search_over_raw"] > 0.0


def test_the_table_shows_only_numbers_and_memory_does_not_depend_on_what_was_loaded() -> None:
    bytes_per_node = throughput.bytes_per_node_run(MIDDLE_GAME, 200)
    network = NetworkEvaluator(DEFAULT_MODEL, backend="cpu")
    assert throughput.bytes_per_node_run(MIDDLE_GAME, 200) == bytes_per_node > 100.0
    suite = Suite(SMALL, network)
    list(suite.run())
    assert all(str(cell)[:1].isdigit() for cell in make_table(suite.results()).columns[1].cells if cell)


def test_a_stopped_search_answers() -> None:
    assert throughput.stop_run(throughput.MIDDLE_GAME, HashedEvaluator(), PuctConfig(), think_s=0.05) >= 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--batch", "0"], "--batch: 0: expected at least 1"),
        (["--runs", "0"], "--runs: 0: expected at least 1"),
        (["--backend", "abacus"], "--backend: invalid choice: 'abacus'"),
        (["--model", "none.onnx"], "none.onnx"),
    ],
)
def test_wrong_arguments_of_bench_are_named(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("rich")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        raise SystemExit(main(arguments))
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("kind", TENSORS)
def test_a_random_network_is_as_sharp_as_a_trained_one(tmp_path: Path, kind: str) -> None:
    write_random_network(2, 16, tmp_path / "random.onnx", kind=kind)
    network = NetworkEvaluator(tmp_path / "random.onnx", backend="onnxruntime")
    (evaluation,) = network.evaluate([Board(MIDDLE_GAME)])
    assert np.std(np.log(evaluation.policy)) == pytest.approx(SHARPNESS, rel=0.01)
    assert abs(evaluation.value) < 0.9


def test_a_ratio_is_the_median_of_the_rounds_over_the_best_batch_of_the_other() -> None:
    comparison = Comparison([], batches=(1, 2))
    comparison.rates = {
        (0, "search 1"): [30.0, 80.0, 50.0],
        (1, "search 1"): [10.0, 10.0, 10.0],
        (1, "search 2"): [10.0, 20.0, 20.0],
    }
    assert comparison.over(0, 1, 1) == 3.0
    assert comparison.over(1, 1, 1) == 0.5
