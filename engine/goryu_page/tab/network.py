"""A network in the tab: it names a packed file, and instances of the module compute with it."""

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, cast

from goryu.base.language import tr
from goryu.evaluators.network.model_files import ModelError
from goryu.games.shogi import Board
from goryu.games.state import State
from goryu.search.evaluator import Evaluation
from goryu_page.tab.engine import Engine

MAGIC = b"goryu network 2\n"


class Network:
    """In place of `NetworkEvaluator`; it has what others ask of one.

    Each search needs an engine of its own for its graph. One that is not used any more waits for the next.
    """

    batch_size = 1
    backend = "WebAssembly"
    note = ""

    def __init__(self, new_engine: Callable[[], Engine], path: Path, temperature: float = 1.0) -> None:
        """path: of the ONNX file beside which the packed one is; raises ModelError if that cannot be read."""
        self.path, self.temperature = path, temperature
        self._new_engine = new_engine
        try:
            self._packed = path.with_suffix(".network").read_bytes()
        except OSError as error:
            text = "{name} is not in this browser yet; it is loaded once, with a connection"
            raise ModelError(tr(text, name=path.name)) from error
        if not self._packed.startswith(MAGIC):
            raise ModelError(f"model {path}: {tr('expected a network packed by `dev.py wasm`')}")
        head = len(MAGIC)
        size = int.from_bytes(self._packed[head : head + 4], "little")
        self.sha256 = self._packed[head + 4 : head + 4 + size].decode()
        self._idle = [self.take_new()]

    @property
    def description(self) -> str:
        """One line for the user."""
        return f"backend={self.backend} model={self.path.name} sha={self.sha256[:8]} batch={self.batch_size}"

    def set_draw_value(self, value: float) -> None:
        """Does nothing: the module's networks have no input for it."""

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per shogi position, in order; no state is over."""
        engine = self.take()
        try:
            return [self._evaluated(engine, cast(Board, state)) for state in states]
        finally:
            self.give_back(engine)

    def _evaluated(self, engine: Engine, board: Board) -> Evaluation:
        policy, value = engine.policy(board)
        if not all(map(isfinite, (value, *policy))):
            raise ModelError(f"model {self.path}: {tr('it answers with what is no number')}")
        return Evaluation(policy, value)

    def take(self) -> Engine:
        """Returns an engine that nobody uses."""
        engine = self._idle.pop() if self._idle else self.take_new()
        engine.set_options({"temperature": self.temperature})
        return engine

    def take_new(self) -> Engine:
        """Returns a new engine."""
        engine = self._new_engine()
        engine.load(self._packed)
        return engine

    def give_back(self, engine: Engine) -> None:
        """Takes an engine back, and frees its graph."""
        if not engine.is_lost:
            engine.run("clear")
            self._idle.append(engine)


def evaluator_class(new_engine: Callable[[], Engine]) -> type[Network]:
    """Returns the class that is `NetworkEvaluator` in the tab; its other options are those of native code."""

    class NetworkEvaluator(Network):
        def __init__(self, path: Path, *, temperature: float = 1.0, **_options: Any) -> None:
            super().__init__(new_engine, path, temperature)

    return NetworkEvaluator
