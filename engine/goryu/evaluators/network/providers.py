"""Opens a model with the requested execution provider of onnxruntime, and checks that it is the one in use.

When a GPU cannot be used, onnxruntime falls back to the CPU and reports it only on stderr, so that a user
waits for a GPU that is idle. Here a backend either works or raises an error with the reason; which one to try
next is for the caller to decide (`backend_chain`, `open_on_first`).

onnxruntime is imported only when a session is opened. It may print to stdout, so a program that speaks a
protocol there must redirect the library's output.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any, TypeVar

from goryu.base.errors import GoryuError, first_line
from goryu.base.files import home_folder
from goryu.base.installation import how_to_install
from goryu.base.language import tr
from goryu.evaluators.formats.external_data import read_model
from goryu.evaluators.network.cuda_libraries import preload_cuda
from goryu.evaluators.network.model_files import ModelError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Backend:
    """What runs networks.

    shown: the name that networks report; in small letters it is the one that a user chooses.
    library: how onnxruntime's provider is named; "" for our own kernel, and for the CPU without it.
    fallbacks: the backends to try next; with a provider, they also run the operators that it lacks.
    is_gpu: does it run on something else than the CPU?
    is_automatic: does "auto" try it?
    halves: is a model in 32 bits converted to 16? TensorRT, CoreML and OpenVINO choose their own precision.
    has_sizes: has each batch size a session of its own? See `PlanesRunner.handle`.
    buffers: onnxruntime's name of the device that has our buffers, or None.
    """

    shown: str
    library: str
    fallbacks: tuple[str, ...] = ("cpu",)
    is_gpu: bool = False
    is_automatic: bool = False
    halves: bool = False
    has_sizes: bool = False
    buffers: str | None = None

    @property
    def provider(self) -> str:
        """Onnxruntime's provider."""
        return f"{self.library}ExecutionProvider"

    @property
    def packs(self) -> bool:
        """Do positions travel to it as bits? On the CPU planes are faster."""
        return self.is_gpu


_BACKENDS = (
    # Not automatic: it compiles each new network for minutes.
    Backend("TensorRT", "Tensorrt", ("cuda", "cpu"), is_gpu=True, buffers="cuda"),
    Backend("CUDA", "CUDA", is_gpu=True, is_automatic=True, halves=True, has_sizes=True, buffers="cuda"),
    Backend("DirectML", "Dml", is_gpu=True, is_automatic=True, halves=True, has_sizes=True),
    # Apple's, on whatever it chooses. Not automatic, since it has not been tried.
    Backend("CoreML", "CoreML", is_gpu=True, has_sizes=True),
    # Intel's, on a GPU of Intel, or on a CPU, where it is slower than our own code.
    Backend("OpenVINO-GPU", "OpenVINO", is_gpu=True, has_sizes=True),
    Backend("OpenVINO", "OpenVINO", has_sizes=True),
    # Our own kernel (`kernel.py`) for the networks that it knows, onnxruntime for others.
    Backend("CPU", "CPU", (), is_automatic=True, buffers="cpu"),
    # Our own kernel in integers, and in float32.
    Backend("Winograd", "", ("onnxruntime",)),
    Backend("Winograd-float", "", ("onnxruntime",)),
    Backend("onnxruntime", "", ()),
)

KNOWN = {backend.shown.lower(): backend for backend in _BACKENDS}
"""The backends by the names that a user chooses, the GPUs first."""

BACKENDS = ("auto", *KNOWN)
"""The backends that a user may choose."""

GPU_BACKENDS = tuple(name for name, known in KNOWN.items() if known.is_gpu)
CPU_BACKENDS = tuple(name for name in KNOWN if name not in GPU_BACKENDS)

_DISTRIBUTIONS = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-openvino",
    "onnxruntime-webgpu",
)
"""All of these install the same package `onnxruntime` over each other."""

_CUDA_ADVICE = (
    f"; the extra cuda brings CUDA and cuDNN: {how_to_install('cuda')} (for drivers before 580: cuda12)"
)

_SEVERITY_ERROR = 3


class BackendError(GoryuError, RuntimeError):
    """A backend, or onnxruntime as a whole, cannot be used, or no longer, as after the loss of a GPU."""


RUN_ERRORS = (BackendError, ModelError)
"""The errors with which a loaded network may fail: its device has failed, or an answer is not a number."""


def call_onnxruntime(function: Callable[..., T], *arguments: Any) -> T:
    """Returns what a function of onnxruntime does; its errors, which have no base class, are BackendErrors.

    All but that of our own memory, which no other backend has more of.
    """
    try:
        return function(*arguments)
    except MemoryError:
        raise
    except Exception as error:
        raise BackendError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Session:
    """An open model.

    handle: the onnxruntime.InferenceSession.
    backend: the one in use, as `Backend.shown`.
    buffer_device: where it wants our buffers, if not where the backend does.
    """

    handle: Any
    backend: str
    onnxruntime_version: str
    buffer_device: str | None = None

    @property
    def kind(self) -> Backend:
        """What is known of the backend."""
        return KNOWN[self.backend.lower()]


