"""Networks of other programs for tests: their weights under their own names, and their outputs.

Everything here is written from the descriptions of those programs, apart from the engine: NumPy's einsum
computes the layers.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Weights = dict[str, Any]


@dataclass
class Net:
    """Layers with random weights, created when they are first used; `weights` collects them."""

    seed: int = 1
    epsilon: float = 1e-5
    is_chainer: bool = False
    weights: Weights = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def parameter(self, name: str, *shape: int, scale: float = 0.1, around: float = 0.0) -> Any:
        if name not in self.weights:
            values = around + scale * self.random.standard_normal(shape)
            self.weights[name] = values.astype(np.float32)
        return self.weights[name]

    def conv(self, name: str, x: Any, outputs: int, kernel: int, bias: bool = True, pad: bool = True) -> Any:
        weight, offset = ("W", "b") if self.is_chainer else ("weight", "bias")
        slash = "/" if self.is_chainer else "."
        inputs = x.shape[1]
        scale = (inputs * kernel * kernel) ** -0.5
        w = self.parameter(f"{name}{slash}{weight}", outputs, inputs, kernel, kernel, scale=1.4 * scale)
        edge = kernel // 2 if pad else 0
        padded = np.pad(x, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(2, 3))
        y = np.einsum("nchwij,ocij->nohw", windows, w, optimize=True)
        if bias:
            y = y + self.parameter(f"{name}{slash}{offset}", outputs)[None, :, None, None]
        return y

    def norm(self, name: str, x: Any) -> Any:
        """Normalises by the statistics of the first batch, as training would have stored them."""
        names = ("gamma", "beta", "avg_mean", "avg_var") if self.is_chainer else (
            "weight", "bias", "running_mean", "running_var"
        )  # fmt: skip
        slash = "/" if self.is_chainer else "."
        scale, shift, mean, variance = (f"{name}{slash}{each}" for each in names)
        channels = x.shape[1]
        self.parameter(scale, channels, scale=0.2, around=1.0)
        self.parameter(shift, channels, scale=0.2)
        if mean not in self.weights:
            self.weights[mean] = x.mean((0, 2, 3)).astype(np.float32)
            self.weights[variance] = (x.var((0, 2, 3)) + 1e-3).astype(np.float32)
            self.weights[f"{name}{slash}{'N' if self.is_chainer else 'num_batches_tracked'}"] = np.array(7)
        gamma, beta, average, var = (
            self.weights[each][None, :, None, None] for each in (scale, shift, mean, variance)
        )
        return gamma * (x - average) / np.sqrt(var + self.epsilon) + beta

    def dense(self, name: str, x: Any, outputs: int) -> Any:
        weight, offset = ("/W", "/b") if self.is_chainer else (".weight", ".bias")
        x = x.reshape(len(x), -1)
        w = self.parameter(name + weight, outputs, x.shape[1], scale=1.4 * x.shape[1] ** -0.5)
        return x @ w.T + self.parameter(name + offset, outputs)

    def bias(self, name: str, x: Any) -> Any:
        x = x.reshape(len(x), -1)
        return x + self.parameter(f"{name}{'/b' if self.is_chainer else '.bias'}", x.shape[1])


class Evil:
    """Its pickle creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def relu(x: Any) -> Any:
    return np.where(x > 0, x, 0)


def swish(x: Any) -> Any:
    return x / (1 + np.exp(-x))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


# The first book, in Chainer.


def policy_network(net: Net, x: Any, channels: int = 8, normalised: bool = False) -> Any:
    for i in range(1, 13):
        x = net.conv(f"l{i}", x, channels, 3)
        if normalised:
            # The published source uses norm2 for the twelfth layer.
            x = net.norm("norm2" if i == 12 else f"norm{i}", x)
        x = relu(x)
    return net.bias("l13_bias", net.conv("l13", x, 27, 1, bias=False))


def value_network(net: Net, x: Any, channels: int = 8) -> Any:
    for i in range(1, 13):
        x = relu(net.conv(f"l{i}", x, channels, 3))
    x = relu(net.conv("l13_v", x, 27, 1))
    return net.dense("l15_v", relu(net.dense("l14_v", x, 16)), 1)


def policy_value_network(net: Net, x: Any, channels: int = 8) -> tuple[Any, Any]:
    for i in range(1, 13):
        x = relu(net.conv(f"l{i}", x, channels, 3))
    policy = net.bias("l13_bias", net.conv("l13", x, 27, 1, bias=False))
    x = relu(net.conv("l13_v", x, 27, 1))
    return policy, net.dense("l15_v", relu(net.dense("l14_v", x, 16)), 1)


def policy_value_resnet(net: Net, x: Any, channels: int = 8, blocks: int = 5) -> tuple[Any, Any]:
    x = relu(net.conv("l1", x, channels, 3))
    for i in range(1, blocks):  # The book's loop makes one block fewer.
        y = relu(net.norm(f"b{i}/bn1", net.conv(f"b{i}/conv1", x, channels, 3, bias=False)))
        y = net.norm(f"b{i}/bn2", net.conv(f"b{i}/conv2", y, channels, 3, bias=False))
        x = relu(x + y)
    policy = net.bias("policy_bias", net.conv("policy", x, 27, 1, bias=False))
    x = relu(net.norm("value1_bn", net.conv("value1", x, 27, 1)))
    return policy, net.dense("value3", relu(net.dense("value2", x, 16)), 1)


