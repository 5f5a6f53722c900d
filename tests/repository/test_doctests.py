"""Every example in a docstring of the installed goryu gives the result that it shows."""

import doctest
import importlib
import pkgutil

import goryu

MODULES = sorted(module.name for module in pkgutil.walk_packages(goryu.__path__, "goryu."))
OPTIONAL = {"torch", "onnx", "cshogi", "rsshogi", "matplotlib", "rich"}


def test_the_examples_are_true() -> None:
    wrong = []
    for name in MODULES:
        if name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name not in OPTIONAL:
                raise
            continue
        if doctest.testmod(module).failed:
            wrong.append(name)
    assert wrong == []
