"""The networks that a command line names: files, and the one that the package miniosl brings along."""

import warnings
from hashlib import sha256
from pathlib import Path

from goryu.evaluators.miniosl import MINIOSL, MinioslEvaluator, miniosl_file
from goryu.evaluators.network import NetworkEvaluator

__all__ = ["MODEL_HELP", "named_network", "open_network"]

MODEL_HELP = (
    "or miniosl: the network of that package (pip install --no-deps miniosl), "
    "or miniosl:FILE.onnx: the same made smaller by tools/quantize.py"
)


def open_network(
    model: Path, *, batch_size: int = 16, backend: str = "cpu", temperature: float = 1.0
) -> NetworkEvaluator | MinioslEvaluator:
    """Loads a network for one thread: a file, `miniosl` or `miniosl:FILE`.

    The arguments are those of `NetworkEvaluator`. A backend that was asked for by name is used or is an
    error: hours of work shall not take days on the CPU. `auto` may go on with the CPU, and warns of why.
    Raises ModelError, BackendError, or ValueError for a temperature that is none.
    """
    _check(temperature)
    network: NetworkEvaluator | MinioslEvaluator
    if teacher := miniosl_file(model):
        network = MinioslEvaluator(teacher, batch_size=batch_size, backend=backend, temperature=temperature)
    else:
        network = NetworkEvaluator(
            model,
            batch_size=batch_size,
            backend=backend,
            threads=1,
            allows_fallback=backend == "auto",
            temperature=temperature,
        )
    for note in network.notes:
        warnings.warn(note, stacklevel=2)
    return network


def named_network(model: Path, temperature: float = 1.0) -> str:
    """Returns a network's name in records, with a few digits of its file's sha256: tools/train.py calls all
    networks of one size alike.

    Raises ModelError, OSError, or ValueError for a temperature that is none.
    """
    _check(temperature)
    teacher = miniosl_file(model)
    name, path = (MINIOSL, teacher) if teacher else (model.stem, model)
    tempered = "" if temperature == 1.0 else f" at temperature {temperature:g}"
    return f"{name} {sha256(path.read_bytes()).hexdigest()[:8]}{tempered}"


def _check(temperature: float) -> None:
    if not temperature > 0.0:
        raise ValueError(f"--temperature {temperature:g}: expected more than 0")
