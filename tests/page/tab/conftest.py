"""The page without a server, as `python -m http.server` serves it."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import tab_page
import textbook
from goryu.commands.common import UsageError
from wasm_module import module

__all__ = ["module"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def files(tmp_path: Path, module: None) -> Iterator[ThreadingHTTPServer]:
    try:
        textbook.build(tmp_path / "site", textbook.fetch_pyodide(), {})
        tab_page.build(tmp_path / "site", "https://example.org/source")
    except UsageError as error:
        pytest.skip(str(error))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "site"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
