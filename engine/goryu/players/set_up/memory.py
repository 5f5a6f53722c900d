"""The memory that the search graph may use if the user does not say: `USI_Hash` 0.

A position takes about 250 bytes. A CPU evaluates ten thousand a second and fills 1 GB in minutes; a fast GPU
does it in two minutes, and forgets the least visited part of the graph again and again in a long search.
"""

import ctypes
import os
import sys
from pathlib import Path

HASH_BYTES = 1 << 30
"""With a CPU."""

GPU_SHARE = 4
"""With a GPU a quarter of the machine's memory."""

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""The limit of a container on Linux: a number, or `max`."""


def automatic_hash_bytes(*, uses_gpu: bool) -> int:
    """Returns the memory for the search graph and all that belongs to it."""
    return max(HASH_BYTES, machine_bytes() // GPU_SHARE) if uses_gpu else HASH_BYTES


def machine_bytes() -> int:
    """Returns the memory of this machine, or of the container that we run in; 0 if it is unknown."""
    if sys.platform == "win32":
        return _windows_bytes()
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
    try:
        return min(total, int(CGROUP_LIMIT.read_text()))
    except (OSError, ValueError):
        return total


def _windows_bytes() -> int:
    """Returns the machine's memory by the Windows API."""
    kilobytes = ctypes.c_ulonglong()
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  (It exists on Windows only.)
    return 1024 * kilobytes.value if kernel.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes)) else 0
