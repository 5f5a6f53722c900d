"""The checks of `dev.py lint` that must pass, as tests: they run in parallel with the others."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dev import checks, run_check

COMMANDS = checks(Path(sys.prefix))


# Without C++: tools/sanitize.py builds with the same warnings.
@pytest.mark.parametrize("name", ["ruff", pytest.param("mypy", marks=pytest.mark.slow), "layers"])
def test_lint(name: str) -> None:
    module = {"layers": "importlinter"}.get(name, name)
    if not find_spec(module):
        pytest.skip(f"{module} is not installed")
    done = run_check(COMMANDS[name])
    if done.returncode != 0:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
