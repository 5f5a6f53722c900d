"""Learns from game records: finds them in archives, chooses the good ones, splits and converts them.

The program is `goryu records`, in engine/goryu/commands/records.py.
"""

from goryu.commands.records import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
