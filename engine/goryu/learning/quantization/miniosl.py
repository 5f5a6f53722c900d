"""miniosl's network in 8-bit integers: a teacher that labels more than twice as many positions in an hour.

It predicts results nearly as well as the float network (`goryu evaluate`: a loss of 0.432 nats instead of
0.431), and its rounding errors vary between positions, so they largely average out for the student.
"""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from time import process_time

import numpy as np

from goryu.base.errors import InputError
from goryu.evaluators.formats.base import Array
from goryu.evaluators.miniosl import INPUT, OUTPUTS, MinioslEvaluator, network_path
from goryu.games.shogi import Rules
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.learning.quantization.comparison import CALIBRATION_BATCH, Agreement, compare_evaluations
from goryu.learning.quantization.quantize import quantize_on
from goryu.learning.records.game_records import GameRecord

FLOAT = ("*/convout/*", "*/conv1x1out/*")
"""Convolutions that stay float: their outputs are added to the trunk, where rounding errors would accumulate.

They cost a fifth of the speed and remove nearly half of the error of the values."""


def sample_positions(games: Iterable[GameRecord], number: int, rng: Random) -> list[Board]:
    """Returns `number` random positions of the games, each with the moves before it.

    Raises InputError if no game has a move.
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
    """Writes the package's network in 8 bits, calibrated on whole batches of 16 boards.

    Keeps only the outputs that Goryu uses, moves and value. Raises ModelError if miniosl is not installed.
    """
    import onnx.utils  # A heavy package of the extra [train].

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


def compare_with_float(small: Path, boards: Sequence[Board]) -> tuple[Agreement, float, float]:
    """Returns how close the 8-bit network is to the package's, and the positions per second of both.

    Per second of CPU time, planes and moves included; first the float network.
    """
    answers, seconds = [], []
    for network in (MinioslEvaluator(), MinioslEvaluator(small)):
        started = process_time()
        answers.append(network.evaluate(boards))
        seconds.append(process_time() - started)
    return compare_evaluations(*answers), len(boards) / seconds[0], len(boards) / seconds[1]
