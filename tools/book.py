"""Makes opening books and shows, checks and joins them.

The program is `goryu book`, in engine/goryu/commands/book.py.
"""

from goryu.commands.book import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
