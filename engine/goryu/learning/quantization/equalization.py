"""Channels of one size, so that 8 bits with one scale for a whole layer suit each of them.

Between two layers with only a ReLU between them a channel can be divided by a positive number in the first
and multiplied by it in the second: the network computes the same. So the large channels, which would leave
the small ones few of the 256 steps of a byte, give way.

Source: M. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", ICCV 2019,
section 4.1; the sizes are those of activations on real positions here, not those of weights.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from goryu.learning.training.network import PolicyValueNet, ResidualBlock

SHARE = 0.75
"""Exponent: 0 leaves the channels as they are, 1 makes all equal, and the weights that read them unequal."""

LARGE = 0.9995
"""The size of a channel is this quantile of what is seen of it: a single large value does not count."""

EVERY = 7
"""Only every seventh value is looked at: torch.quantile is slow."""


def equalize(net: PolicyValueNet, input1: Tensor, input2: Tensor) -> None:
    """Makes the channels more equal of a network whose normalisations only add biases (`load_export`).

    input1 [N, 62, 9, 9], input2 [N, 57, 9, 9]: some hundreds of positions to measure the channels on. The
    outputs stay the same, but for the rounding of float32.
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


def _size(x: Tensor) -> Tensor:
    """Returns how large the channels of [N, C, 9, 9] are, as [C]."""
    return torch.quantile(x.transpose(0, 1).flatten(1)[:, ::EVERY], LARGE, dim=1).clamp_min(1e-3)


def _factor(size: Tensor) -> Tensor:
    return (size / size.mean()) ** SHARE


def _divide_outputs(factor: Tensor, *parameters: Tensor) -> None:
    for parameter in parameters:
        parameter.div_(factor.view(-1, *[1] * (parameter.ndim - 1)))


def _multiply_inputs(factor: Tensor, weight: Tensor) -> None:
    weight.mul_(factor.view(1, -1, *[1] * (weight.ndim - 2)))
