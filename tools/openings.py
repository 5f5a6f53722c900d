"""Makes an opening file for `goryu match`: distinct, balanced, reproducible from the seed.

The program is `goryu openings`, in engine/goryu/commands/openings.py.
"""

from goryu.commands.openings import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
