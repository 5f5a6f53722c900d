"""Our own kernel against its reference, naive convolutions and onnxruntime; shipped and random networks."""

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from goryu.evaluators.formats.dlshogi import fill_dlshogi
from goryu.evaluators.kernel import layers
from goryu.evaluators.kernel.kernel import INSTRUCTIONS_VARIABLE, best_batch, open_kernel
from goryu.evaluators.kernel.layers import (
    NONE,
    SQUARES,
    SWISH,
    Convolution,
    Floats,
    ResidualNetwork,
    UnsupportedError,
)
from goryu.evaluators.kernel.reading import read_network
from goryu.evaluators.kernel.winograd import (
    GROWTH,
    GROWTH_POSITIVE,
    LEVEL,
    LEVEL_POSITIVE,
    MOST_16,
    MOST_32,
    A,
    B,
    integer_weights,
    transformed_weights,
)
from goryu.evaluators.network.model_files import ModelError, models_folder
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.shogi import Board
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.puct import Puct
from kernel_networks import by_onnxruntime, dlshogi_like, miniosl_like, one_layer, random_planes
from kernel_reference import (
    ARITHMETICS,
    Reference,
    activated,
    bfloats,
    convolution,
    exponential,
    integer_convolution,
)

SHIPPED = models_folder() / "goryu-5x64.onnx"


def planes_of(boards: list[Any]) -> list[npt.NDArray[np.float32]]:
    planes = [np.zeros((len(boards), n, 9, 9), np.float32) for n in (62, 57)]
    fill_dlshogi(boards, planes[0], planes[1])
    return planes


# The arithmetic.

SIZES = [(1, 1), (3, 3), (9, 1)]


def naive(source: Floats, weights: Floats) -> npt.NDArray[np.float64]:
    """A convolution of a map [81, inputs], as its definition says; one of 9x1 makes nine equal rows."""
    rows, columns = weights.shape[2:]
    board = source.astype(np.float64).reshape(9, 9, -1)
    result = np.zeros((9, 9, len(weights)))
    for r, c in itertools.product(range(9), repeat=2):
        for a, b in itertools.product(range(rows), range(columns)):
            row, column = a if rows == 9 else r + a - rows // 2, c + b - columns // 2
            if 0 <= row < 9 and 0 <= column < 9:
                result[r, c] += weights[:, :, a, b].astype(np.float64) @ board[row, column]
    return result.reshape(SQUARES, -1)


def test_the_transforms_are_a_convolution() -> None:
    random = np.random.default_rng(1)
    weights, patch = random.standard_normal((1, 1, 3, 3)), random.standard_normal((5, 5))
    products = transformed_weights(weights.astype(np.float32)).reshape(5, 5) * (B @ patch @ B.T)
    kernel = weights.astype(np.float32)[0, 0]
    direct = [[np.sum(patch[r : r + 3, c : c + 3] * kernel) for c in range(3)] for r in range(3)]
    assert np.allclose(A @ products @ A.T, direct, atol=1e-9)


def test_no_transformed_input_leaves_16_bits() -> None:
    """The bounds of the docstring, from the matrix itself: the worst patch for each place."""
    for growth, level, low in ((GROWTH_POSITIVE, LEVEL_POSITIVE, 0), (GROWTH, LEVEL, -1)):
        for i, j in itertools.product(range(5), repeat=2):
            factors = np.outer(B[i], B[j])
            plus, minus = np.maximum(factors, 0), np.maximum(-factors, 0)
            greatest = max((plus - low * minus).sum(), (minus - low * plus).sum())
            assert greatest == growth[i, j]
            assert level * greatest <= MOST_16


def layer_of(weights: Floats, *, is_positive: bool) -> Convolution:
    return Convolution(0, 1, weights, np.zeros(len(weights), np.float32), None, NONE, is_positive)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("inputs", "outputs", "is_positive"), [(32, 32, True), (64, 96, False), (192, 64, True)]
)
def test_a_layer_of_integers_is_a_naive_convolution(
    size: tuple[int, int], is_positive: bool, inputs: int, outputs: int
) -> None:
    random = np.random.default_rng(inputs)
    weights = random.standard_normal((outputs, inputs, *size)).astype(np.float32)
    source = random.standard_normal((SQUARES, inputs)).astype(np.float32)
    if is_positive:
        source = np.maximum(source, 0)
    expected = naive(source, weights)
    found = convolution(integer_weights(layer_of(weights, is_positive=is_positive)), source)
    assert np.sqrt(np.mean((found - expected) ** 2)) < 3e-3 * expected.std()