def backend_chain(backend: str, allows_fallback: bool) -> tuple[str, ...]:
    """Returns the backends to try for a requested one, in this order; none of them is "auto".

    "auto" requests any backend that works, so it has several even without a fallback.

    >>> backend_chain("tensorrt", allows_fallback=True), backend_chain("tensorrt", allows_fallback=False)
    (('tensorrt', 'cuda', 'cpu'), ('tensorrt',))
    """
    if backend != "auto":
        return (backend, *(KNOWN[backend].fallbacks if backend in KNOWN and allows_fallback else ()))
    try:
        onnxruntime = import_onnxruntime()
    except BackendError:
        return ("cpu",)  # Opening a session raises the same error again.
    automatic = (name for name, known in KNOWN.items() if known.is_automatic)
    return tuple(name for name in automatic if _obstacle(onnxruntime, name) is None)


def open_on_first(backends: Sequence[str], open_on: Callable[[str], T], report: Callable[[str], None]) -> T:
    """Returns `open_on(backend)` for the first of the backends that works.

    report: takes one line for each backend that does not, and for each problem of the installation.

    Raises:
        BackendError: no backend works; the error of the last one.
    """
    for problem in installation_problems():
        report(problem)
    *preferred, last = backends
    for backend in preferred:
        try:
            return open_on(backend)
        except BackendError as error:
            report(str(error))
    return open_on(last)


def open_session(
    path: Path,
    backend: str,
    *,
    threads: int = 1,
    device: int = 0,
    axes: Mapping[str, int] | None = None,
    content: bytes | None = None,
    settings: Mapping[str, str] | None = None,
    profile: Path | None = None,
) -> Session:
    """Opens a model file on one backend of onnxruntime.

    threads: CPU threads for one network call. device: number of the GPU.
    axes: the lengths of free axes of the model, by their names, if they will always be the same.
    content: what to open instead of the content of the file, which still gives its name to messages.
    settings: of the provider, in place of ours. profile: the beginning of the path of onnxruntime's profile.

    Raises:
        ModelError: the file is missing or onnxruntime cannot read it.
        BackendError: the backend cannot be used.
    """
    of_onnxruntime = [name for name, known in KNOWN.items() if known.library]
    if backend not in of_onnxruntime:
        raise BackendError(f"backend {backend!r}: expected one of {', '.join(of_onnxruntime)}")
    known = KNOWN[backend]
    check_file(path)
    onnxruntime = import_onnxruntime()
    obstacle = _obstacle(onnxruntime, backend)
    if obstacle is not None:
        raise BackendError(f"{_unusable(known)}: {obstacle}")
    if backend in ("cuda", "tensorrt"):
        preload_cuda(onnxruntime)
    options = _session_options(onnxruntime, backend, threads, axes or {})
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, str(profile)
    try:
        providers = _providers(backend, path, device, content, threads)
        providers[0][1].update(settings or {})
        # enable_fallback=0: onnxruntime must not replace the provider, neither now nor in mid-game.
        handle = onnxruntime.InferenceSession(
            content or str(path.resolve()), options, providers=providers, enable_fallback=0
        )
    except Exception as error:  # onnxruntime's errors have no other base class.
        if backend == "cpu":
            problem = tr("onnxruntime cannot read it ({error})", error=first_line(error))
            raise ModelError(f"model {path}: {problem}") from error
        raise BackendError(f"{_unusable(known)}: {first_line(error)}") from error
    if handle.get_providers()[0] != known.provider:
        raise BackendError(f"{_unusable(known)}: {_unstarted(onnxruntime, backend)}")
    return Session(handle, known.shown, str(onnxruntime.__version__))


def check_file(path: Path) -> None:
    if not path.is_file():
        problem = tr("not a regular file") if path.exists() else tr("no such file")
        raise ModelError(f"model {path}: {problem}")
    with path.open("rb") as file:
        # A zip file, as .pth and Chainer's .npz are, or HDF5, Chainer's other format.
        is_archive = file.read(4) in (b"PK\x03\x04", b"\x89HDF")
    if is_archive:
        command = f'goryu convert "{path}" --out {path.with_suffix(".onnx").name}'
        problem = tr("a file of PyTorch or Chainer, not ONNX; first: {command}", command=command)
        raise ModelError(f"model {path}: {problem}")


def absent_backends() -> list[str]:
    """Returns the backends that the installed onnxruntime does not contain; BackendError if there is none."""
    available = import_onnxruntime().get_available_providers()
    return [name for name, known in KNOWN.items() if known.library and known.provider not in available]


def _obstacle(onnxruntime: Any, name: str) -> str | None:
    """Returns why a backend cannot work on this machine, or None if only an attempt can show it."""
    if KNOWN[name].provider not in onnxruntime.get_available_providers():
        advice = f": {how_to_install('directml')}" if name == "directml" and sys.platform == "win32" else ""
        advice = f": {how_to_install('openvino')}" if name.startswith("openvino") else advice
        return f"the installed onnxruntime does not contain it{advice}"
    if name in ("cuda", "tensorrt"):
        driver = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
        try:
            ctypes.CDLL(driver)
        except OSError:
            return f"no NVIDIA driver ({driver} is missing)"
    return None


