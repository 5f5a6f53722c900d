"""Names the command that installs what is missing: pip's for an installed package, dev.py's in a checkout.

Imports nothing of goryu and no other package, so that every message may use it.
"""

import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
"""The folder of the checkout that this package is in; any other folder if goryu is installed."""


def is_checkout() -> bool:
    """Does this package run from a checkout?"""
    return (CHECKOUT / "tools" / "dev.py").is_file()


def how_to_install(extra: str) -> str:
    """Returns the command that installs an extra of goryu, such as "tools" or "cuda".

    >>> how_to_install("tools").endswith(("setup tools", '"goryu[tools]"'))
    True
    """
    if not is_checkout():
        return f'pip install "goryu[{extra}]"'
    return f"{'py -3' if sys.platform == 'win32' else 'python3'} tools/dev.py setup {extra}"
