"""miniosl's network in 8-bit integers: a teacher that labels more than twice as many positions in an hour.

It foresees results and moves nearly as well as the float network (`tools/measure.py`: 0.432 nats for 0.431),
and its mistakes of rounding differ from position to position, so that a pupil hears little of them.
"""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

import numpy as np

from goryu.errors import InputError
from goryu.evaluators.formats.base import Array
from goryu.evaluators.miniosl import INPUT, OUTPUTS, MinioslEvaluator, network_path
from goryu.games.shogi import Rules
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.learning.quantization.quantize import CALIBRATION_BATCH, Agreement, quantize_on
from goryu.learning.records.game_records import GameRecord
from goryu.search.evaluator import Evaluation

FLOAT = ("*/convout/*", "*/conv1x1out/*")
"""Convolutions that stay float: what they write is added to the trunk, where rounding would add up. They cost
a fifth of the speed, and nearly half of the error of the values is gone."""


def positions(games: Iterable[GameRecord], number: int, rng: Random) -> list[Board]:
    """Returns so many positions, each with the moves before it, drawn by chance.

    Raises InputError if there is no game with a move.
    """
    known = [game for game in games if game.moves]
    if not known:
        raise InputError("expected games with moves, found none")
    found: list[Board] = []
    for game in rng.choices(known, k=number):
        board = Board(game.start_sfen, Rules(all_moves=False))
        for move in game.moves[: rng.randrange(len(game.moves))]:
            board.push(Move(move))
        found.append(board)
    return found


def quantize_miniosl(target: Path, boards: Sequence[Board]) -> None:
    """Writes the package's network in 8 bits, calibrated on positions, of which whole batches of 16 are used.

    Its outputs are the moves and the value; those that are not used here are left out.
    Raises ModelError if miniosl is not installed.
    """
    import onnx.utils  # a heavy package of the extra [train]

    teacher = MinioslEvaluator()
    planes = [teacher.show(board)[0] for board in boards]
    ends = range(CALIBRATION_BATCH, len(planes) + 1, CALIBRATION_BATCH)
    batches: list[dict[str, Array]] = [
        {INPUT: np.stack(planes[end - CALIBRATION_BATCH : end])} for end in ends
    ]
    with tempfile.TemporaryDirectory() as folder:
        used = Path(folder) / "used.onnx"
        onnx.utils.extract_model(str(network_path()), str(used), [INPUT], list(OUTPUTS))
        quantize_on(used, target, batches, exclude=FLOAT)


def compare(one: Sequence[Evaluation], other: Sequence[Evaluation]) -> Agreement:
    """Returns how close two evaluators' answers on the same positions are."""
    matches, policy_error, value_error = 0, 0.0, 0.0
    for first, second in zip(one, other, strict=True):
        policies = np.array([first.policy, second.policy])
        matches += int(policies[0].argmax() == policies[1].argmax())
        policy_error += float(np.square(policies[0] - policies[1]).mean())
        value_error += (first.value - second.value) ** 2
    n = len(one)
    return Agreement(n, matches / n, (policy_error / n) ** 0.5, (value_error / n) ** 0.5)
