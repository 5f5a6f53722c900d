"""Trains networks from nothing, as in the AlphaZero tutorials, and measures every algorithm on their games.

The program is `goryu learn`, in engine/goryu/commands/training/learn.py.
"""

from goryu.commands.training.learn import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
