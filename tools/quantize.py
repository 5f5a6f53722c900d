"""Turns a float network into a smaller one, and prints how close it is and how fast.

The program is `goryu quantize`, in engine/goryu/commands/training/quantize.py.
"""

from goryu.commands.training.quantize import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
