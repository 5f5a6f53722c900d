"""Gives a network an error head, which predicts the squared error of its win probability.

The program is `goryu error-head`, in engine/goryu/commands/training/error_head.py.
"""

from goryu.commands.training.error_head import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
