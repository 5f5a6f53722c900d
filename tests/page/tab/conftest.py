"""The page without a server, as `python -m http.server` serves it."""

from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

import tab_page
import textbook
from file_server import file_server
from goryu.commands.common import UsageError
from wasm_module import module

__all__ = ["module"]


@pytest.fixture
def files(tmp_path: Path, module: None) -> Iterator[ThreadingHTTPServer]:
    try:
        textbook.begin_site(tmp_path / "site")
        tab_page.build(tmp_path / "site", "https://example.org/source")
    except UsageError as error:
        pytest.skip(str(error))
    with file_server(tmp_path / "site") as server:
        yield server
