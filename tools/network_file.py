"""Packs a network for the engine as a WebAssembly module, which has no reader of ONNX files.

The file has the layers that `reading.py` has found, and the options that suit the network. Weights that are
halves already, as in an ONNX file in 16 bits, take two bytes; nothing is rounded here. All numbers are
little-endian:

    MAGIC, SHA-256 of the model's file, format, input planes, options (name, double)
    channels of the maps, lengths of the vectors
    layers: kind, activation, LAYER_FIELDS, is_positive, weights, weights of the hands, bias
    policy, value, steepness (double), policy_bias

A text is its length in bytes and the bytes, a list its length and the entries; floats are 16 or 32 (bits),
their number and the numbers. `native/wasm/network_file.cpp` reads it.
"""

import struct
from collections.abc import Iterable, Mapping

import numpy as np

from goryu.evaluators.kernel.layers import (
    SQUARES,
    Convolution,
    Dense,
    Floats,
    Input,
    Layer,
    Pool,
    ResidualNetwork,
    Spread,
    Stem,
)

MAGIC = b"goryu network 2\n"

STEM, INPUT, CONV3, CONV1, _, CONV9, POOL, DENSE, SPREAD = range(9)
"""The kinds of layers, as in native/core/winograd.h."""

LAYER_FIELDS = (
    "source", "to", "residual", "scale", "shift", "inputs", "outputs",
    "groups", "used", "width", "mean_at", "maximum_at",
)  # fmt: skip
"""Integers of a layer; -1 where it has none."""

NOTHING = np.zeros(0, np.float32)


def packed_network(
    network: ResidualNetwork, sha256: str, format_name: str, options: Mapping[str, float]
) -> bytes:
    """Returns the file of a network. options: names and values of `goryu_set_option`."""
    parts = [
        MAGIC,
        _text(sha256),
        _text(format_name),
        _integers(network.planes),
        struct.pack("<I", len(options)),
    ]
    parts += [_text(name) + struct.pack("<d", value) for name, value in options.items()]
    parts += [_integers(network.maps), _integers(network.vectors), struct.pack("<I", len(network.layers))]
    parts += [_layer(layer, network) for layer in network.layers]
    parts.append(struct.pack("<iid", network.policy, network.value, network.steepness))
    return b"".join([*parts, _floats(network.policy_bias)])


def _layer(layer: Layer, network: ResidualNetwork) -> bytes:
    fields = {name: getattr(layer, name, None) for name in LAYER_FIELDS}
    weights, hands, bias = NOTHING, NOTHING, getattr(layer, "bias", NOTHING)
    maps = network.maps
    match layer:
        case Stem():
            kind, weights, hands, fields["outputs"] = STEM, layer.board, layer.hands, len(bias)
        case Input():
            kind, fields["outputs"], fields["used"] = INPUT, maps[layer.to], layer.planes
        case Convolution():
            kind, weights = {3: CONV3, 1: CONV1, 9: CONV9}[layer.weights.shape[2]], layer.weights
            fields["outputs"], fields["inputs"], *_ = layer.weights.shape
        case Pool():
            kind, fields["outputs"] = POOL, maps[layer.source]
        case Dense():
            kind, weights, fields["outputs"] = DENSE, layer.weights, len(bias)
            fields["groups"] = SQUARES if layer.reads_map else 1
            fields["width"] = maps[layer.source] if layer.reads_map else layer.used
        case Spread():
            kind, fields["outputs"] = SPREAD, maps[layer.to]
    numbers = [kind, getattr(layer, "activation", 0)]
    numbers += [-1 if value is None else value for value in fields.values()]
    numbers.append(getattr(layer, "is_positive", False))
    return struct.pack("<15i", *numbers) + _floats(weights) + _floats(hands) + _floats(bias)


def _floats(numbers: Floats) -> bytes:
    flat = np.ascontiguousarray(numbers, "<f4").reshape(-1)
    with np.errstate(over="ignore"):
        halves = flat.astype("<f2")
    has_halves = bool(np.array_equal(halves.astype(np.float32), flat))
    head = struct.pack("<iI", 16 if has_halves else 32, flat.size)
    return head + (halves if has_halves else flat).tobytes()


def _integers(numbers: Iterable[int]) -> bytes:
    values = [*numbers]
    return struct.pack(f"<I{len(values)}i", len(values), *values)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data
