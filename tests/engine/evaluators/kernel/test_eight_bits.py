"""1x1 convolutions in bytes: the reference against floats, the kernel for the greatest numbers."""

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from goryu.evaluators.kernel.eight_bits import (
    LEAST_OUTPUTS,
    MOST_WEIGHT,
    byte_weights,
    suits_bytes,
)
from goryu.evaluators.kernel.layers import NONE, SQUARES, Convolution, Floats, Stem
from kernel_networks import one_layer
from kernel_reference import ARITHMETICS, Reference, byte_convolution


def layer_of(weights: Floats) -> Convolution:
    return Convolution(
        0, 1, weights[:, :, None, None], np.zeros(len(weights), np.float32), None, NONE, is_positive=False
    )


def random_weights(outputs: int, inputs: int, seed: int) -> Floats:
    return np.random.default_rng(seed).standard_normal((outputs, inputs)).astype(np.float32)


@pytest.mark.parametrize("is_positive", [True, False])
@pytest.mark.parametrize(("inputs", "outputs"), [(32, 64), (256, 64), (64, 256)])
def test_bytes_are_nearly_a_product_of_floats(inputs: int, outputs: int, is_positive: bool) -> None:
    weights = random_weights(outputs, inputs, seed=1)
    source = random_weights(SQUARES, inputs, seed=2)
    source *= np.geomspace(1e-3, 1e3, SQUARES, dtype=np.float32)[:, None]
    if is_positive:
        source = np.maximum(source, 0)
    found = byte_convolution(byte_weights(layer_of(weights)), source)
    expected = source.astype(np.float64) @ weights.astype(np.float64).T
    # Each square for itself: one whose numbers are small is as exact as the others.
    errors = np.sqrt(((found - expected) ** 2).mean(1)) / np.sqrt((expected**2).mean(1))
    assert errors.max() < 0.02
    assert np.median(errors) < 0.012


def test_what_all_squares_share_is_nearly_exact() -> None:
    """Errors of weights cancel if all inputs are equal, as they nearly do for inputs of one sign."""
    weights = random_weights(64, 256, seed=3)
    integers = byte_weights(layer_of(weights)).integers.astype(np.float64)
    units = np.abs(weights.astype(np.float64)).max(1) / MOST_WEIGHT
    assert np.abs(integers).max() == MOST_WEIGHT
    assert np.abs(integers - weights / units[:, None]).max() <= 1  # The nearest number or the next one.
    assert np.abs(integers.sum(1) - weights.astype(np.float64).sum(1) / units).max() <= 0.5 + 1e-6


def test_a_map_of_zeros_and_weights_of_zeros_are_zeros() -> None:
    weights = random_weights(64, 32, seed=4)
    assert not byte_convolution(byte_weights(layer_of(weights)), np.zeros((SQUARES, 32), np.float32)).any()
    found = byte_convolution(
        byte_weights(layer_of(np.zeros((64, 32), np.float32))), random_weights(SQUARES, 32, seed=5)
    )
    assert not found.any()


def test_small_and_large_convolutions_stay_in_16_bits() -> None:
    assert suits_bytes(layer_of(random_weights(LEAST_OUTPUTS, 32, seed=6)))
    assert not suits_bytes(layer_of(random_weights(LEAST_OUTPUTS - 32, 256, seed=6)))
    large = replace(layer_of(random_weights(64, 32, seed=6)), weights=np.ones((64, 32, 3, 3), np.float32))
    assert not suits_bytes(large)


@pytest.mark.parametrize(("inputs", "scale"), [(512, 1e-35), (512, 1.0), (512, 1e30), (96, 1.0)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_kernel_has_the_same_bits_for_the_greatest_numbers(
    native: ModuleType, sign: float, inputs: int, scale: float
) -> None:
    """All inputs and weights are the greatest bytes; with the stem's bias inputs are negative, too."""
    weights = np.full((64, inputs), sign * scale, np.float32)
    weights[32:] *= np.random.default_rng(7).choice([-1, 1], (32, 1))
    network = one_layer(layer_of(weights))
    stem, layer, dense = network.layers
    assert isinstance(stem, Stem)
    below = replace(stem, bias=np.linspace(-3, 3, inputs).astype(np.float32), activation=NONE)
    board = (np.random.default_rng(8).random((3, 62, 9, 9)) < 0.2).astype(np.float32)
    board[0] = 1
    board[1] = 0
    planes = [board, np.zeros((3, 57, 9, 9), np.float32)]
    for one in (network, replace(network, layers=[below, layer, dense])):
        expected = {name: Reference(one, name).run(planes)[0] for name in ARITHMETICS}
        assert all(np.isfinite(logits).all() for logits in expected.values())
        for instructions in native.usable_instructions():
            kernel = native.WinogradNetwork(one, instructions)
            assert np.array_equal(kernel.run(planes)[0], expected[kernel.arithmetic])


def test_numbers_that_are_none_reach_the_answer(native: ModuleType) -> None:
    """A search ends with an error then; it must not see a number instead."""
    network = one_layer(layer_of(random_weights(64, 64, seed=9)))
    stem, layer, dense = network.layers
    assert isinstance(stem, Stem)
    planes = [np.ones((1, 62, 9, 9), np.float32), np.zeros((1, 57, 9, 9), np.float32)]
    for wrong in (np.nan, np.inf):
        bias = np.zeros(64, np.float32)
        bias[5] = wrong
        broken = replace(network, layers=[replace(stem, bias=bias, activation=NONE), layer, dense])
        for instructions in native.usable_instructions():
            logits, _values = native.WinogradNetwork(broken, instructions).run(planes)
            assert not np.isfinite(logits).any()
