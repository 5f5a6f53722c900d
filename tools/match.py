"""Plays a match between two USI engines, with an independent referee; reports Elo with its error.

The program is `goryu match`, in engine/goryu/commands/match.py.
"""

from goryu.commands.match import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
