"""The networks that a command line names, for one thread each."""

import math
import warnings
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from goryu.base.errors import InputError
from goryu.evaluators.formats.external_data import read_model
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import backend_chain, open_on_first


def open_network(
    model: Path,
    *,
    batch_size: int = 16,
    backend: str = "cpu",
    temperature: float = 1.0,
    gpus: Sequence[int] = (0,),
    worker: int = 0,
) -> NetworkEvaluator:
    """Loads a network for one thread.

    backend: an explicitly requested one must work: a job planned for hours on a GPU must not silently run for
        days on a CPU. "auto" takes the best that works, and warns about those that do not.

    gpus: the numbers of GPUs that several workers take in turn. worker: the number of this one, from 0.

    Raises ModelError, BackendError, or InputError if the temperature is not above 0.
    """
    _check(temperature)
    device = gpus[worker % len(gpus)]

    def open_on(backend: str) -> NetworkEvaluator:
        return NetworkEvaluator(
            model, batch_size=batch_size, backend=backend, temperature=temperature, device=device
        )

    backends = backend_chain(backend, allows_fallback=False)
    return open_on_first(backends, open_on, lambda problem: warnings.warn(problem, stacklevel=4))


def named_network(model: Path, temperature: float = 1.0) -> str:
    """Returns a network's name for records, with a few digits of its file's sha256.

    The digits are needed because goryu train gives all networks of one size the same name.
    Raises ModelError, OSError, or InputError if the temperature is not above 0.
    """
    _check(temperature)
    tempered = "" if temperature == 1.0 else f" at temperature {temperature:g}"
    return f"{model.stem} {sha256(read_model(model)).hexdigest()[:8]}{tempered}"


def _check(temperature: float) -> None:
    if not 0.0 < temperature < math.inf:
        raise InputError(f"--temperature {temperature:g}: expected a finite number above 0")
