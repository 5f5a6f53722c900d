"""Compares a network that receives bits with the same network that receives planes, when it is loaded.

The answers of most networks are the same bits on a CPU. onnxruntime may order some sums differently in the
other graph, a GPU may choose other algorithms, and 16 bits round more; a wrong graph is far further off.
"""

from collections.abc import Callable, Sequence

import numpy as np

from goryu.base.errors import GoryuError
from goryu.evaluators.formats.base import Array, ModelFormat, planes_of
from goryu.evaluators.network.packed_input import pack
from goryu.evaluators.network.packed_network import PackedNetwork
from goryu.games.shogi import Board

POSITIONS = (
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "ln1g2gn1/5s3/p1pp1p1+L1/1kg5+R/PP3P3/5+r3/1B2+p1PsP/1K2L2p1/LN6+p w BSNgs6p 1",
    "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180",
)
"""The start, a middle game with many pieces in hand, a check, two kings that have entered."""

GAME = "7g7f 3c3d 2h3h 8b7b 3h2h 7b8b 2h3h 8b7b 3h2h 7b8b 8h2b+ 3a2b"
"""A game with a past: some positions occur three times."""

TOLERANCE, COARSE_TOLERANCE = 1e-4, 0.02
"""The largest difference of a logit or value that rounding may make, over the largest logit: in 32 bits on a
CPU, and otherwise."""


class PackingError(GoryuError, RuntimeError):
    """A network that answers differently for the bits of a position and for its planes."""


def check_packing(
    model_format: ModelFormat,
    packed: PackedNetwork,
    answer: Callable[[Sequence[Array]], Sequence[Array]],
    *,
    is_precise: bool,
) -> None:
    """Raises PackingError if the answers for some positions differ.

    answer: returns logits and value outputs for planes. is_precise: are they computed in 32 bits?
    """
    boards = [Board(sfen) for sfen in POSITIONS]
    boards.append(Board())
    for usi in GAME.split():
        boards[-1].push_usi(usi)
    most = packed.sizes[-1]
    for first in range(0, len(boards), most):
        _check(model_format, packed, answer, boards[first : first + most], is_precise=is_precise)


def _check(
    model_format: ModelFormat,
    packed: PackedNetwork,
    answer: Callable[[Sequence[Array]], Sequence[Array]],
    boards: Sequence[Board],
    *,
    is_precise: bool,
) -> None:
    planes = planes_of(model_format, boards)
    from_planes = answer(planes)
    from_bits = packed.answer(*pack(model_format, planes))
    scale = max(1.0, float(np.abs(from_bits[0]).max()))
    allowed = scale * (TOLERANCE if is_precise else COARSE_TOLERANCE)
    for expected, found in zip(from_planes, from_bits, strict=True):
        difference = float(np.abs(expected.astype(np.float32).reshape(found.shape) - found).max())
        if not difference <= allowed:
            raise PackingError(f"the answers differ by {difference:.3g}, at most {allowed:.3g} is allowed")
