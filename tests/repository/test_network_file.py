import struct

import numpy as np

from goryu.evaluators.kernel.layers import Layer, ResidualNetwork, Spread
from network_file import MAGIC, packed_network


def test_weights_that_are_halves_take_two_bytes_each_and_others_four() -> None:
    sizes = {}
    for name, number in (("half", 0.5), ("float", 0.1)):
        bias = np.full((27, 81), number, np.float32)
        layers: list[Layer] = [Spread(source=0, to=1, scale=None, shift=0, residual=None, activation=1)]
        network = ResidualNetwork(layers, [32, 32], [32], (62, 57), 1, bias, 0, 1.0)
        data = packed_network(network, "", "dlshogi 62+57", {"c_init": 1.3})
        assert data.startswith(MAGIC)
        assert struct.pack("<d", 1.3) in data
        bits, count = struct.unpack_from("<iI", data, len(data) - 8 - 2187 * (2 if name == "half" else 4))
        assert count == 2187
        sizes[name] = bits
    assert sizes == {"half": 16, "float": 32}