def test_bfloat16_is_that_of_the_library() -> None:
    bits = np.random.default_rng(1).integers(0, 2**32, 100_000, np.uint32)
    bits[:1000] = bits[:1000] & 0xFFFF0000 | 0x8000  # In the middle between two numbers.
    numbers = bits.view(np.float32)
    numbers = numbers[np.abs(numbers) < 3e38]
    assert np.array_equal(bfloats(numbers), numbers.astype(ml_dtypes.bfloat16).astype(np.float32))


@pytest.mark.parametrize("side", [1, 3])
@pytest.mark.parametrize(("inputs", "outputs"), [(32, 64), (192, 32)])
def test_a_layer_of_bfloat16_is_a_naive_convolution(inputs: int, outputs: int, side: int) -> None:
    random = np.random.default_rng(inputs)
    weights = random.standard_normal((outputs, inputs, side, side)).astype(np.float32)
    source = random.standard_normal((SQUARES, inputs)).astype(np.float32)
    found = convolution(bfloats(weights), source)
    exact, original = naive(bfloats(source), bfloats(weights)), naive(source, weights)
    assert np.allclose(found, exact, rtol=0, atol=1e-5 * exact.std())
    assert np.sqrt(np.mean((found - original) ** 2)) < 3e-3 * original.std()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("size", SIZES)
def test_saturated_inputs_do_not_overflow(native: ModuleType, size: tuple[int, int], sign: float) -> None:
    """Every input is the greatest there is; the patches are the worst for each place."""
    inputs = 64
    boards = [np.ones((1, 62, 9, 9), np.float32)]
    if size == (
        3,
        3,
    ):  # Worst cases of each place of the patch; a checkered board has both signs of all sums.
        for i, j in itertools.product(range(5), repeat=2):
            factors = np.outer(B[i], B[j])
            tiled = np.zeros((9, 9), np.float32)
            tiled[2:7, 2:7] = factors > 0
            boards.append(np.broadcast_to(tiled, (1, 62, 9, 9)).astype(np.float32))
    weights = np.full((32, inputs, *size), sign * 1e3, np.float32)
    weights[16:] *= np.random.default_rng(1).choice([-1, 1], (16, 1, *size))
    network = one_layer(layer_of(weights, is_positive=True))
    board = np.concatenate(boards)
    planes = [board, np.zeros((len(board), 57, 9, 9), np.float32)]
    # The reference computes in 64 bits and checks the bounds.
    expected = {name: Reference(network, name).run(planes) for name in ARITHMETICS}
    for instructions in native.usable_instructions():
        kernel = native.WinogradNetwork(network, instructions)
        assert np.array_equal(kernel.run(planes)[0], expected[kernel.arithmetic][0])


@pytest.mark.parametrize(
    ("size", "is_positive"), [*zip(SIZES, (True, False, True), strict=True), (SIZES[0], False)]
)
def test_no_output_leaves_32_bits(size: tuple[int, int], is_positive: bool) -> None:
    """For the worst board of each output of the middle tile. What each input adds is found one by one."""
    weights = np.random.default_rng(2).standard_normal((32, 32, *size)).astype(np.float32) ** 3
    rounded = integer_weights(layer_of(weights, is_positive=is_positive))
    ranks = range(9) if size == (9, 1) else range(2, 7)
    boards = np.zeros((len(ranks) * 5 * 32, 9, 9, 32), np.int64)
    for board, place in zip(boards, itertools.product(ranks, range(2, 7), range(32)), strict=True):
        board[place] = 1
    middle = [30, 31, 32, 39, 40, 41, 48, 49, 50]
    integers = rounded.integers.astype(np.int64)
    added = np.stack([integer_convolution(integers, board)[middle] for board in boards])
    highest, lowest = np.maximum(added, 0).sum(0), np.minimum(added, 0).sum(0)
    reached = rounded.level * (np.maximum(highest, -lowest) if is_positive else highest - lowest)
    assert reached.max() <= MOST_32
    # One of the limits is nearly used; otherwise the weights would be coarser than they need to be.
    assert ((reached.max(0) > 0.9 * MOST_32) | (np.abs(integers).max((0, 2)) > MOST_16 - 2)).all()


def test_exp_is_that_of_the_library() -> None:
    for most, error in ((2, 4e-7), (87, 8e-6)):
        x = np.linspace(-most, most, 10_001).astype(np.float32)
        exact = np.exp(x.astype(np.float64))
        assert np.allclose(exponential(x), exact, rtol=error, atol=0)
        assert np.allclose(activated(x, SWISH), x * exact / (1 + exact), rtol=error, atol=1e-30)


# The kernel against its reference and onnxruntime.

