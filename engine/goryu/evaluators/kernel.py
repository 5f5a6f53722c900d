"""Opens our own kernel for a network on a CPU, or says why it cannot run the network.

The kernel is native code (`goryu._native.WinogradNetwork`); `winograd.py` explains its arithmetic. The
environment variable GORYU_INSTRUCTIONS names the vector instructions that it uses, for tests and
measurements: avx512-vnni, avx512, avx-vnni, avx2 or neon. Unset, it uses the best that the processor has.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.evaluators.residual_graph import UnsupportedError, read_network, weights_in

if TYPE_CHECKING:
    from goryu._native import WinogradNetwork

INSTRUCTIONS_VARIABLE = "GORYU_INSTRUCTIONS"

WITHOUT_INTEGERS = ("neon",)
"""Instructions for which float32 is as fast as 16-bit integers."""

CACHED_WEIGHTS = 10_000_000
"""A network with more weights than this does not stay in the caches of a CPU: several positions share the
loading of its weights."""


def open_kernel(path: Path, *, is_integer: bool = True) -> "WinogradNetwork":
    """Returns the kernel with the network of an ONNX file.

    Raises:
        UnsupportedError: the kernel cannot run this network, or not on this machine.
        ModelError: the file is damaged.
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
    """Returns how many positions to evaluate together: one, if the weights stay in the processor's caches."""
    return 1 if weights_in(kernel.network.layers) <= CACHED_WEIGHTS else 4
