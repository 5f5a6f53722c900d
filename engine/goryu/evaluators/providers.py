"""Where a network runs: onnxruntime's execution providers, asked for by name, and the truth read back.

When a GPU cannot be used onnxruntime takes the CPU and says so only on stderr; a user then waits for a GPU
engine that is not one. So what can be known before is checked before, what is really used is read from the
session, and the reason of every difference is kept.

onnxruntime is imported only when a session is opened. It may print to stdout: whoever speaks a protocol there
must keep it away from the library.
"""

import ctypes
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from goryu.errors import GoryuError
from goryu.evaluators.model_files import ModelError

__all__ = ["BACKENDS", "BackendError", "Session", "import_onnxruntime", "may_use_gpu", "open_session"]

BACKENDS = ("auto", "tensorrt", "cuda", "directml", "cpu")

_AUTOMATIC = ("cuda", "directml", "cpu")
"""TensorRT is for those who ask: it compiles each new network for minutes."""

_FALLBACKS = {"tensorrt": ("cuda", "cpu"), "cuda": ("cpu",), "directml": ("cpu",), "cpu": ()}

_NAMES = {"tensorrt": "TensorRT", "cuda": "CUDA", "directml": "DirectML", "cpu": "CPU"}
_PROVIDERS = {
    "tensorrt": "TensorrtExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "directml": "DmlExecutionProvider",
    "cpu": "CPUExecutionProvider",
}

_DISTRIBUTIONS = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-openvino",
    "onnxruntime-webgpu",
)
"""All of these install the same package `onnxruntime` over each other."""

_CUDA_ADVICE = (
    "; the extra cuda brings CUDA and cuDNN: tools/dev.py setup cuda (for drivers before 580: setup cuda12)"
)

_SEVERITY_ERROR = 3


class BackendError(GoryuError, RuntimeError):
    """The backend asked for cannot be used and no other is allowed, or onnxruntime itself is unusable."""


@dataclass(frozen=True, slots=True)
class Session:
    """An open model.

    handle: the onnxruntime.InferenceSession.
    backend: what it really runs on: "TensorRT", "CUDA", "DirectML" or "CPU".
    notes: one line each: why it is not what was asked for, what is wrong with the installation. Often empty.
    """

    handle: Any
    backend: str
    onnxruntime_version: str
    notes: tuple[str, ...]


def open_session(
    path: Path,
    backend: str = "auto",
    *,
    threads: int = 1,
    device: int = 0,
    allows_fallback: bool = True,
    axes: Mapping[str, int] | None = None,
) -> Session:
    """Opens a model file on a backend, or on the next best one if that cannot be used and `allows_fallback`.

    backend: one of `BACKENDS`; "auto" takes the first of CUDA, DirectML and CPU that works.
    threads: CPU threads for one network call. device: number of the GPU.
    axes: the lengths of free axes of the model, by their names, if they will always be the same.

    Raises:
        ModelError: the file is missing or onnxruntime cannot read it.
        BackendError: no backend that is allowed works.
    """
    if backend not in BACKENDS:
        raise BackendError(f"backend {backend!r}: expected one of {', '.join(BACKENDS)}")
    if not path.is_file():
        raise ModelError(f"model {path}: no such file")
    onnxruntime = import_onnxruntime()
    notes = _installation_notes()
    if backend == "auto":
        wanted = [name for name in _AUTOMATIC if _obstacle(onnxruntime, name) is None]
    else:
        wanted = [backend, *(_FALLBACKS[backend] if allows_fallback else ())]
    for name in wanted:
        handle, problem = _try(onnxruntime, path, name, threads, device, axes or {})
        if handle is not None:
            return Session(handle, _NAMES[name], str(onnxruntime.__version__), tuple(notes))
        notes.append(f"{_NAMES[name]} cannot be used: {problem}")
    raise BackendError("; ".join(notes))


def may_use_gpu(backend: str) -> bool:
    """Might `open_session` choose a GPU, as far as that can be known without trying?

    Raises:
        BackendError: onnxruntime cannot be used at all.
    """
    onnxruntime = import_onnxruntime()
    names = _AUTOMATIC if backend == "auto" else (backend, *_FALLBACKS.get(backend, ()))
    return any(name in _PROVIDERS and _obstacle(onnxruntime, name) is None for name in names if name != "cpu")


