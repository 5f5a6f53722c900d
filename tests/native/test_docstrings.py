"""A native class has the docstrings of its Python class, where both have one."""

import inspect
from types import ModuleType
from typing import Any

import pytest

from goryu.games.perft import perft
from goryu.games.reversi import Reversi
from goryu.games.shogi import Board
from goryu.search.graph.node_table import NodeTable
from goryu.search.graph.puct import Puct
from goryu.search.mates.mate import mate_in_one, solve


def docstring(thing: Any) -> str:
    """Returns the docstring without the paragraphs about the native implementation."""
    return inspect.cleandoc(thing.__doc__ or "").partition("\n\nNative: ")[0]


@pytest.mark.parametrize("python", [Board, Reversi, Puct], ids=lambda python: python.__name__)
def test_classes_have_the_same_docstring(python: type, native: ModuleType) -> None:
    assert docstring(getattr(native, python.__name__)) == docstring(python)


@pytest.mark.parametrize("python", [Board, Reversi, Puct, NodeTable])
def test_methods_have_the_same_docstrings(python: type, native: ModuleType) -> None:
    other = getattr(native, python.__name__)
    members = [name for name in dir(python) if not name.startswith("_") and hasattr(other, name)]
    documented = [name for name in members if docstring(getattr(python, name))]
    assert documented
    for name in documented:
        assert docstring(getattr(other, name)) == docstring(getattr(python, name)), name


@pytest.mark.parametrize("python", [mate_in_one, perft, solve], ids=lambda python: python.__name__)
def test_functions_have_the_same_docstring(python: Any, native: ModuleType) -> None:
    assert docstring(getattr(native, python.__name__)) == docstring(python)
