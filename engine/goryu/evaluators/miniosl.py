"""The network of the package miniosl, used as a teacher: it is six times as large as ours.

miniosl (Tomoyuki Kaneko, https://github.com/tkaneko/miniosl, BSD-2-Clause) is a Python interface to
OpenShogiLib, the library under GPSShogi. Its wheel contains a policy-value network of nine blocks with 256
channels, related to KataGo's; the package trains it by self-play with Gumbel searches. Here the package's own
library writes the planes and numbers the moves, and the network labels positions from which a small network
learns (`goryu selfplay reanalyse`). As an engine's `DNN_Model` the same file needs no library: see
`formats/miniosl.py`.

Only the extension module and the network's file are used, because `import miniosl` itself needs PyTorch.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from goryu.evaluators.formats.detect import tensor_shapes
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.providers import open_session
from goryu.evaluators.softmax import softmax
from goryu.games.shogi import move_to_usi
from goryu.games.state import State
from goryu.search.evaluator import Evaluation

if TYPE_CHECKING:
    from goryu.games.shogi import Board

MINIOSL = "miniosl"
"""On a command line, in place of a file name, or as the prefix `miniosl:` of one."""

INPUT, OUTPUTS = "input", ("move", "value")
"""The names of the tensors in use."""


def miniosl_file(model: Path) -> Path | None:
    """Returns the network's file for `miniosl` or `miniosl:FILE`, and None for any other name.

    Raises ModelError if the package's own network is meant and miniosl is not installed.
    """
    name, colon, file = str(model).partition(":")
    if name != MINIOSL:
        return None
    return Path(file) if colon else network_path()


def network_path() -> Path:
    """Returns the file of the package's own network; raises ModelError if miniosl is not installed."""
    package = find_spec("miniosl")
    if package is None or not package.submodule_search_locations:
        raise ModelError("miniosl is not installed: pip install --no-deps 'miniosl<0.1.7'")
    path = Path(package.submodule_search_locations[0]) / "pretrained" / "eval.onnx"
    if not path.is_file():
        raise ModelError(f"miniosl has no network: {path} is missing")
    return path


class MinioslEvaluator:
    """Evaluates shogi positions with miniosl's network.

    The policy covers the moves that OpenShogiLib generates; pointless non-promotions are not among them and
    get probability 0.

    temperature: of the policy's softmax; 1.5 predicts moves better than 1, which is overconfident.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        batch_size: int = 16,
        backend: str = "cpu",
        threads: int = 1,
        device: int = 0,
        temperature: float = 1.0,
    ) -> None:
        """Loads the network; the arguments are those of `NetworkEvaluator`.

        path: a smaller version of the network (`goryu quantize miniosl`); None for the package's own.

        Raises:
            ModelError: miniosl is not installed, or its network cannot be read.
            BackendError: the backend cannot be used.
        """
        path = path or network_path()
        try:
            self._library: ModuleType = import_module("minioslcc")
        except ImportError as error:
            raise ModelError(f"miniosl cannot be loaded: {error}") from error
        self._session = open_session(path, backend, threads=threads, device=device).handle
        inputs = tensor_shapes(path, self._session.get_inputs())
        outputs = tensor_shapes(path, self._session.get_outputs())
        is_miniosl = inputs.keys() == {INPUT} and inputs[INPUT][1:] == (176, 9, 9)
        if not is_miniosl or not outputs.keys() >= set(OUTPUTS):
            raise ModelError(
                f"{path}: expected a network of miniosl, 176 planes in, {' and '.join(OUTPUTS)} out"
            )
        self.batch_size = batch_size
        self.temperature = temperature

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per shogi state, in order; no state is over."""
        positions = [self.show(cast("Board", state)) for state in states]
        evaluations: list[Evaluation] = []
        for first in range(0, len(states), self.batch_size):
            part = slice(first, first + self.batch_size)
            planes = np.stack([planes for planes, _ in positions[part]])
            logits, values = self._session.run(OUTPUTS, {INPUT: planes})
            evaluations += [
                Evaluation(self._policy(cast("Board", state), position, row), float(value))
                for state, (_, position), row, value in zip(
                    states[part], positions[part], logits, values[:, 0], strict=True
                )
            ]
        return evaluations

    def show(self, board: "Board") -> tuple[np.ndarray[Any, np.dtype[np.float32]], Any]:
        """Returns the planes, float32 [176, 9, 9], and miniosl's state of a position."""
        before = board.copy()
        plies = min(self._library.history_length, len(board.move_stack))
        moves = [before.pop() for _ in range(plies)][::-1]
        text = f"position sfen {before.sfen()}"
        start, state = self._library.usi_state(text), self._library.usi_state(text)
        history = self._library.MoveVector()
        for move in moves:
            played = state.to_move(move_to_usi(move))
            history.append(played)
            state.make_move(played)
        return start.export_features(history).reshape(-1, 9, 9), state

    def _policy(self, board: "Board", position: Any, logits: Sequence[float]) -> list[float]:
        """Returns the probabilities of `legal_moves()` in their order."""
        labels = {move.to_usi(): move.policy_move_label for move in position.genmove()}
        shown = [labels.get(move_to_usi(move)) for move in board.legal_moves()]
        known = iter(softmax([float(logits[i]) for i in shown if i is not None], self.temperature))
        return [0.0 if label is None else next(known) for label in shown]
