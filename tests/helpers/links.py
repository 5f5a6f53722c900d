"""Symbolic links for tests."""

import sys
from pathlib import Path

import pytest


def link(path: Path, target: Path) -> None:
    """Makes a symbolic link at a path, or skips the test where Windows lets this user make none."""
    try:
        path.symlink_to(target)
    except OSError as error:
        if sys.platform != "win32":
            raise
        pytest.skip(f"Windows makes no link: {error}")
    if sys.platform == "win32" and not path.is_symlink():
        pytest.skip("Wine says that it has made a link, and has made none")
