"""The lesson of the reversi tutorial, with every number of it on the command line.

The program is `goryu lesson`, in engine/goryu/programs/lesson.py.
"""

from goryu.programs.lesson import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