NETWORKS: dict[str, dict[str, Any]] = {
    "plain": {"blocks": 2, "channels": 64},
    "narrow": {"blocks": 1, "channels": 32, "value": "Tanh"},
    "no multiple of 32": {"blocks": 2, "channels": 40, "squeezes": True},
    "swish": {"blocks": 2, "channels": 96, "act": "swish"},
    "squeeze": {"blocks": 2, "channels": 64, "squeezes": True, "value": ""},
    "pooling": {"blocks": 3, "channels": 64, "pools": True, "has_norms": False},
    "all": {"blocks": 2, "channels": 64, "act": "swish", "squeezes": True, "pools": True},
    "entering king": {"blocks": 1, "channels": 64, "hand_planes": 119},
    "reshaped": {"blocks": 1, "channels": 32, "batch_of": "input1"},
    "miniosl": {"channels": 96, "inside": 32},
}


def model_of(name: str, path: Path) -> Path:
    return (miniosl_like if name == "miniosl" else dlshogi_like)(path, **NETWORKS[name])


def planes_for(network: ResidualNetwork, count: int, seed: int) -> list[npt.NDArray[np.float32]]:
    if len(network.planes) == 2:
        return random_planes(count, seed, network.planes[1])
    random = np.random.default_rng(seed)
    present = random.random((count, 176, 9, 9)) < 0.1
    return [(present * random.integers(1, 5, present.shape) / 4).astype(np.float32)]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("size", ["small", "large"])
def test_the_kernel_has_the_bits_of_its_reference(
    native: ModuleType, name: str, size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if size == "large":
        monkeypatch.setattr(layers, "BFLOAT_WEIGHTS", 0)
    network = read_network(model_of(name, tmp_path / "model.onnx"))
    planes = planes_for(network, 3, seed=3)
    expected = {name: Reference(network, name).run(planes) for name in ARITHMETICS}
    for instructions in native.usable_instructions():
        kernel = native.WinogradNetwork(network, instructions)
        logits, values = kernel.run(planes)
        assert np.array_equal(logits, expected[kernel.arithmetic][0])
        assert np.array_equal(values, expected[kernel.arithmetic][1])


@pytest.mark.parametrize("name", NETWORKS)
def test_the_kernel_computes_what_onnxruntime_does(native: ModuleType, name: str, tmp_path: Path) -> None:
    path = model_of(name, tmp_path / "model.onnx")
    network = read_network(path)
    planes = planes_for(network, 7, seed=4)
    logits, values = by_onnxruntime(path, planes)
    for instructions in native.usable_instructions():
        for is_integer, tolerance in ((False, 3e-5), (True, 2e-2)):
            found = native.WinogradNetwork(network, instructions, is_integer).run(planes)
            assert np.abs(found[0] - logits).max() < tolerance * np.abs(logits).max()
            assert np.abs(found[1] - values).max() < tolerance


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9])
def test_the_size_of_a_batch_does_not_matter(native: ModuleType, count: int) -> None:
    planes = random_planes(9, seed=6)
    for is_integer in (True, False):
        kernel = open_kernel(SHIPPED, is_integer=is_integer)
        logits, values = kernel.run(planes)
        for first in range(0, 9, count):
            part = kernel.run([rows[first : first + count] for rows in planes])
            assert np.array_equal(part[0], logits[first : first + count])
            assert np.array_equal(part[1], values[first : first + count])
    assert kernel.run([rows[:0] for rows in planes])[0].shape == (0, 2187)


def test_the_integers_are_close_to_the_float_network(native: ModuleType) -> None:
    """On positions of games that the network plays with itself, 300 of them."""
    boards, random = [], Random(1)
    kernel = open_kernel(SHIPPED, is_integer=False)
    games = [Board() for _ in range(12)]
    for _ in range(25):
        logits, _values = kernel.run(planes_of(games))
        for i, (board, row) in enumerate(zip(games, logits, strict=True)):
            boards.append(board.copy())
            labels = labels_of(board)
            order = sorted(labels, key=lambda move: -row[labels[move]])
            board.push(random.choice(order[:3]) if random.random() < 0.3 else order[0])
            if board.outcome() or not board.legal_moves():
                games[i] = Board()
    planes = planes_of(boards)
    logits, values = by_onnxruntime(SHIPPED, planes)
    found, found_values = open_kernel(SHIPPED).run(planes)
    same = 0
    for board, ours, theirs in zip(boards, found, logits, strict=True):
        legal = list(labels_of(board).values())
        same += int(ours[legal].argmax() == theirs[legal].argmax())
    assert len(boards) == 300
    assert same >= 0.985 * len(boards)
    assert np.sqrt(np.mean((found_values - values) ** 2)) < 0.005


