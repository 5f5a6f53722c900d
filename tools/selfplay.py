"""Lets a network play shogi against itself, labels old games anew, or improves a network in a loop.

The program is `goryu selfplay`, in engine/goryu/commands/training/selfplay.py.
"""

from goryu.commands.training.selfplay import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
