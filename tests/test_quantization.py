"""The network in 8 bits: how its ranges are chosen, and how near the shipped one is to the float network."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")
pytest.importorskip("rsshogi")

from goryu.evaluators.network import NetworkEvaluator  # noqa: E402
from goryu.learning.activation_ranges import best_range  # noqa: E402
from goryu.learning.dataset import Dataset  # noqa: E402
from goryu.learning.game_conversion import read_records  # noqa: E402
from goryu.learning.quantization import agreement  # noqa: E402

FLOAT = Path(__file__).parents[1] / "models" / "goryu-5x64.onnx"
SMALL = FLOAT.with_name("goryu-5x64-int8.onnx")


def test_a_range_is_narrow_where_nothing_large_is_heard() -> None:
    rng = np.random.default_rng(1)
    values = np.maximum(rng.normal(0, 1, 50_000), 0).astype(np.float32)
    values[:3] = 20.0, 3.0, 4.0
    lowest, highest = best_range(values)
    assert lowest == 0
    assert 19 < highest <= 20  # three values in a hundred thousand, but the error of one would be 15
    added = rng.normal(-2, 2, 50_000).astype(np.float32)
    trunk = np.maximum(rng.normal(0, 1, 50_000), 0).astype(np.float32)
    lowest, highest = best_range(added)
    assert (lowest, highest) == pytest.approx((added.min(), added.max()), rel=0.2)
    heard_lowest, heard_highest = best_range(added, trunk)
    assert max(-trunk.max() - 0.5, lowest / 2) < heard_lowest < -2  # below that the ReLU hears nothing
    assert heard_highest == pytest.approx(highest, rel=0.2)
    assert best_range(np.zeros(100, np.float32)) == pytest.approx((0, 1e-3), rel=0.7)


def test_the_shipped_8_bit_network_is_near_the_float_one_on_games_it_was_not_calibrated_on() -> None:
    records = read_records(FLOAT.parent / "data" / "fsf_20261123.games")[:1000]
    data = Dataset(records, np.zeros(len(records), np.float32))
    found = agreement(NetworkEvaluator(FLOAT, backend="cpu"), NetworkEvaluator(SMALL, backend="cpu"), data)
    assert found.policy_top1 > 0.965
    assert found.policy_error < 0.0019  # 0.0022 before ranges were fitted and residual connections left alone
    nodes = onnx.load(SMALL).graph.node
    writer = {node.output[0]: node for node in nodes}
    sums = [node for node in nodes if node.op_type == "Add" and "/tower." in node.name]
    assert len(sums) == 6
    assert all("Relu" in [writer[term].op_type for term in node.input] for node in sums)  # not rounded