# The second book and dlshogi, in PyTorch.


def _heads(net: Net, x: Any, act: Any, policy_name: str) -> tuple[Any, Any]:
    policy = net.bias("policy_bias", net.conv(policy_name, x, 27, 1, bias=False))
    x = act(net.norm("value_norm1", net.conv("value_conv1", x, 27, 1, bias=False)))
    return policy, net.dense("value_fc2", act(net.dense("value_fc1", x, 16)), 1)


def _block(net: Net, name: str, x: Any, act: Any) -> Any:
    channels = x.shape[1]
    y = act(net.norm(f"{name}.bn1", net.conv(f"{name}.conv1", x, channels, 3, bias=False)))
    return act(x + net.norm(f"{name}.bn2", net.conv(f"{name}.conv2", y, channels, 3, bias=False)))


def _se_block(net: Net, name: str, x: Any, act: Any) -> Any:
    channels = x.shape[1]
    y = act(net.norm(f"{name}.bn1", net.conv(f"{name}.conv1", x, channels, 3, bias=False)))
    y = act(net.norm(f"{name}.bn2", net.conv(f"{name}.conv2", y, channels, 3, bias=False)))
    z = act(net.conv(f"{name}.se.fc1", y.mean((2, 3), keepdims=True), channels // 2, 1))
    return act(x + y * sigmoid(net.conv(f"{name}.se.fc2", z, channels, 1)))


def _broadcast_block(net: Net, name: str, x: Any, act: Any) -> Any:
    y = act(net.norm(f"{name}.bn1", net.conv(f"{name}.conv1", x, 1, 1, bias=False)))
    y = net.conv(f"{name}.broadcast", y, 81, 9, bias=False, pad=False).reshape(-1, 1, 9, 9)
    y = act(net.norm(f"{name}.bn2", y))
    return act(x + net.norm(f"{name}.bn3", net.conv(f"{name}.conv2", y, x.shape[1], 1, bias=False)))


def second_book(net: Net, x: Any, act: Any = relu, channels: int = 8, blocks: int = 3) -> tuple[Any, Any]:
    x = act(net.norm("norm1", net.conv("conv1", x, channels, 3, bias=False)))
    for i in range(blocks):
        x = _block(net, f"blocks.{i}", x, act)
    return _heads(net, x, act, "policy_conv")


def _stem(net: Net, board: Any, hands: Any, channels: int) -> Any:
    return (
        net.conv("l1_1_1", board, channels, 3, bias=False)
        + net.conv("l1_1_2", board, channels, 1, bias=False)
        + net.conv("l1_2", hands, channels, 1, bias=False)
    )


def dlshogi(
    net: Net, board: Any, hands: Any, act: Any, kind: str = "resnet", channels: int = 8, blocks: int = 3
) -> tuple[Any, Any]:
    x = act(net.norm("norm1", _stem(net, board, hands, channels)))
    for i in range(blocks):
        block = {"resnet": _block, "senet": _se_block, "broadcast": _block}[kind]
        if kind == "broadcast" and i % 7 == 0:
            block = _broadcast_block
        x = block(net, f"blocks.{i}", x, act)
    return _heads(net, x, act, "policy")


def resnet10_swish(net: Net, board: Any, hands: Any, act: Any, channels: int = 8) -> tuple[Any, Any]:
    x = act(net.norm("norm1", _stem(net, board, hands, channels)))
    for i in range(2, 22, 2):
        y = act(net.norm(f"norm{i}", net.conv(f"l{i}", x, channels, 3, bias=False)))
        x = act(x + net.norm(f"norm{i + 1}", net.conv(f"l{i + 1}", y, channels, 3, bias=False)))
    policy = net.bias("l22_2", net.conv("l22", x, 27, 1, bias=False))
    x = act(net.norm("norm22_v", net.conv("l22_v", x, 27, 1, bias=False)))
    return policy, net.dense("l24_v", act(net.dense("l23_v", x, 16)), 1)


def wideresnet10(net: Net, board: Any, hands: Any, act: Any, channels: int = 8) -> tuple[Any, Any]:
    x = _stem(net, board, hands, channels)
    for i in range(2, 22, 2):
        y = act(net.norm(f"norm{i - 1}", x))
        y = act(net.norm(f"norm{i}", net.conv(f"l{i}", y, channels, 3, bias=False)))
        x = x + net.conv(f"l{i + 1}", y, channels, 3, bias=False)
    x = act(net.norm("norm21", x))
    policy = net.bias("l22_2", net.conv("l22", x, 27, 1, bias=False))
    x = act(net.norm("norm22_v", net.conv("l22_v", x, 27, 1)))
    return policy, net.dense("l24_v", act(net.dense("l23_v", x, 16)), 1)
