"""Networks that are converted to 16-bit floats when they are loaded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goryu.evaluators.formats.onnx_edit import UneditableError, halved
from goryu.evaluators.network import opening
from goryu.evaluators.network.half_check import PROBABILITY, VALUE, HalfError, _positions, check_halves
from goryu.evaluators.network.model_files import models_folder
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import KNOWN, BackendError
from goryu.games.shogi import Board
from goryu.players.config import EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from goryu.search.evaluator import Evaluation
from goryu_lab.benchmark.random_network import TENSORS, write_random_network

onnxruntime: Any = pytest.importorskip("onnxruntime")

SHIPPED = models_folder() / "goryu-5x64.onnx"


def opened(path: Path, **options: Any) -> NetworkEvaluator:
    return NetworkEvaluator(path, backend="onnxruntime", batch_size=4, **options)


def difference(ones: list[Evaluation], others: list[Evaluation]) -> tuple[float, float]:
    """Returns the largest differences of a value and of a probability."""
    pairs = list(zip(ones, others, strict=True))
    return (
        max(abs(one.value - other.value) for one, other in pairs),
        max(float(np.abs(np.subtract(one.policy, other.policy)).max()) for one, other in pairs),
    )


def test_the_game_has_different_positions_none_of_which_is_over() -> None:
    boards = _positions()
    assert len({board.position_key for board in boards}) == len(boards) > 20
    assert all(board.outcome() is None for board in boards)


@pytest.mark.parametrize("packs", [False, True])
def test_a_network_in_halves_answers_nearly_as_in_floats(packs: bool) -> None:
    floats, halves = opened(SHIPPED), opened(SHIPPED, halves=True, packs=packs)
    assert "precision=fp16" in halves.description
    assert "precision" not in floats.description
    assert bool(halves.packed) == packs
    value, probability = difference(floats.evaluate(_positions()), halves.evaluate(_positions()))
    assert 0.0 < value < VALUE / 2
    assert 0.0 < probability < PROBABILITY / 2


def test_the_conversion_is_that_of_onnxruntime() -> None:
    onnx = pytest.importorskip("onnx")
    from onnxruntime.transformers.float16 import convert_float_to_float16

    theirs = convert_float_to_float16(
        onnx.load(str(SHIPPED)), min_positive_val=6e-8, max_finite_val=65504.0
    ).SerializeToString()
    ours = halved(SHIPPED.read_bytes())
    onnx.checker.check_model(onnx.load_model_from_string(ours), full_check=True)
    rng = np.random.default_rng(1)
    feed = {
        "input1": rng.integers(0, 2, (4, 62, 9, 9)).astype(np.float16),
        "input2": rng.integers(0, 2, (4, 57, 9, 9)).astype(np.float16),
    }
    answers = [onnxruntime.InferenceSession(model).run(None, feed) for model in (ours, theirs)]
    for one, other in zip(*answers, strict=True):
        assert one.dtype == other.dtype == np.float16
        np.testing.assert_array_equal(one, other)


def overflowing(folder: Path) -> Path:
    """Returns a network with logits that halves cannot hold."""
    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(SHIPPED))
    (last,) = [node for node in model.graph.node if "output_policy" in node.output]
    last.output[list(last.output).index("output_policy")] = "before"
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([6e4], np.float32), "factor"))
    model.graph.node.append(onnx.helper.make_node("Mul", ["before", "factor"], ["output_policy"]))
    path = folder / "overflowing.onnx"
    onnx.save(model, str(path))
    return path


def test_a_network_that_overflows_keeps_32_bits_and_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = overflowing(tmp_path)
    monkeypatch.setitem(KNOWN, "cpu", replace(KNOWN["cpu"], halves=True))
    kept = opened(path)
    assert "precision" not in kept.description
    assert "computes in 32 bits, not in 16: in 16 bits its values differ by" in kept.note
    assert kept.evaluate([Board()]) == opened(path, halves=False).evaluate([Board()])
    with pytest.raises(BackendError, match=r"overflowing.onnx in 16 bits"):
        opened(path, halves=True)
    assert "precision=fp16" in opened(SHIPPED).description, "by itself, where the backend is fast"
    assert "precision" not in opened(SHIPPED, halves=False).description


def test_logits_that_are_not_finite_in_one_position_are_noticed() -> None:
    count = len(_positions())
    values, finite = np.zeros(count), np.zeros((count, 2187), np.float32)
    other = finite.copy()
    other[1] = np.inf
    model_format = opened(SHIPPED).format
    check_halves(model_format, lambda _: (finite, values), lambda _: (finite, values))
    with pytest.raises(HalfError, match="its probabilities by nan"):
        check_halves(model_format, lambda _: (finite, values), lambda _: (other, values))


def test_a_network_that_cannot_be_packed_for_lack_of_memory_takes_planes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: Any) -> bytes:
        raise MemoryError

    monkeypatch.setattr(opening, "packed_model", fails)
    kept = opened(SHIPPED, packs=True)
    assert not kept.packed
    assert "MemoryError" in kept.note


def test_networks_that_cannot_be_converted_are_refused(int8_network: Path) -> None:
    with pytest.raises(UneditableError, match="8-bit integers"):
        halved(int8_network.read_bytes())
    with pytest.raises(UneditableError, match="cannot be read"):
        halved(SHIPPED.read_bytes()[:-3])


@pytest.mark.parametrize("fp16, is_half", [("auto", False), ("on", True), ("off", False)])
def test_the_option_reaches_the_network(fp16: str, is_half: bool) -> None:
    config = EvaluatorConfig(model=str(SHIPPED), backend="onnxruntime", fp16=fp16)
    messages: list[str] = []
    loaded = load_evaluator(config, messages.append)
    assert ("precision=fp16" in loaded.description) == is_half


@pytest.mark.parametrize("kind", TENSORS)
def test_networks_of_every_format_are_converted(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "random.onnx"
    write_random_network(2, 16, path, kind=kind)
    options = {"model_format": "python-dlshogi"} if kind == "python-dlshogi" else {}
    halves = opened(path, halves=True, packs=True, **options)
    assert "precision=fp16" in halves.description
    assert halves.packed, halves.note
    value, probability = difference(
        opened(path, **options).evaluate(_positions()), halves.evaluate(_positions())
    )
    assert value < VALUE
    assert probability < PROBABILITY
