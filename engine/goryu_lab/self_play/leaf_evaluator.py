"""Evaluates the leaves of many small searches with as little work as possible.

`NetworkEvaluator.evaluate` is the readable version with the same results. Here the native code, if it is
built, writes the planes into arrays that are bound to the network, and a policy is computed when it is first
read: a search uses only the value of most leaves.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, cast, overload

import numpy as np

from goryu.evaluators.formats.base import Array
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.shogi_state import ShogiState
from goryu.evaluators.softmax import softmax
from goryu.games.state import Move, State
from goryu.implementation import IMPLEMENTATION
from goryu.search.evaluator import Evaluation, Evaluator

if TYPE_CHECKING or IMPLEMENTATION == "python":
    from goryu.evaluators.formats.dlshogi import fill_dlshogi
else:
    from goryu._native import fill_dlshogi


class LeafEvaluator:
    """Evaluates boards of `goryu.implementation` by a network, for one thread.

    Its evaluations equal those of `NetworkEvaluator.evaluate`, bit for bit.
    """

    def __init__(self, network: NetworkEvaluator) -> None:
        self.network = network
        self._inputs = network.new_inputs(network.batch_size)
        self._bound = network.bind(self._inputs)
        self._labels = tuple(_Labels(network.format.label, turn) for turn in (0, 1))

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order; no state is over."""
        size = self.network.batch_size
        return [
            evaluation
            for start in range(0, len(states), size)
            for evaluation in self._evaluate(states[start : start + size])
        ]

    def _evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        self._fill(states)
        count = len(states)
        if self._bound is None:
            logits, values = self.network.run([rows[:count] for rows in self._inputs])
        else:
            self._bound.run(count)
            answers = [self._bound.outputs[name][:count] for name in self.network.format.outputs]
            inputs = [rows[:count] for rows in self._inputs]
            logits, values = self.network.format.interpret(answers, inputs)
            self.network.check(values)
        labels = [[self._labels[state.turn][move] for move in state.legal_moves()] for state in states]
        rows = np.repeat(np.arange(count), [len(row) for row in labels])
        legal = logits[rows, [label for row in labels for label in row]]
        self.network.check(legal)
        ends = list(accumulate(len(row) for row in labels))
        return [
            Evaluation(_Policy(legal[end - len(row) : end], self.network.temperature), value)
            for row, end, value in zip(labels, ends, values.tolist(), strict=True)
        ]

    def _fill(self, states: Sequence[State]) -> None:
        boards = cast(list[ShogiState], list(states))
        if type(self.network.format) is DlshogiFormat:
            fill_dlshogi(boards, *self._inputs)
            return
        for rows in self._inputs:
            rows[: len(boards)] = 0
        for i, board in enumerate(boards):
            self.network.format.fill(board, [rows[i] for rows in self._inputs])


class PairedEvaluator:
    """Evaluates no position alone in a batch, and everything else as its evaluator does.

    Libraries multiply a single row by another routine than several rows, with other rounding (onnxruntime
    does so in the last layers of our 8-bit network). In batches of two and more the evaluation of a position
    does not depend on its companions, and so a game of self-play does not depend on the games around it.

    batch_size: in how many positions the evaluator cuts longer lists; at least 2.
    """

    def __init__(self, evaluator: Evaluator, batch_size: int) -> None:
        assert batch_size > 1
        self._evaluator = evaluator
        self._batch_size = batch_size

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order; no state is over."""
        if len(states) % self._batch_size != 1:
            return self._evaluator.evaluate(states)
        return self._evaluator.evaluate([*states, states[-1]])[:-1]


class _Labels(dict[Move, int]):
    """The labels of one side's moves; each is computed when it is first read."""

    def __init__(self, label: Callable[[Move, int], int], turn: int) -> None:
        super().__init__()
        self._label = label
        self._turn = turn

    def __missing__(self, move: Move) -> int:
        label = self[move] = self._label(move, self._turn)
        return label


class _Policy(Sequence[float]):
    """The softmax of some logits, computed when it is first read."""

    __slots__ = ("_logits", "_probabilities", "_temperature")

    def __init__(self, logits: Array, temperature: float) -> None:
        self._logits = logits
        self._temperature = temperature
        self._probabilities: list[float] | None = None

    def __len__(self) -> int:
        return len(self._logits)

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> list[float]: ...
    def __getitem__(self, place: int | slice) -> float | list[float]:
        if self._probabilities is None:
            self._probabilities = softmax(self._logits.tolist(), self._temperature)
        return self._probabilities[place]

    def __iter__(self) -> Iterator[float]:
        return iter(self[:])
