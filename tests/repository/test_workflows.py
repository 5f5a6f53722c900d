"""The workflows of .github/: actionlint for their form, zizmor for their safety."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT

COMMANDS = (["actionlint"], ["zizmor", "--offline", "--no-progress", "--quiet", ".github"])


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_checker_finds_no_fault_in_the_workflows(command: list[str]) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("actionlint reads the workflows of a git repository only")
    folders = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    program = shutil.which(command[0], path=folders)
    if program is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
