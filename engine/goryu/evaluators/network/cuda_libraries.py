"""Loads the libraries of CUDA and cuDNN before onnxruntime looks for them.

`onnxruntime.preload_dlls()` looks for NVIDIA's packages only beside itself. They may lie elsewhere: PyTorch
brings them into its own environment, and onnxruntime may be installed into another folder.
Source: https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html, "Preload DLLs".
"""

import importlib.util
from pathlib import Path
from typing import Any


def preload_cuda(onnxruntime: Any) -> None:
    """Loads CUDA and cuDNN from the folders of NVIDIA's packages, or else from where the system has them."""
    for folder in folders(str(onnxruntime.cuda_version or "")):
        is_cudnn = folder.parent.name == "cudnn"
        onnxruntime.preload_dlls(cuda=not is_cudnn, cudnn=is_cudnn, msvc=False, directory=str(folder))
    onnxruntime.preload_dlls()  # What is loaded already is found again by its name.


def folders(cuda_version: str) -> list[Path]:
    """Returns the folders with libraries in NVIDIA's packages, wherever Python finds them.

    cuda_version: that of onnxruntime, such as "13.0". Since CUDA 13 its libraries share one folder; older
    packages have one each, which only `preload_dlls` itself knows.
    """
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    packages = [Path(each) for each in (spec.submodule_search_locations or ())] if spec else []
    names = (f"cu{cuda_version.partition('.')[0]}", "cudnn")
    found = [package / name / "lib" for package in packages for name in names]
    return [folder for folder in found if folder.is_dir()]
