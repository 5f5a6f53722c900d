"""The lesson of the reversi tutorial, with every number of it on the command line.

The program is `goryu lesson`, in engine/goryu/commands/training/lesson.py.
"""

from goryu.commands.training.lesson import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
