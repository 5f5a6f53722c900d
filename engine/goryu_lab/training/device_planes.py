"""Turns positions that travel as bits (`evaluators/network/packed_input.py`) into planes, on the device.

A batch of 4,096 positions takes 3 MB as bits of the dlshogi format and 158 MB as planes in float32.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

from goryu.evaluators.formats.base import LEVELS, ModelFormat
from goryu.evaluators.network.packed_input import SQUARES, packed_layout


class PlanesOfBits(nn.Module):  # type: ignore[misc]
    """Makes the inputs of a network of one format."""

    def __init__(self, model_format: ModelFormat) -> None:
        super().__init__()
        self.layout = layout = packed_layout(model_format)
        ends = [0]
        for spec in model_format.inputs:
            ends.append(ends[-1] + spec.shape[0])
        self._parts = list(pairwise(ends))
        sources = [*layout.squares, *layout.counts, *layout.uniform, *layout.numbers]
        self.register_buffer("places", torch.tensor(sources).argsort(), persistent=False)
        self.register_buffer("shifts", torch.arange(8, dtype=torch.uint8), persistent=False)
        self._is_in_order = sources == sorted(sources)

    def forward(self, rows: Tensor, numbers: Tensor) -> list[Tensor]:
        """Returns planes [N, planes, 9, 9] for each input, channels last.

        rows: uint8 [N, bytes]; numbers: float32 [N, numbers].
        """
        layout, count = self.layout, len(rows)
        bits = rows.unsqueeze(2).bitwise_right_shift(self.shifts).bitwise_and(1).flatten(1)
        squares = SQUARES * len(layout.squares)
        levels = bits[:, squares : squares + LEVELS * layout.level_bits].view(count, LEVELS, -1, SQUARES)
        uniform = bits[:, 8 * layout.square_bytes :][:, : len(layout.uniform)]
        parts = [
            bits[:, :squares].view(count, -1, SQUARES).float(),
            levels.sum(1, dtype=torch.float32) / LEVELS,
            uniform.float().unsqueeze(2).expand(-1, -1, SQUARES),
            numbers.float().unsqueeze(2).expand(-1, -1, SQUARES),
        ]
        planes = torch.cat(parts, 1)
        if not self._is_in_order:
            planes = planes.index_select(1, self.places)
        planes = planes.view(count, -1, 9, 9)
        return [
            planes[:, first:end].contiguous(memory_format=torch.channels_last) for first, end in self._parts
        ]
