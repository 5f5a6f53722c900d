"""The WebAssembly module as Python sees it: `native/wasm/goryu.h` says what its functions do."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.providers import BackendError
from goryu.games.shogi import Board, EnteringKingRule, Rules, move_to_usi

MOST_MOVES = 593
"""No position has more legal moves."""


class Engine:
    """One engine: an instance of the module, with its options, its position and one search.

    should_stop: what the module asks during a mate search; it must not raise.
    is_lost: has the module ended, as for want of memory? It cannot be used any more.
    """

    def __init__(self, instance: Any) -> None:
        """instance: an `Engine` of goryu.js, as Pyodide gives it to Python."""
        self._view, self._call = instance.view, instance.call
        self.is_lost = False
        self._options: dict[str, float] = {}
        self._room = int(self.run("allocate", 8 * MOST_MOVES))
        self.should_stop: Callable[[], bool] = lambda: False
        instance.shouldStop = lambda: self.should_stop()

    def run(self, function: str, *arguments: float | str) -> float:
        """Calls a function with numbers and texts; its name lacks `goryu_`. Raises BackendError."""
        result: float = self._called(function, *arguments)
        return result

    def _called(self, function: str, *arguments: float | str) -> Any:
        try:
            return self._call(function, *arguments)
        except Exception as error:  # JavaScript raises.
            self.is_lost = True
            raise BackendError(f"WebAssembly: {error}") from error

    def must(self, function: str, *arguments: float | str) -> None:
        """Calls a function that returns 0 if it fails; raises BackendError then."""
        if self.run(function, *arguments) == 0:
            raise BackendError(f"WebAssembly: {self.text('error')}")

    def text(self, function: str) -> str:
        """Returns the text that a function returns."""
        return str(self._called(function))

    def numbers(self, function: str, count: int, *arguments: float) -> Sequence[float]:
        """Returns the array that a function returns."""
        return self._doubles(int(self.run(function, *arguments)), count)

    def load(self, network: bytes) -> None:
        """Takes a packed network, or the hashed evaluator for no bytes; raises ModelError."""
        at = int(self.run("allocate", len(network)))
        try:
            self._view(at, len(network)).assign(network)
            self.must("load_network", at, len(network))
        except BackendError as error:
            raise ModelError(str(error)) from error
        finally:
            self.run("release", at)
        self._options = {}

    def set_options(self, options: Mapping[str, float]) -> None:
        """Sets those that have changed."""
        for name, value in options.items():
            if self._options.get(name) != value:
                self.must("set_option", name, value)
                self._options[name] = value

    def set_position(self, board: Board) -> None:
        """Sets the position with its rules and its history; what was searched stays."""
        self.set_options(_rules_options(board.rules))
        start = board.copy()
        for _ in board.move_stack:
            start.pop()
        self.must(
            "set_position", " ".join(["sfen", start.sfen(), "moves", *map(move_to_usi, board.move_stack)])
        )

    def policy(self, board: Board) -> tuple[Sequence[float], float]:
        """Returns the network's policy and value, as an `Evaluation` has them."""
        self.set_position(board)
        value = self.run("policy", self._room)
        return self._doubles(self._room, len(board.legal_moves())), value

    def _doubles(self, at: int, count: int) -> Sequence[float]:
        return array("d", self._view(at, 8 * count).to_bytes())


def _rules_options(rules: Rules) -> dict[str, float]:
    return {
        "max_ply": rules.max_ply,
        "entering_king": [*EnteringKingRule].index(rules.entering_king),
        "all_moves": rules.all_moves,
        "first_recurrence": rules.first_recurrence,
    }