def _unusable(backend: Backend) -> str:
    return tr("{backend} cannot be used", backend=backend.shown)


def _unstarted(onnxruntime: Any, name: str) -> str:
    """Returns why onnxruntime did not start a backend, which it reports only on stderr, and some advice."""
    library = f"onnxruntime_providers_{name.removesuffix('-gpu')}"
    library = f"{library}.dll" if sys.platform == "win32" else f"lib{library}.so"
    try:
        ctypes.CDLL(str(Path(onnxruntime.__file__).parent / "capi" / library))
        reason = "no GPU of Intel, or no driver?" if name == "openvino-gpu" else "its reason is on stderr"
    except OSError as error:
        reason = first_line(error)
    return f"onnxruntime could not start it: {reason}{_CUDA_ADVICE if name == 'cuda' else ''}"


def _session_options(onnxruntime: Any, name: str, threads: int, axes: Mapping[str, int]) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _SEVERITY_ERROR
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    # A thread that spins while it waits takes the core from the search, or from the opponent in a match.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if name == "directml":
        options.enable_mem_pattern = False  # DirectML's requirement
    for axis, length in axes.items():
        options.add_free_dimension_override_by_name(axis, length)
    return options


def _providers(
    backend: str, path: Path, device: int, content: bytes | None, threads: int
) -> list[tuple[str, dict[str, str]]]:
    """Returns the provider of a backend, and those that run the few operators that it does not implement."""
    names = (backend, *KNOWN[backend].fallbacks)
    return [(KNOWN[name].provider, _provider_options(name, path, device, content, threads)) for name in names]


def _provider_options(
    name: str, path: Path, device: int, model: bytes | None = None, threads: int = 1
) -> dict[str, str]:
    if name in ("cpu", "coreml"):
        return {}
    if name == "openvino":  # "FP32": on some processors its own choice is bfloat16, with other answers.
        return {"device_type": "CPU", "precision": "FP32", "num_of_threads": str(threads), "num_streams": "1"}
    if name == "openvino-gpu":
        return {"device_type": f"GPU.{device}"}
    options = {"device_id": str(device)}
    if name == "tensorrt":
        # TensorRT does not notice other weights: networks of one shape have files of one size, and a network
        # that was trained further often keeps its name.
        content = sha256(model or read_model(path)).hexdigest()[:16]
        name = f"{path.stem}-{content}" if path.stem.isascii() else content
        cache = compiled_networks() / f"{name}-gpu{device}-ort{_library_version()}"
        cache.mkdir(parents=True, exist_ok=True)
        options |= {
            "trt_fp16_enable": "True",  # Python's names: onnxruntime refuses "1".
            "trt_engine_cache_enable": "True",
            "trt_engine_cache_path": str(cache),
        }
    return options


def _library_version() -> str:
    return next((version(name) for name in _DISTRIBUTIONS if _is_installed(name)), "unknown")


def compiled_networks() -> Path:
    """Returns the folder for the networks that TensorRT has compiled.

    On Windows its name must be ASCII, whatever the user's name is (onnxruntime's issues 8975 and 22182).
    """
    folder = home_folder() / ".cache"
    if sys.platform == "win32" and not str(folder).isascii():
        folder = Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData"))
    return folder / "goryu" / "tensorrt"


def import_onnxruntime() -> Any:
    """Returns the module; raises BackendError with advice if it cannot be used."""
    try:
        import onnxruntime
    except ImportError as error:
        advice = how_to_install("cpu")
        if sys.platform == "win32" and not isinstance(error, ModuleNotFoundError):
            advice = tr("install Microsoft's newest Visual C++ Redistributable, vc_redist.x64.exe")
        raise BackendError(
            f"{tr('onnxruntime cannot be imported ({error})', error=error)}: {advice}"
        ) from error
    if not hasattr(onnxruntime, "InferenceSession"):
        raise BackendError(
            "onnxruntime is an empty package, as after removing one of two distributions: "
            "pip uninstall every onnxruntime*, then install one"
        )
    onnxruntime.set_default_logger_severity(_SEVERITY_ERROR)
    onnxruntime.disable_telemetry_events()  # On Windows; elsewhere goryu/__init__.py did.
    return onnxruntime


def installation_problems() -> list[str]:
    """Returns the problems of the installation of onnxruntime, one line each; normally none.

    Distributions in different folders are none: Python takes the first.
    """
    folders: dict[str, list[str]] = {}
    for name in filter(_is_installed, _DISTRIBUTIONS):
        folders.setdefault(str(distribution(name).locate_file("")), []).append(name)
    return [
        f"{' and '.join(found)} are installed over each other: pip uninstall all of them, then install one"
        for found in folders.values()
        if len(found) > 1
    ]


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True
