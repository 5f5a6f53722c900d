"""Every example in a docstring of the installed goryu gives the result that it shows."""

import doctest
import importlib
import pkgutil

import pytest

import goryu

MODULES = sorted(module.name for module in pkgutil.walk_packages(goryu.__path__, "goryu."))
OPTIONAL = {"torch", "onnx", "cshogi", "rsshogi", "matplotlib", "rich"}


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_the_examples_are_true(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        pytest.skip(f"{error.name} is not installed")
    assert doctest.testmod(module).failed == 0
