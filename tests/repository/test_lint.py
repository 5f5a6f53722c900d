"""The checks of `dev.py lint` that must pass, as tests: they run in parallel with the others."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dev import checks, run_check

COMMANDS = checks(Path(sys.prefix))
NAMES = [pytest.param("C++", marks=pytest.mark.slow) if name == "C++" else name for name in COMMANDS]


@pytest.mark.parametrize("name", NAMES)
def test_lint(name: str) -> None:
    module = {"layers": "importlinter", "C++": None}.get(name, name)
    if module and not find_spec(module):
        pytest.skip(f"{module} is not installed")
    done = run_check(COMMANDS[name])
    if done.returncode != 0:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
