"""The network that the package miniosl brings along, as a teacher: six times as large as ours.

miniosl (Tomoyuki Kaneko, https://github.com/tkaneko/miniosl, BSD-2-Clause) is a Python interface to
OpenShogiLib, the library under GPSShogi. Its wheel holds a policy-value network of nine blocks with 256
channels, a relative of KataGo's; the package's own way to make one is self-play with Gumbel searches. It sees
more than dlshogi's planes: threats of mate, covered squares, the last seven moves. So it is no network for
`DNN_Model`, but one that labels positions for a small one to learn from (`tools/selfplay.py reanalyse`).

Only the extension module and the file of the network are used; `import miniosl` itself would ask for PyTorch.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from goryu.evaluators.model_files import ModelError
from goryu.evaluators.providers import open_session
from goryu.evaluators.softmax import softmax
from goryu.games.shogi import move_to_usi
from goryu.games.state import State
from goryu.search.evaluator import Evaluation

if TYPE_CHECKING:
    from goryu.games.shogi import Board

__all__ = ["INPUT", "MINIOSL", "OUTPUTS", "MinioslEvaluator", "miniosl_file", "network_path"]

MINIOSL = "miniosl"
"""What a command line says in place of a file, or before one and a colon."""

INPUT, OUTPUTS = "input", ("move", "value")
"""The tensors of the network that are used."""


def miniosl_file(model: Path) -> Path | None:
    """Returns the file that a command line means by `miniosl` or `miniosl:FILE`; None for other names.

    Raises ModelError if the package's own is meant and not there.
    """
    name, colon, file = str(model).partition(":")
    if name != MINIOSL:
        return None
    return Path(file) if colon else network_path()


def network_path() -> Path:
    """Returns where the installed package keeps its network; raises ModelError if it is not installed."""
    package = find_spec("miniosl")
    if package is None or not package.submodule_search_locations:
        raise ModelError("miniosl is not installed: pip install --no-deps miniosl")
    path = Path(package.submodule_search_locations[0]) / "pretrained" / "eval.onnx"
    if not path.is_file():
        raise ModelError(f"miniosl has no network: {path} is missing")
    return path


class MinioslEvaluator:
    """Judges shogi positions with miniosl's network.

    The policy is over the moves that OpenShogiLib generates: non-promotions without a point, of which it
    has none, get nothing.

    temperature: of the policy's softmax; 1.5 foresees moves better than 1, which is too sure of itself.
    notes: what kept `auto` from a better backend, what is wrong with the installation; one line each.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        batch_size: int = 16,
        backend: str = "cpu",
        threads: int = 1,
        temperature: float = 1.0,
    ) -> None:
        """Loads the network; the arguments are those of `NetworkEvaluator`.

        path: the network, made smaller (`tools/quantize.py miniosl`); None for the package's own.

        Raises:
            ModelError: miniosl is not installed, or its network cannot be read.
            BackendError: the backend cannot be used.
        """
        path = path or network_path()
        try:
            self._library: ModuleType = import_module("minioslcc")
        except ImportError as error:
            raise ModelError(f"miniosl cannot be loaded: {error}") from error
        session = open_session(path, backend, threads=threads, allows_fallback=False)
        self._session = session.handle
        self.notes = session.notes
        shapes = {node.name: node.shape[1:] for node in self._session.get_inputs()}
        outputs = {node.name for node in self._session.get_outputs()}
        if shapes != {INPUT: [176, 9, 9]} or not outputs.issuperset(OUTPUTS):
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
