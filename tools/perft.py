"""Counts and times the leaves of the tree of legal moves, by Goryu and cshogi side by side.

The program is `goryu perft`, in engine/goryu/commands/perft.py.
"""

from goryu.commands.perft import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
