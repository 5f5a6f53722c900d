"""Every example in a docstring of the installed goryu gives the result that it shows."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import goryu

MODULES = sorted(module.name for module in pkgutil.walk_packages(goryu.__path__, "goryu."))
FOLDER = Path(goryu.__path__[0])
OPTIONAL = {"torch", "onnx", "cshogi", "rsshogi", "matplotlib", "rich"}


def test_the_examples_are_true() -> None:
    wrong = []
    for name in MODULES:
        path = FOLDER.joinpath(*name.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if not path.is_file() or ">>>" not in path.read_text("utf-8"):  # Looking for examples takes time.
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
