"""The WebAssembly module in Chromium, from a server that sets no headers."""

from typing import TYPE_CHECKING

import pytest

from wasm_module import Job, module, wasm

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.usefixtures(module.__name__)]


def test_chromium_computes_the_same_as_node(browser: "Browser") -> None:
    jobs: list[Job] = [
        {"do": "network", "file": "goryu-5x64.network"},
        {"do": "evaluate", "position": "startpos"},
        {"do": "search", "position": "startpos moves 7g7f 3c3d", "playouts": 200},
    ]
    assert wasm.answers_in_page(browser, jobs) == wasm.answers(jobs)
