"""The network evaluator: it turns positions into planes, and a network's outputs into policies and values.

`opening.py` chooses who runs the network, `runners.py` are the ways to do so.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Unpack, cast

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array
from goryu.evaluators.formats.external_data import read_model
from goryu.evaluators.formats.nshogi import NshogiFormat
from goryu.evaluators.network.io_binding import IoBinding
from goryu.evaluators.network.opening import RunnerOptions, open_runner
from goryu.evaluators.network.runners import KernelRunner, PackedRunner, check_numbers
from goryu.evaluators.shogi_state import ShogiState
from goryu.evaluators.softmax import softmax
from goryu.games.shogi import Board
from goryu.games.state import State
from goryu.search.evaluator import Evaluation


class NetworkEvaluator:
    """Evaluates shogi positions with a policy-value network in an ONNX file.

    runner: who runs the network. kernel, packed: for native code, which calls them directly: our own kernel,
        the network that reads positions as bits; None if the network is run in another way.
    format: which planes the network reads, and how it numbers moves.
    batch_size: most positions of one network call; `evaluate` and `run` take more and call several times.
    temperature: of the policy's Boltzmann softmax; 1 leaves the network's policy as it is.
    note: why the network does not run in the fastest way that its backend has; "" if it does.
    sha256: of the model file, in hexadecimal.
    """

    def __init__(
        self, path: Path | str, *, temperature: float = 1.0, **options: Unpack[RunnerOptions]
    ) -> None:
        """Loads the model and runs it once on every batch size.

        Raises:
            ModelError: the file is missing, broken, or not of a known format.
            BackendError: the backend cannot be used, or cannot run this model as requested.
        """
        assert temperature > 0.0
        self.path = Path(path)
        self.temperature = temperature
        self.runner, self.batch_size, self.note = open_runner(self.path, **options)
        self.kernel = self.runner.kernel if isinstance(self.runner, KernelRunner) else None
        self.packed = self.runner.packed if isinstance(self.runner, PackedRunner) else None
        self.format = self.runner.format
        self.evaluate([Board()])  # Finds logits of legal moves that are no numbers.
        self.sha256 = sha256(read_model(self.path)).hexdigest()

    @property
    def backend(self) -> str:
        """The backend in use: "Winograd", or one of onnxruntime such as "CUDA" or "CPU"."""
        return self.runner.backend

    @property
    def description(self) -> str:
        """One line for the user: backend, library, model, format, sizes."""
        return (
            f"backend={self.backend} {self.runner.library} model={self.path.name} "
            f"sha={self.sha256[:8]} format={self.format.name.replace(' ', '-')} "
            f"batch={self.batch_size} {self.runner.settings}"
        )

    def set_draw_value(self, value: float) -> None:
        """Sets the value of a draw to black, in [-1, +1]; only nshogi's networks have an input for it."""
        if isinstance(self.format, NshogiFormat):
            self.format.draw_value = value

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per shogi state, in order; no state is over."""
        if not states:
            return []
        inputs = self.new_inputs(len(states))
        for i, state in enumerate(states):
            self.format.fill(cast(ShogiState, state), [rows[i] for rows in inputs])
        logits, values = self.run(inputs)
        return [
            Evaluation(self._policy(state, row), value)
            for state, row, value in zip(states, logits, values.tolist(), strict=True)
        ]

    def new_inputs(self, count: int) -> list[Array]:
        """Returns zeroed input arrays for `count` positions, first axis the position."""
        return [np.zeros((count, *spec.shape), spec.dtype) for spec in self.format.inputs]

    def new_file_inputs(self, count: int) -> list[Array]:
        """Returns the same in the model's own element types, which `run` need not convert."""
        types = self.runner.element_types
        return [
            np.zeros((count, *spec.shape), element)
            for spec, element in zip(self.format.inputs, types, strict=True)
        ]

    def run(self, inputs: Sequence[Array], count: int | None = None) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, labels] and values [N] in [-1, +1] of N >= 1 positions, given their planes.

        The inputs, one array [N, ...] for each of `format.inputs`, are only read. May be called
        from several threads at once. Raises ModelError if a value is not a number.

        count: N, if the arrays have more rows. They then serve as padding, and nothing is copied.
        """
        logits, values = self.runner.run(inputs, len(inputs[0]) if count is None else count)
        self.check(values)
        return logits, values

    def bind(self, inputs: Sequence[Array]) -> IoBinding | None:
        """Returns a faster call for one thread that writes its planes to `inputs`, or None if there is none.

        Its outputs are the model's: the caller passes them to `format.interpret`, and the values to `check`.
        There is none off the CPU, for a fixed batch size, or if the types of `inputs` are not the model's.
        """
        return self.runner.bind(inputs)

    def check(self, answers: npt.ArrayLike) -> None:
        """Raises ModelError if a value or logit is not finite: a search would go on and play any move."""
        check_numbers(self.path, answers)

    def _policy(self, state: State, logits: Array) -> list[float]:
        turn = state.turn
        labels = [self.format.label(move, turn) for move in state.legal_moves()]
        legal = logits[labels]
        self.check(legal)
        return softmax(legal.tolist(), self.temperature)
