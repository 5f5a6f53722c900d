"""Runs code that a reader has changed: the functions of a file of goryu with other text.

The text is run in the module that it comes from, so a function finds there what it found before. What the
text defines takes the place of what had its name, also where other modules have imported that. Code that
follows the last definition runs after this, for instance a call of the function.
"""

import ast
import io
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import partial
from importlib import import_module
from traceback import format_exception_only, walk_tb
from types import FunctionType
from typing import Any

from goryu.base.errors import GoryuError, InputError
from goryu.base.language import tr

TEXT = "<the text>"
"""The file name of the reader's code in a traceback."""

MOST_PRINTED = 20_000
"""Characters."""


class Printed(io.StringIO):
    """What the code prints; raises InputError when it is too much, so that printing ends at last."""

    def write(self, text: str) -> int:
        """Adds a text."""
        if self.tell() + len(text) > MOST_PRINTED:
            raise InputError(tr("the code prints more than {count} characters", count=MOST_PRINTED))
        return super().write(text)


class Editing:
    """The change that is in force at present, if one is."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def run(self, module: str, owner: str, text: str, given: Mapping[str, Any], printed: Printed) -> None:
        """Takes back the last change and runs a text of a module; raises what the text raises.

        owner: a class of the module, "" for none; each function of the text whose first parameter is `self`
            becomes one of its methods.
        given: values that the text finds by these names.
        """
        self.take_back()
        body = ast.parse(text, TEXT).body
        ends = [i for i, node in enumerate(body, 1) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        end = max(ends, default=0)
        names = vars(import_module(module))
        before = dict(names)
        self._undo.append(partial(_restore, names, before))
        names.update(given)
        with redirect_stdout(printed):
            _execute(body[:end], names)
            for name, value in list(names.items()):
                if value is not before.get(name) and isinstance(value, FunctionType | type):
                    self._put(names, owner, name, before.get(name))
            _execute(body[end:], names)

    def take_back(self) -> None:
        """Makes everything as it was before the last change."""
        while self._undo:
            self._undo.pop()()

    def _put(self, names: dict[str, Any], owner: str, name: str, old: object) -> None:
        """Puts what the text has defined where the other modules, or the objects of the class, find it."""
        new = names[name]
        if owner and isinstance(new, FunctionType) and new.__code__.co_varnames[:1] == ("self",):
            self._set(names[owner], name, new)
        elif isinstance(old, FunctionType | type):
            for module in [module for key, module in sys.modules.items() if key.startswith("goryu")]:
                for key in [key for key, value in vars(module).items() if value is old]:
                    self._set(module, key, new)

    def _set(self, owner: object, name: str, value: object) -> None:
        old = getattr(owner, name, None)
        self._undo.append(
            partial(delattr, owner, name) if old is None else partial(setattr, owner, name, old)
        )
        setattr(owner, name, value)


def line_of(error: BaseException) -> int:
    """Returns the line of the text that an error comes from, counted from 1; 0 if it comes from none."""
    if isinstance(error, SyntaxError) and error.filename == TEXT:
        return error.lineno or 0
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == TEXT]
    return lines[-1] if lines else 0


def message_of(error: BaseException) -> str:
    """Returns what a reader needs of an error: our sentence, or the last line of any other's traceback."""
    return str(error) if isinstance(error, GoryuError) else format_exception_only(error)[-1].strip()


def _execute(body: list[ast.stmt], names: dict[str, Any]) -> None:
    exec(compile(ast.Module(body, []), TEXT, "exec"), names)


def _restore(names: dict[str, Any], before: Mapping[str, Any]) -> None:
    names.clear()
    names.update(before)
