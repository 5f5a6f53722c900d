"""Measures Goryu: playouts, evaluations and perft leaves per second, memory, time to stop, bench signature.

The program is `goryu bench`, in engine/goryu_lab/commands/bench.py.
"""

from goryu_lab.commands.bench import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