def labels_of(board: Any) -> dict[Any, int]:
    from goryu.evaluators.formats.dlshogi import dlshogi_label

    return {move: dlshogi_label(move, board.turn) for move in board.legal_moves()}


# The evaluator and the search.


@pytest.mark.parametrize("name", ["shipped", "miniosl"])
def test_the_searches_in_both_languages_agree(native: ModuleType, name: str, tmp_path: Path) -> None:
    """The native search asks the kernel directly, the Python search through planes."""
    sfen = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"
    path = SHIPPED if name == "shipped" else model_of(name, tmp_path / "model.onnx")
    network = NetworkEvaluator(path, backend="winograd", temperature=1.3)
    config = PuctConfig(batch_size=6)
    found = native.Puct(network, config).search(native.Board(sfen), lambda _: False, max_playouts=150)
    expected = Puct(network, config).search(Board(sfen), lambda _: False, max_playouts=150)
    assert [(each.move, each.visits) for each in found.moves] == [
        (each.move, each.visits) for each in expected.moves
    ]
    assert found.value == expected.value


def test_numbers_that_are_none_end_a_search(native: ModuleType) -> None:
    network = read_network(SHIPPED)
    bias = np.full((27, SQUARES), np.nan, np.float32)
    evaluator = NetworkEvaluator(SHIPPED, backend="winograd")
    instructions = native.usable_instructions()[0]
    evaluator.kernel = native.WinogradNetwork(replace(network, policy_bias=bias), instructions)
    puct = native.Puct(evaluator, PuctConfig())
    with pytest.raises(ModelError, match="not a number"):
        puct.search(native.Board(), lambda _: False, max_playouts=10)


def test_the_backend_is_chosen_and_named(native: ModuleType) -> None:
    best = native.usable_instructions()[0]
    for backend, name, words in (
        ("cpu", "Winograd", f"arithmetic=int16 instructions={best}"),
        ("winograd-float", "Winograd", f"arithmetic=float32 instructions={best}"),
        ("onnxruntime", "CPU", "ort="),
    ):
        network = NetworkEvaluator(SHIPPED, backend=backend)
        assert network.backend == name
        assert words in network.description
        assert not network.note
    assert NetworkEvaluator(SHIPPED, backend="cpu").batch_size == best_batch(open_kernel(SHIPPED)) == 1


def test_only_large_networks_are_in_bfloat16(native: ModuleType) -> None:
    """Levels 1 to 9 are goryu-5x64's: they must not depend on the processor."""
    small, large = (read_network(models_folder() / f"goryu-{size}.onnx") for size in ("5x64", "10x96"))
    for instructions in native.usable_instructions():
        expected = "bfloat16+int16" if instructions == "amx" else "int16"
        assert native.WinogradNetwork(small, instructions).arithmetic == "int16"
        assert native.WinogradNetwork(large, instructions).arithmetic == expected
        assert native.WinogradNetwork(large, instructions, False).arithmetic == "float32"


def test_the_environment_limits_the_instructions(native: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for instructions in native.usable_instructions():
        monkeypatch.setenv(INSTRUCTIONS_VARIABLE, instructions)
        assert open_kernel(SHIPPED).instructions == instructions
    monkeypatch.setenv(INSTRUCTIONS_VARIABLE, "mmx")
    with pytest.raises(UnsupportedError, match="mmx, but this machine has"):
        open_kernel(SHIPPED)


def test_the_native_module_refuses_layers_that_do_not_fit(native: ModuleType) -> None:
    network = read_network(SHIPPED)
    instructions = native.usable_instructions()[0]
    with pytest.raises(ValueError, match="instructions"):
        native.WinogradNetwork(network, "none")
    for change in ({"maps": [64, 64]}, {"vectors": [32] * 5}, {"policy": 7}, {"maps": [60, 64, 32]}):
        with pytest.raises(ValueError, match="expected"):
            native.WinogradNetwork(replace(network, **change), instructions)


def test_planes_of_a_wrong_shape_are_refused(native: ModuleType) -> None:
    board, hands = random_planes(2, seed=1)
    for planes in ([board[:, :61], hands], [board, hands[:1]], [board, hands[:, :50]]):
        with pytest.raises(ValueError, match="expected an array of shape"):
            open_kernel(SHIPPED).run(planes)


def test_a_network_runs_without_onnxruntime(native: ModuleType) -> None:
    """The kernel needs no library: where onnxruntime is missing goryu-5x64 plays all the same."""
    program = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from goryu.evaluators.network.network import NetworkEvaluator\n"
        "from goryu.games.shogi import Board\n"
        f"network = NetworkEvaluator({str(SHIPPED)!r}, backend='cpu')\n"
        "print(len(network.evaluate([Board()])[0].policy))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "30"