def _try(
    onnxruntime: Any, path: Path, name: str, threads: int, device: int, axes: Mapping[str, int]
) -> tuple[Any, str]:
    """Returns a session that runs on the backend, or None and the reason."""
    obstacle = _obstacle(onnxruntime, name)
    if obstacle is not None:
        return None, obstacle
    if name in ("cuda", "tensorrt"):
        onnxruntime.preload_dlls()  # Finds the CUDA libraries of the nvidia-* wheels.
    options = _session_options(onnxruntime, name, threads)
    for axis, length in axes.items():
        options.add_free_dimension_override_by_name(axis, length)
    try:
        # Those behind the first run the few operators that it does not know.
        providers = [
            (_PROVIDERS[each], _provider_options(each, path, device)) for each in (name, *_FALLBACKS[name])
        ]
        # enable_fallback=0: no second try behind our back, neither now nor in the middle of a game.
        handle = onnxruntime.InferenceSession(str(path), options, providers=providers, enable_fallback=0)
    except Exception as error:  # onnxruntime's errors have no other base class.
        if name == "cpu":
            raise ModelError(f"model {path}: onnxruntime cannot read it ({_first_line(error)})") from error
        return None, _first_line(error)
    if handle.get_providers()[0] != _PROVIDERS[name]:
        return None, _unstarted(onnxruntime, name)
    return handle, ""


def _obstacle(onnxruntime: Any, name: str) -> str | None:
    """Returns why a backend cannot work on this machine, as far as that can be known without trying."""
    if _PROVIDERS[name] not in onnxruntime.get_available_providers():
        advice = ": tools/dev.py setup directml" if name == "directml" and sys.platform == "win32" else ""
        return f"the onnxruntime that is installed does not contain it{advice}"
    if name in ("cuda", "tensorrt"):
        driver = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
        try:
            ctypes.CDLL(driver)
        except OSError:
            return f"no NVIDIA driver ({driver} is not there)"
    return None


def _unstarted(onnxruntime: Any, name: str) -> str:
    """Returns why onnxruntime has left a backend out, which it writes to stderr only, and what may help."""
    library = f"onnxruntime_providers_{name}"
    library = f"{library}.dll" if sys.platform == "win32" else f"lib{library}.so"
    try:
        ctypes.CDLL(str(Path(onnxruntime.__file__).parent / "capi" / library))
        reason = "its reason is on stderr"
    except OSError as error:
        reason = _first_line(error)
    return f"onnxruntime could not start it: {reason}{_CUDA_ADVICE if name == 'cuda' else ''}"


def _session_options(onnxruntime: Any, name: str, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _SEVERITY_ERROR
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    # A thread that spins while it waits takes the core from the search, or from the other engine of a match.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if name == "directml":
        options.enable_mem_pattern = False  # DirectML's requirement
    return options


def _provider_options(name: str, path: Path, device: int) -> dict[str, str]:
    if name == "cpu":
        return {}
    options = {"device_id": str(device)}
    if name == "tensorrt":
        # TensorRT notices another GPU or version by itself, but not that the weights are others: networks
        # of one shape have files of one size, and a network that learnt on often keeps its name.
        content = sha256(path.read_bytes()).hexdigest()[:16]
        cache = _compiled_networks() / (f"{path.stem}-{content}" if path.stem.isascii() else content)
        cache.mkdir(parents=True, exist_ok=True)
        options |= {
            "trt_fp16_enable": "True",  # Python's names: onnxruntime refuses "1".
            "trt_engine_cache_enable": "True",
            "trt_engine_cache_path": str(cache),
        }
    return options


def _compiled_networks() -> Path:
    """Returns the folder of what TensorRT has compiled.

    On Windows that must be a name in ASCII, whatever the user's is (onnxruntime's issues 8975 and 22182).
    """
    folder = Path.home() / ".cache"
    if sys.platform == "win32" and not str(folder).isascii():
        folder = Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData"))
    return folder / "goryu" / "tensorrt"


def import_onnxruntime() -> Any:
    """Returns the module; raises BackendError, with what may help, if it cannot be used."""
    try:
        import onnxruntime
    except ImportError as error:
        advice = "pip install onnxruntime"
        if sys.platform == "win32" and not isinstance(error, ModuleNotFoundError):
            advice = "install Microsoft's newest Visual C++ Redistributable, vc_redist.x64.exe"
        raise BackendError(f"onnxruntime cannot be imported ({error}): {advice}") from error
    if not hasattr(onnxruntime, "InferenceSession"):
        raise BackendError(
            "onnxruntime is an empty shell, as after removing one of two distributions: "
            "pip uninstall every onnxruntime*, then install one"
        )
    return onnxruntime


def _installation_notes() -> list[str]:
    found = [name for name in _DISTRIBUTIONS if _is_installed(name)]
    if len(found) < 2:
        return []
    return [
        f"{' and '.join(found)} are installed over each other: pip uninstall all of them, then install one"
    ]


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
