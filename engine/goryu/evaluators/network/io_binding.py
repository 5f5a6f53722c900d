"""A network call without copies: inputs and outputs are fixed arrays that are bound to the session.

onnxruntime's plain `run` checks and wraps every input and allocates every output. Together with NumPy's work
on the outputs this takes about 45 us (`tools/bench.py`), against 800 us for a batch of four on one core.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from goryu.evaluators.formats.base import Array
from goryu.evaluators.network.providers import call_onnxruntime


class IoBinding:
    """Runs a session on the first rows of some arrays, for one thread at a time.

    session: an onnxruntime.InferenceSession on the CPU.
    inputs: by name, arrays [N, ...] of the model's element types; the caller writes to them.
    outputs: by name, arrays [N, ...] likewise; a call overwrites them.
    """

    def __init__(self, session: Any, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> None:
        arrays = (*inputs.values(), *outputs.values())
        assert all(array.flags.c_contiguous and len(array) == len(arrays[0]) for array in arrays)
        self.outputs = outputs
        self._session = session
        self._inputs = inputs
        self._bindings: dict[int, Any] = {}

    def run(self, count: int) -> None:
        """Evaluates the first `count` rows of the inputs into the same rows of the outputs."""
        binding = self._bindings.get(count)
        if binding is None:
            binding = self._bindings[count] = self._bind(count)
        call_onnxruntime(self._session.run_with_iobinding, binding)

    def _bind(self, count: int) -> Any:
        binding = self._session.io_binding()
        for bind, arrays in ((binding.bind_input, self._inputs), (binding.bind_output, self.outputs)):
            for name, array in arrays.items():
                bind(name, "cpu", 0, np.dtype(array.dtype).type, (count, *array.shape[1:]), array.ctypes.data)
        return binding
