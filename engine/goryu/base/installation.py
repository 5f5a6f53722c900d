"""Finds missing packages, and names the command that installs them: pip's for an installed goryu, dev.py's
in a checkout.

Imports nothing of goryu and no other package, so that every message may use it.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

REQUIRED = {"numpy": "numpy", "shogi": "python-shogi"}
"""The packages without which no game can be played: module and name."""

CHECKOUT = Path(__file__).resolve().parents[3]
"""The folder of the checkout that this package is in; any other folder if goryu is installed."""


def is_checkout() -> bool:
    """Does this package run from a checkout?"""
    return (CHECKOUT / "tools" / "dev.py").is_file()


def missing_packages() -> list[str]:
    """Returns the names of the required packages that this Python lacks, without importing any."""
    return [name for module, name in REQUIRED.items() if find_spec(module) is None]


def how_to_install(extra: str = "") -> str:
    """Returns the command that installs goryu with an extra, such as "tools" or "cuda".

    For an installed goryu, pip adds the extra's packages and leaves goryu as it is.

    >>> how_to_install("tools").endswith(("setup tools", '"goryu[tools]"'))
    True
    """
    if not is_checkout():
        return f'pip install "goryu[{extra}]"' if extra else "pip install goryu"
    return f"{'py -3' if sys.platform == 'win32' else 'python3'} tools/dev.py setup {extra}".rstrip()
