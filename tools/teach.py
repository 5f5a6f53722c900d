"""Makes training games with a USI engine as the teacher, and shows, converts and packs files of games.

The program is `goryu teach`, in engine/goryu/commands/teach.py.
"""

from goryu.commands.teach import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
