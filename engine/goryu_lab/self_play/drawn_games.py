"""Games whose moves are drawn from a network's policy, thousands at once on PyTorch's device.

For a teacher that labels positions while another network learns (`training/distillation.py`): such games cost
one evaluation a position, and hold what a small network plays rather than what a strong one does (DAgger:
Ross, Gordon and Bagnell, 2011). The positions travel to the device as bits, and two numbers a game come back.

Each game has its own random numbers, so it depends on the others only by the rounding of the network.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from goryu.base.errors import GoryuError
from goryu.evaluators.formats.base import ModelFormat
from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, Board
from goryu_lab.records.game_records import GAMES_PER_BLOCK, GameRecord, GameWriter
from goryu_lab.records.summary import GameSummary
from goryu_lab.self_play.game import SelfPlayGame
from goryu_lab.self_play.workers import PlayWork, resumed
from goryu_lab.training.device_network import DeviceNetwork, check_device
from goryu_lab.training.distillation import labels_of_bits
from goryu_lab.training.game_positions import STUDENT, write_positions

NO_MOVES = np.zeros(1, np.uint16)


class Drawer:
    """Draws a move for each of many boards from a network's policy; `temperature` is that of the policy.

    Raises InputError if PyTorch cannot use the device.
    """

    def __init__(self, network: DeviceNetwork, device: str, temperature: float = 1.0) -> None:
        check_device(device)
        self._network = network.to(device)
        self._device = device
        self._temperature = temperature
        is_students = network.format.name == STUDENT.name
        self._formats: list[ModelFormat] = [STUDENT] if is_students else [STUDENT, network.format]

    def draw(self, boards: list[Board], numbers: list[float]) -> tuple[list[Move], list[float]]:
        """Returns a legal move and the value in [-1, +1] for each board. numbers: random, in [0, 1)."""
        count = len(boards)
        nothing = np.zeros(count, np.int32)
        bits = write_positions(
            boards, np.arange(count, dtype=np.int32), np.zeros(count, np.int64), nothing, nothing, NO_MOVES,
            self._formats,
        )  # fmt: skip
        sent = (
            torch.from_numpy(array).to(self._device)
            for array in (bits.rows[-1], bits.numbers[-1], bits.legal)
        )
        labels, values = self._drawn(*sent, torch.tensor(numbers, device=self._device))
        if not bool(values.isfinite().all() & (labels < STUDENT.labels).all()):
            raise GoryuError("the network gives no numbers for some positions, perhaps for lack of 32 bits")
        return _moves_of(boards, labels.cpu().numpy()), (2.0 * values - 1.0).tolist()

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _drawn(self, rows: Tensor, floats: Tensor, legal: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        legal = labels_of_bits(legal, self._network.planes.shifts)
        policy, values = self._network(rows, floats, legal)
        shares = (policy.log() / self._temperature).softmax(1).cumsum(1)
        wanted = numbers.unsqueeze(1) * (1.0 - 1e-6) * shares[:, -1:]
        return torch.searchsorted(shares, wanted, right=True)[:, 0], values


def play_drawn(work: PlayWork, drawer: Drawer, at_once: int, numbers: Iterable[int]) -> Iterator[GameRecord]:
    """Yields the games of these numbers as they end. at_once: games in progress."""
    waiting = iter(numbers)
    playing: list[tuple[int, SelfPlayGame]] = []
    while True:
        for number in islice(waiting, at_once - len(playing)):
            rng = Random(f"{work.seed} {number}")
            playing.append((number, SelfPlayGame(work.config, rng.choice(work.openings), rng)))
        going = []
        for number, game in playing:
            if (end := game.finish()) is None:
                going.append((number, game))
            else:
                yield game.finished(end, number, work.teacher)
        playing = going
        if not playing:
            return
        moves, values = drawer.draw(
            [game.board for _, game in playing], [game.rng.random() for _, game in playing]
        )
        for (_, game), move, value in zip(playing, moves, values, strict=True):
            game.draw(move, value)


def run_drawn(
    work: PlayWork,
    drawer: Drawer,
    path: Path,
    at_once: int,
    report: Callable[[GameSummary], None] = lambda summary: None,
) -> GameSummary:
    """Plays the games that the file lacks, without end if the work has none; appends them in large blocks.

    report: called whenever games have been written. Raises GameFileError if the file is something else.
    """
    with GameWriter(path) as writer:
        summary, done = resumed(work, path)
        games = play_drawn(work, drawer, at_once, (number for number, _ in work.tasks(done)))
        block: list[GameRecord] = []
        try:
            for game in games:
                block.append(game)
                summary.add(game, is_new=True)
                if len(block) == GAMES_PER_BLOCK:
                    full, block = block, []  # If the writing is interrupted, it is not written again below.
                    writer.write(full)
                    report(summary)
        finally:  # Also of a run that is interrupted.
            if block:
                writer.write(block)
    return summary


def _moves_of(boards: list[Board], labels: npt.NDArray[np.int64]) -> list[Move]:
    if IMPLEMENTATION == "native":
        from goryu import _native

        return _native.moves_of_labels(STUDENT, boards, labels)
    return [
        next(move for move in board.legal_moves() if STUDENT.label(move, board.turn) == label)
        for board, label in zip(boards, labels.tolist(), strict=True)
    ]
