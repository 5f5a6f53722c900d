"""Imports a network that `export_onnx` wrote, so that it can be trained further.

An exported file has no batch normalisations: each is folded into the convolution before it, and its mean and
variance are lost. Training needs them, so `unfold` measures them on positions. It also rescales the
convolutions to the size of fresh ones: before a normalisation only their direction matters, and the learning
rate is relative to their size.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from goryu.base.errors import InputError, first_line
from goryu_lab.training.export import check_export
from goryu_lab.training.network import PolicyValueNet, ResidualBlock

Layer = tuple[Tensor, Tensor | None]
"""The weight of a convolution or a linear layer, and its bias."""

DEAD = 1e-12
"""A filter of less than this size is dead; those of an untrained block are exactly zero."""


def load_export(path: Path) -> PolicyValueNet:
    """Returns the network of a float32 file that `export_onnx` wrote, in evaluation mode.

    Its normalisations only add the biases of the file; see `unfold`. Raises InputError if the file is of
    another kind.
    """
    try:
        graph = onnx.load(str(path)).graph
        net = _rebuild(graph)
        check_export(net, path)
    except OSError:
        raise
    except Exception as error:  # onnx, protobuf and torch raise different errors for other files.
        reason = first_line(error)
        raise InputError(f"{path}: expected a float32 network that goryu train exported: {reason}") from error
    return net


def unfold(net: PolicyValueNet, input1: Tensor, input2: Tensor) -> None:
    """Gives the normalisations of a network from `load_export` the statistics of these positions.

    input1 [N, 62, 9, 9], input2 [N, 57, 9, 9]: some hundreds of positions of the training data. In
    evaluation mode the outputs stay the same.
    """
    for convolutions, norm in _normalised(net):
        _revive_dead_filters(convolutions, norm)
        seen: list[Tensor] = []
        hook = norm.register_forward_pre_hook(lambda _, inputs, seen=seen: seen.append(inputs[0]))
        with torch.no_grad():
            net(input1, input2)
            hook.remove()
            # The size of a uniform Kaiming initialisation; convolutions that are summed share a scale.
            scale = math.sqrt(len(convolutions) / 3.0) / _size(convolutions)
            for convolution in convolutions:
                convolution.weight.mul_(scale[:, None, None, None])
            mean = seen[0].mean((0, 2, 3))
            variance = seen[0].var((0, 2, 3), correction=0)
            factor = norm.weight / (norm.running_var + norm.eps).sqrt()
            norm.bias.add_(factor * (mean - norm.running_mean))
            norm.weight.copy_(factor * (variance + norm.eps / scale.square()).sqrt())
            norm.running_mean.copy_(mean * scale)
            norm.running_var.copy_(variance * scale.square())


def _rebuild(graph: onnx.GraphProto) -> PolicyValueNet:
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = {
        name: torch.from_numpy(array.copy()) for name, array in arrays.items() if array.dtype == np.float32
    }
    layers: dict[str, list[Layer]] = {"Conv": [], "Gemm": []}
    for node in graph.node:
        if node.op_type == "Identity" and node.input[0] in weights:
            weights[node.output[0]] = weights[node.input[0]]  # The exporter keeps one of equal arrays.
        if node.op_type in layers:
            names = node.input[1:]
            if unknown := [name for name in names if name not in weights]:
                raise ValueError(f"{node.name} has no float32 weights {unknown[0]}")
            layers[node.op_type].append((weights[names[0]], weights[names[1]] if len(names) > 1 else None))
    found = len(layers["Conv"]), len(layers["Gemm"])
    blocks = (found[0] - 4) // 2  # The others: board, hands, policy, value.
    if blocks < 0 or found != (4 + 2 * blocks, 3):
        raise ValueError(f"found {found[0]} convolutions and {found[1]} linear layers")
    convolutions, linear = iter(layers["Conv"]), iter(layers["Gemm"])
    net = PolicyValueNet(blocks, channels=len(layers["Conv"][0][0]))
    net.eval()
    with torch.no_grad():
        _take(convolutions, net.board, net.norm)
        _take(convolutions, net.hands)
        for block in net.tower:
            if isinstance(block, ResidualBlock):
                _take(convolutions, block.first, block.first_norm)
                _take(convolutions, block.second, block.second_norm)
            else:
                _take(linear, block.mix, block.mix)
        _take(convolutions, net.policy)
        net.policy_bias.copy_(weights["net.policy_bias"])
        _take(convolutions, net.value.reduce, net.value.norm)
        _take(linear, net.value.hidden, net.value.hidden)
        _take(linear, net.value.out, net.value.out)
    return net


def _take(layers: Iterator[Layer], module: nn.Module, biased: nn.Module | None = None) -> None:
    """Copies the next layer: its weight to `module`, its bias to the module that adds it."""
    weight, bias = next(layers)
    module.weight.copy_(weight)
    if (bias is None) != (biased is None):
        raise ValueError("its biases are in other layers")
    if biased is not None and bias is not None:
        biased.bias.copy_(bias)
    if isinstance(biased, nn.BatchNorm2d):
        biased.weight.fill_(1.0)
        biased.running_mean.zero_()
        biased.running_var.fill_(1.0 - biased.eps)


def _revive_dead_filters(convolutions: list[nn.Conv2d], norm: nn.BatchNorm2d) -> None:
    """Initialises filters of zeros, which could not learn: the gradient of both factors would be zero."""
    dead = _size(convolutions) < DEAD
    if not dead.any():
        return
    with torch.no_grad():
        norm.weight[dead] = 0.0
        for convolution in convolutions:
            fresh = nn.init.kaiming_uniform_(torch.empty_like(convolution.weight), a=math.sqrt(5.0))
            convolution.weight[dead] = fresh[dead]


def _size(convolutions: list[nn.Conv2d]) -> Tensor:
    """Returns the size of the filters that make each channel, as [C]."""
    return torch.stack([c.weight.detach().flatten(1).square().sum(1) for c in convolutions]).sum(0).sqrt()


def _normalised(net: PolicyValueNet) -> Iterator[tuple[list[nn.Conv2d], nn.BatchNorm2d]]:
    """Yields each normalisation with the convolutions whose sum it receives."""
    yield [net.board, net.hands], net.norm
    for block in net.tower:
        if isinstance(block, ResidualBlock):
            yield [block.first], block.first_norm
            yield [block.second], block.second_norm
    yield [net.value.reduce], net.value.norm
