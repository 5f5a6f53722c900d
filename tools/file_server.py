"""A server of files like `python -m http.server`, to measure and test pages that need no other."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BLOCK = 16384


@dataclass
class Line:
    """A line between server and browser: all files share its bytes a second; each answer begins later."""

    bytes_per_second: float
    delay_s: float
    _free_from: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def carry(self, size: int) -> None:
        """Waits as long as the line needs for this many bytes, after those of others."""
        with self._lock:
            begins = max(time.monotonic(), self._free_from)
            self._free_from = begins + size / self.bytes_per_second
            ends = self._free_from
        time.sleep(max(0.0, ends - time.monotonic()))


@contextmanager
def file_server(folder: Path, line: Line | None = None) -> Iterator[ThreadingHTTPServer]:
    """Serves a folder on 127.0.0.1, at a free port, without a header but the usual ones.

    A test may end the server earlier, by `shutdown` and `server_close`.
    """

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, directory=str(folder), **named)

        def log_message(self, *_: object) -> None:
            """Prints nothing."""

        def copyfile(self, source: Any, outputfile: Any) -> None:
            if line is None:
                super().copyfile(source, outputfile)
                return
            time.sleep(line.delay_s)
            while block := source.read(BLOCK):
                line.carry(len(block))
                outputfile.write(block)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
