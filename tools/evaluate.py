"""Measures how well networks predict finished games: the winner and the moves played.

The program is `goryu evaluate`, in engine/goryu/commands/training/evaluate.py.
"""

from goryu.commands.training.evaluate import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
