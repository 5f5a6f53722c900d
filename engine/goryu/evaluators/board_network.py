"""Small networks for the games whose position is two bitboards: tic-tac-toe and reversi.

The input is two planes, the stones of the side to move and the opponent's, so the network
plays both sides with the same weights. The output is a value in [-1, +1] for the side to
move and, unless it is a pure value network, one logit for every move number of the game.

A model is an ONNX file: input `planes` float32 [N, 2, rows, columns]; outputs `value`
float32 [N] and perhaps `policy` float32 [N, moves]; its metadata names the game.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from goryu.base.language import tr
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.providers import import_onnxruntime
from goryu.evaluators.softmax import softmax
from goryu.games.reversi import Reversi
from goryu.games.state import State
from goryu.games.tictactoe import TicTacToe
from goryu.search.evaluator import Evaluation

Planes = NDArray[np.float32]

Forward = Callable[[Planes], tuple[Planes | None, Planes]]
"""Planes [N, 2, rows, columns] -> policy logits [N, moves] (None: a pure value network), values [N]."""


class BoardState(State, Protocol):
    """A state that is two bitboards; bit s is square s, row by row."""

    own: int
    opponent: int


@dataclass(frozen=True, slots=True)
class BoardGame:
    """The properties of a game that a network needs.

    moves: the number of move numbers; squares come first, then any other moves (a pass).
    """

    name: str
    size: int
    moves: int
    new: Callable[[], BoardState]


BOARD_GAMES = {
    "tictactoe": BoardGame("tictactoe", 3, 9, TicTacToe),
    "reversi": BoardGame("reversi", 8, 65, Reversi),
    "reversi4": BoardGame("reversi4", 4, 65, lambda: Reversi(4)),
    "reversi6": BoardGame("reversi6", 6, 65, lambda: Reversi(6)),  # The number of a pass is 64, too.
}


def encode(boards: Sequence[tuple[int, int]], size: int) -> Planes:
    """Returns the planes [N, 2, size, size] of N pairs of bitboards (own, opponent)."""
    words = np.array(boards, dtype="<u8").reshape(len(boards), 2, 1)
    bits = np.unpackbits(words.view(np.uint8), axis=2, bitorder="little")[:, :, : size * size]
    return bits.reshape(len(boards), 2, size, size).astype(np.float32)


class BoardNetwork:
    """An evaluator that calls a network's forward pass."""

    def __init__(self, game: BoardGame, forward: Forward) -> None:
        self.game = game
        self.forward = forward

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order; a pure value network has a uniform policy."""
        boards = [(state.own, state.opponent) for state in cast(Sequence[BoardState], states)]
        logits, values = self.forward(encode(boards, self.game.size))
        evaluations = []
        for i, state in enumerate(states):
            moves = state.legal_moves()
            if logits is None:
                policy = [1.0 / len(moves)] * len(moves)
            else:
                policy = softmax([float(logits[i, move]) for move in moves])
            evaluations.append(Evaluation(policy, float(values[i])))
        return evaluations


def load(path: Path, game: BoardGame) -> BoardNetwork:
    """Returns the network of an ONNX file.

    Raises ModelError if it is missing, broken or another game's, and BackendError without onnxruntime.
    """
    onnxruntime = import_onnxruntime()
    if not path.is_file():
        raise ModelError(f"model {path}: {tr('not a regular file') if path.exists() else tr('no such file')}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # The networks are so small that threads only wait for each other.
    options.log_severity_level = 3  # Errors only.
    try:
        session: Any = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
        found = session.get_modelmeta().custom_metadata_map.get("goryu.game")
        has_policy = any(output.name == "policy" for output in session.get_outputs())
    except Exception as error:  # onnxruntime's errors have no other base class; a damaged name is not UTF-8.
        raise ModelError(
            f"model {path}: {tr('not an ONNX file, or a damaged one ({error})', error=error)}"
        ) from error
    if found != game.name:
        raise ModelError(
            f"model {path}: {tr('made for {found!r}, expected {game!r}', found=found, game=game.name)}"
        )
    names = ["policy", "value"] if has_policy else ["value"]

    def forward(planes: Planes) -> tuple[Planes | None, Planes]:
        try:
            *policy, values = session.run(names, {"planes": planes})
        except Exception as error:
            raise ModelError(
                f"model {path}: {tr('onnxruntime cannot run it ({error})', error=error)}"
            ) from error
        return (policy[0] if policy else None), values

    _check_shapes(path, game, *forward(encode([(0, 0)], game.size)))
    return BoardNetwork(game, forward)


def _check_shapes(path: Path, game: BoardGame, policy: Planes | None, values: Planes) -> None:
    if values.shape != (1,) or (policy is not None and policy.shape != (1, game.moves)):
        raise ModelError(f"model {path}: expected values [N] and, if any, policies [N, {game.moves}]")
