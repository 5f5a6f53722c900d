"""Where the libraries of CUDA are looked for."""

import sys
from pathlib import Path
from typing import Any

import pytest

from goryu.evaluators.network import providers
from goryu.evaluators.network.cuda_libraries import folders, preload_cuda


@pytest.fixture
def nvidia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """NVIDIA's packages in a folder without onnxruntime, as PyTorch brings them."""
    for name in ("cu13", "cudnn", "nccl"):
        (tmp_path / "nvidia" / name / "lib").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    return tmp_path / "nvidia"


def test_libraries_are_loaded_from_wherever_the_packages_are(nvidia: Path) -> None:
    calls: list[dict[str, Any]] = []

    class Onnxruntime:
        cuda_version = "13.0"

        @staticmethod
        def preload_dlls(**options: Any) -> None:
            calls.append(options)

    preload_cuda(Onnxruntime)
    found = [(call["directory"], call["cuda"], call["cudnn"]) for call in calls[:-1]]
    assert (str(nvidia / "cu13" / "lib"), True, False) in found
    assert (str(nvidia / "cudnn" / "lib"), False, True) in found
    assert calls[-1] == {}, "and as onnxruntime itself does"
    assert nvidia / "cu13" / "lib" not in folders("12.8")


def test_distributions_of_onnxruntime_in_one_folder_are_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parcel brings one for GPUs into a folder of its own, in front of the machine's."""
    for number, name in ((1, "onnxruntime"), (2, "onnxruntime_gpu")):
        folder = tmp_path / f"site{number}" / f"{name}-1.31.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.31\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site2"), str(tmp_path / "site1")])
    assert providers.installation_problems() == []
    (tmp_path / "site1" / "onnxruntime-1.31.dist-info").rename(
        tmp_path / "site2" / "onnxruntime-1.31.dist-info"
    )
    assert "onnxruntime and onnxruntime-gpu" in providers.installation_problems()[0]
