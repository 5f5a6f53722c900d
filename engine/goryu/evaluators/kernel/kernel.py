"""Opens our own kernel for a network on a CPU, or says why it cannot run the network.

The kernel is native code (`goryu._native.WinogradNetwork`); `winograd.py` explains its arithmetic. The
environment variable GORYU_INSTRUCTIONS names the instructions that it uses, for tests and measurements: amx,
avx512-vnni, avx512, avx-vnni, avx2 or neon. Unset, it uses the best that the processor has.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.evaluators.kernel.layers import UnsupportedError
from goryu.evaluators.kernel.reading import read_network

if TYPE_CHECKING:
    from goryu._native import WinogradNetwork

INSTRUCTIONS_VARIABLE = "GORYU_INSTRUCTIONS"

WITHOUT_INTEGERS = ("neon",)
"""Instructions for which float32 is as fast as 16-bit integers."""

BATCHES = ((8, 1), (40, 2))
"""(megabytes of weights, positions at once) for networks of up to that size; see `best_batch`."""

MOST_BATCH = 4


def open_kernel(path: Path, *, is_integer: bool = True) -> "WinogradNetwork":
    """Returns the kernel with the network of an ONNX file.

    Raises:
        UnsupportedError: the kernel cannot run this network, or not on this machine.
        ModelError: the file is damaged.
        OSError: it cannot be read.
    """
    try:
        from goryu._native import WinogradNetwork
    except ImportError as error:
        raise UnsupportedError("the native code is not built") from error
    instructions = chosen_instructions()
    is_integer = is_integer and instructions not in WITHOUT_INTEGERS
    return WinogradNetwork(read_network(path), instructions, is_integer)


def chosen_instructions() -> str:
    """Returns the vector instructions to use; raises UnsupportedError if there are none."""
    from goryu._native import usable_instructions

    usable = usable_instructions()
    wanted = os.environ.get(INSTRUCTIONS_VARIABLE, "")
    if wanted and wanted not in usable:
        raise UnsupportedError(
            f"{INSTRUCTIONS_VARIABLE}={wanted}, but this machine has {', '.join(usable) or 'none of them'}"
        )
    if not usable:
        raise UnsupportedError("the processor has neither AVX2 nor NEON")
    return wanted or usable[0]


def best_batch(kernel: "WinogradNetwork") -> int:
    """Returns how many positions to evaluate at once, so that the weights are loaded once for all of them.

    On a Xeon with 2 MB of second-level cache two positions at once are 1.3 times as fast as one with the
    16 MB of a 10x128 network in 16 bits, and four 1.3 times as fast as two with the 55 MB of 15x192.
    """
    megabytes = kernel.weight_count * (2 if kernel.is_integer else 4) / 1e6
    return next((batch for most, batch in BATCHES if megabytes <= most), MOST_BATCH)
