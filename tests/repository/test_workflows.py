"""The workflows of .github/: actionlint for their form, zizmor for their safety."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
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


def test_all_that_the_release_fetches_has_a_hash() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    installs = re.findall(r"pip install (.+)|(pipx run .+)|(npx? .+)", text)
    assert installs
    assert all(pip.startswith(("--require-hashes ", '--no-deps "$wheel"')) for pip, *_ in installs), installs
    assert text.count("curl ") == text.count("sha256sum --check") == 1
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name) for name in re.findall(r"uses: (\S+)", text))
    for path in (ROOT / ".github" / "requirements").glob("*.txt"):
        packages = re.split(r"\n(?=\w)", path.read_text("utf-8"))[1:]
        assert packages
        assert all(re.search(r"^[\w.-]+==\S.*\n    --hash=sha256:", package) for package in packages), path


def test_the_zips_hold_what_the_package_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    for runtime in ("cpu", "directml"):
        text = (ROOT / ".github" / "requirements" / f"windows-{runtime}.txt").read_text("utf-8")
        wanted = {
            re.split(r"[<>=\[]", one)[0] for one in project["dependencies"] + extras[runtime] + extras["web"]
        }
        assert wanted | {"msvc-runtime"} <= set(re.findall(r"(?m)^([\w.-]+)==", text))
