"""Equalizes the sizes of channels, so that one 8-bit scale per layer suits all of them.

Between two layers with only a ReLU in between, a channel can be divided by a positive number in the first and
multiplied by it in the second without changing the output. This shrinks the large channels, which would leave
few of the 256 steps of a byte to the small ones.

Source: M. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", ICCV 2019,
section 4.1; but here the sizes are those of activations on real positions, not those of weights.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from goryu.learning.training.dataset import Dataset, make_batch
from goryu.learning.training.export import export_onnx
from goryu.learning.training.import_onnx import load_export
from goryu.learning.training.network import PolicyValueNet, ResidualBlock

SHARE = 0.75
"""Exponent: 0 changes nothing; 1 makes all channels equal, but the weights that read them unequal."""

LARGE = 0.9995
"""The size of a channel is this quantile of its values, so that single large values do not count."""

EVERY = 7
"""Use only every seventh value: torch.quantile is slow."""


def equalize(net: PolicyValueNet, input1: Tensor, input2: Tensor) -> None:
    """Makes the channels of a network whose normalisations only add biases (`load_export`) more equal.

    input1 [N, 62, 9, 9], input2 [N, 57, 9, 9]: some hundreds of positions on which to measure the channels.
    The outputs stay the same up to float32 rounding.
    """
    with torch.no_grad():
        x = F.relu(net.norm(net.board(input1) + net.hands(input2)))
        trunk = [_size(x)]
        for layer in net.tower:
            if isinstance(layer, ResidualBlock):
                inner = _factor(_size(F.relu(layer.first_norm(layer.first(x)))))
                _divide_outputs(inner, layer.first.weight, layer.first_norm.bias)
                _multiply_inputs(inner, layer.second.weight)
            x = layer(x)
            trunk.append(_size(x))
        # The residual connections make one layer of the whole trunk.
        outer = _factor(torch.stack(trunk).amax(0))
        _divide_outputs(outer, net.board.weight, net.hands.weight, net.norm.bias)
        for layer in net.tower:
            if isinstance(layer, ResidualBlock):
                _multiply_inputs(outer, layer.first.weight)
                _divide_outputs(outer, layer.second.weight, layer.second_norm.bias)
            else:
                _multiply_inputs(torch.cat((outer, outer)), layer.mix.weight)
                _divide_outputs(outer, layer.mix.weight, layer.mix.bias)
        _multiply_inputs(outer, net.policy.weight)
        _multiply_inputs(outer, net.value.reduce.weight)


def write_equalized(source: Path, target: Path, positions: Dataset) -> None:
    """Writes an exported network with equalized channels; InputError if goryu train did not export it."""
    net = load_export(source)
    batch = make_batch(positions, np.arange(len(positions)), np.zeros(len(positions), bool))
    equalize(net, torch.from_numpy(batch.input1), torch.from_numpy(batch.input2))
    export_onnx(net, target)


def _size(x: Tensor) -> Tensor:
    """Returns the sizes of the channels of [N, C, 9, 9], as [C]."""
    return torch.quantile(x.transpose(0, 1).flatten(1)[:, ::EVERY], LARGE, dim=1).clamp_min(1e-3)


def _factor(size: Tensor) -> Tensor:
    return (size / size.mean()) ** SHARE


def _divide_outputs(factor: Tensor, *parameters: Tensor) -> None:
    for parameter in parameters:
        parameter.div_(factor.view(-1, *[1] * (parameter.ndim - 1)))


def _multiply_inputs(factor: Tensor, weight: Tensor) -> None:
    weight.mul_(factor.view(1, -1, *[1] * (weight.ndim - 2)))
