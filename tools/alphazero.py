"""Runs AlphaZero's pseudocode on a small game: actors play while a trainer trains.

The program is `goryu alphazero`, in engine/goryu/commands/training/alphazero.py.
"""

from goryu.commands.training.alphazero import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
