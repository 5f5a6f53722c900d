"""A parser of command lines whose headings are in the user's language.

argparse has its own texts in English only: "usage:", "options:" and the like. Messages about wrong arguments
stay English.
"""

import argparse
from typing import Any

from goryu.language import tr

__all__ = ["ArgumentParser"]


class ArgumentParser(argparse.ArgumentParser):
    """`argparse.ArgumentParser` with translated headings."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, add_help=False, **options)
        self.add_argument("-h", "--help", action="help", help=tr("show this help message and exit"))
        for group in self._action_groups:
            group.title = tr(group.title or "")

    def format_help(self) -> str:
        """Returns the help, which begins with the usage."""
        return _translated(super().format_help())

    def format_usage(self) -> str:
        """Returns the usage in a line or two."""
        return _translated(super().format_usage())


def _translated(text: str) -> str:
    english = "usage: "
    return tr(english) + text.removeprefix(english) if text.startswith(english) else text
