"""Limits the number of threads to what the machine can run in time.

Every thread of a search evaluates its own batch, and the answer must wait for all of them. With many more
threads than cores this takes seconds, and the game is lost on time: on two cores `Threads 1024` answered
`go byoyomi 2000` after 12 to 26 s, `Threads 64` after 2.3 s.
"""

import os

THREADS_PER_CORE = 4
"""More than one thread per core is useful only while a GPU evaluates the batches."""


DEFAULT_THREADS = 2
"""If the user wants 0, and nothing was measured (`measuring.py`): one evaluates while the other one walks."""


def usable_threads(wanted: int) -> int:
    """Returns the number of threads to use when the user wants `wanted`."""
    return min(wanted, THREADS_PER_CORE * cores())


def search_threads(wanted: int) -> int:
    """Returns the number of threads of a search when the user wants `wanted`; 0 for the default."""
    return usable_threads(wanted or DEFAULT_THREADS)


def cores() -> int:
    """Returns the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
