"""The engine as a WebAssembly module, built for tests."""

import importlib
import os
import shutil
from typing import Any

import pytest

Job = dict[str, Any]

wasm: Any = importlib.import_module("wasm")
"""tools/wasm.py"""


@pytest.fixture(scope="module")
def module() -> None:
    """The module in build/wasm, compiled if something has changed."""
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    if not wasm.ZIG.exists() and "GORYU_TEST_WASM" not in os.environ:
        pytest.skip("the compiler is not installed: python3 tools/dev.py wasm, or GORYU_TEST_WASM=1")
    wasm.make()
