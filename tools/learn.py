"""Trains networks from nothing, as in the AlphaZero tutorials, and measures every algorithm on their games.

The program is `goryu learn`, in engine/goryu/programs/learn.py.
"""

from goryu.programs.learn import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
