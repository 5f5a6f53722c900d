"""The network in the package miniosl, if the fixture `miniosl` has found it."""

import importlib.util
from pathlib import Path


def network_path() -> Path:
    """Returns the network's file."""
    spec = importlib.util.find_spec("miniosl")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    (folder,) = spec.submodule_search_locations
    return Path(folder) / "pretrained" / "eval.onnx"
