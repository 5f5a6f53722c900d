"""Clients by other authors play games with the engine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import goryu

cshogi = pytest.importorskip("cshogi")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="starts the engine by a shell script")

QUICK = (("Evaluator", "hashed"), ("USI_Hash", "64"))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The engine as a file: cshogi starts a program without arguments."""
    path = tmp_path / "goryu engine.sh"
    # Not every client passes on its environment.
    packages = Path(goryu.__file__).parents[1]
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" -u -m goryu\n')
    path.chmod(0o755)
    return path


@pytest.mark.slow
def test_the_command_line_of_cshogi_plays_games(program: Path, tmp_path: Path) -> None:
    """Without --ponder. With it, cshogi sends `go ponder` from a thread, which a busy machine may start after
    the `ponderhit` or `gameover` for this search. No engine can answer that, and cshogi does not notice the
    end of the engine (it compares bytes with ""). The sessions of `guis.txt` test pondering.
    """
    options = ",".join(f"{name}:{value}" for name, value in QUICK)
    command = [sys.executable, "-m", "cshogi.cli", str(program), str(program)]
    done = subprocess.run(
        [*command, "--options1", options, "--options2", options, "--games", "2", "--byoyomi", "50"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=300,  # It does not notice the end of an engine.
    )
    assert done.returncode == 0, done.stderr
    assert "2 of 2 games finished" in done.stdout
    assert "反則" not in done.stdout, "a foul"
