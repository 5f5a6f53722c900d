"""Plays matches between all of Goryu's algorithms over USI and prints the cross table.

The program is `goryu crosstable`, in engine/goryu/commands/crosstable.py.
"""

from goryu.commands.crosstable import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
