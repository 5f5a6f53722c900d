"""Stage 1: what the machine is, and which providers of onnxruntime truly run a network on it.

onnxruntime may open a session on a GPU and still compute on the CPU. Its profile of one call names the
provider of every operator, so a provider that falls back silently is found out.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from goryu.evaluators.network.cuda_libraries import folders
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import import_onnxruntime, open_session
from goryu.implementation import IMPLEMENTATION, WHY
from gpu.plan import Contact, ContactError, Found, Item, Stage

PACKAGES = (
    "numpy", "onnxruntime", "onnxruntime-gpu", "onnx", "torch", "triton", "python-shogi", "rsshogi", "cshogi",
    "rich", "nvidia-cublas", "nvidia-cudnn-cu13", "nvidia-cuda-runtime", "tensorrt-cu13", "Cython",
)  # fmt: skip
"""Those whose versions matter."""

LEAST_SHARE = 0.5
"""Of the time of the operators, the least that a provider takes if it truly runs the network."""

BATCH = 8


def items(contact: Contact) -> Iterator[Item]:
    """Yields the facts, and a check of each backend."""
    yield Item("hardware", lambda seconds: hardware())
    yield Item("software", lambda seconds: software())

    def check(backend: str, seconds: float) -> Found:
        path = contact.random_network("dlshogi", "1x16" if contact.is_quick else "10x128")
        return provider(contact, path, backend)

    for backend in contact.backends:
        yield Item(f"provider {backend}", partial(check, backend))


STAGE = Stage("machine", 3.0, items)


def hardware() -> Found:
    """Returns what processor, memory and GPU are."""
    return {
        "gpu": gpu_name(),
        "processor": _from_proc("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": os.cpu_count(),
        "usable cores": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        "memory": _from_proc("/proc/meminfo", "MemTotal"),
        "system": platform.platform(),
    }


def _from_proc(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)


def software() -> Found:
    """Returns versions, what onnxruntime was built for and offers, and where NVIDIA's packages lie."""
    onnxruntime = import_onnxruntime()
    cuda = str(getattr(onnxruntime, "cuda_version", "") or "")
    return {
        "python": sys.version.split()[0],
        "goryu": f"{IMPLEMENTATION} ({WHY})",
        "onnxruntime": f"{onnxruntime.__version__}, built for CUDA {cuda or '-'}",
        "providers": onnxruntime.get_available_providers(),
        "nvidia packages": [str(folder) for folder in folders(cuda)],
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def provider(contact: Contact, path: Path, backend: str) -> Found:
    """Returns the share of the operators' time by provider.

    Raises BackendError if the backend does not start, ContactError if others do its work.
    """
    name = "cpu" if backend == "onnxruntime" else backend
    before = memory_mb()
    with tempfile.TemporaryDirectory() as folder:
        session = open_session(path, name, threads=contact.threads, profile=Path(folder) / "profile")
        inputs = {
            node.name: np.random.default_rng(1).random((BATCH, *node.shape[1:]), np.float32)
            for node in session.handle.get_inputs()
        }
        for _ in range(3):
            session.handle.run(None, inputs)
        events = json.loads(Path(session.handle.end_profiling()).read_text("utf-8"))
    shares = provider_shares(events)
    wanted = session.handle.get_providers()[0]
    if shares.get(wanted, 0.0) < LEAST_SHARE:
        raise ContactError(f"{wanted} was opened, but the time of the operators is spent by {shares}")
    network = NetworkEvaluator(path, backend=backend, batch_size=BATCH, threads=contact.threads)
    return {
        "shares": shares,
        "memory_mb": None if before is None or (after := memory_mb()) is None else after - before,
        "network": network.description,
        "note": network.note,
    }


def provider_shares(events: list[dict[str, Any]]) -> dict[str, float]:
    """Returns the share of each provider in the time of the operators, by onnxruntime's profile."""
    times: Counter[str] = Counter()
    for event in events:
        name = event.get("args", {}).get("provider")
        if event.get("cat") == "Node" and name:
            times[name] += event["dur"]
    total = sum(times.values()) or 1
    return {name: round(spent / total, 3) for name, spent in times.most_common()}


def memory_mb(run: Callable[..., Any] = subprocess.run) -> float | None:
    """Returns the memory in use on the first NVIDIA GPU; None if its driver does not say."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        done = run(query, capture_output=True, text=True, timeout=10, check=True)
        return float(done.stdout.split()[0])
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return None


def gpu_name(run: Callable[..., Any] = subprocess.run) -> str:
    """Returns name, memory and driver of the NVIDIA GPUs, or why they are not known."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        return "; ".join(
            run(query, capture_output=True, text=True, timeout=10, check=True).stdout.splitlines()
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"unknown ({type(error).__name__})"
