"""Distillation without stored labels: a teacher labels every batch on the device that trains.

The host sends bits: 3.0 KB a position for a student and the teacher miniosl, instead of 108 KB of planes and
stored labels. Planes, labels and mirror images are made on the device. A label in a file has some moves with
rounded probabilities and takes twenty times the space of the move that was played; a label made here has all
moves and takes none.

Source: Hinton, Vinyals and Dean, "Distilling the knowledge in a neural network", 2015.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu_lab.training.batches import Batch, Draw
from goryu_lab.training.dataset import mirror_labels
from goryu_lab.training.device_network import DeviceNetwork
from goryu_lab.training.device_planes import PlanesOfBits
from goryu_lab.training.game_positions import STUDENT, GamePositions, PositionBits
from goryu_lab.training.stored_planes import PROMOTIONS

WAITING = 2
"""Batches that wait for the device beside those that are being written."""


class DistilledPositions:
    """Positions of games, which a teacher labels; a target from a file takes the place of its value."""

    def __init__(self, positions: GamePositions, teacher: DeviceNetwork) -> None:
        self._positions = positions
        self._teacher = teacher
        sees_as_student = teacher.format.name == STUDENT.name
        self._formats = [STUDENT] if sees_as_student else [STUDENT, teacher.format]

    def __len__(self) -> int:
        return len(self._positions)

    def checksum(self) -> str:
        """Returns a text that other positions, and others' labels, do not have."""
        return f"{self._positions.checksum()}, labelled by {self._teacher.checksum:08x}"

    def batches(self, contents: Iterable[Draw], device: str, workers: int) -> Iterator[Batch[Tensor]]:
        """Yields the batches of these contents in their order. workers: threads, as in `batches_of`."""
        student = PlanesOfBits(STUDENT).to(device)
        mirror = torch.from_numpy(mirror_labels()).to(device)
        teacher = self._teacher.to(device)
        for sent in self._sent(contents, device, workers):
            yield self._labelled(sent, student, teacher, mirror)

    def _sent(self, contents: Iterable[Draw], device: str, workers: int) -> Iterator[list[Tensor]]:
        """Yields each batch on the device: legal labels, moves, results, values, mirror images, bits."""
        if not workers:
            for content in contents:
                yield [tensor.to(device) for tensor in self._written(content)]
            return
        on_gpu = device.startswith("cuda")
        pool = ThreadPoolExecutor(workers)
        waiting: deque[Future[list[Tensor]]] = deque()
        try:
            for content in contents:
                waiting.append(pool.submit(self._written, content, pinned=on_gpu))
                if len(waiting) == workers + WAITING:
                    yield [tensor.to(device, non_blocking=on_gpu) for tensor in waiting.popleft().result()]
            while waiting:
                yield [tensor.to(device, non_blocking=on_gpu) for tensor in waiting.popleft().result()]
        finally:
            pool.shutdown(cancel_futures=True)

    def _written(self, content: Draw, *, pinned: bool = False) -> list[Tensor]:
        chosen, mirrored = content
        bits: PositionBits = self._positions.write(chosen, self._formats)
        played = bits.played.astype(np.int64)
        results, values = self._positions.results(chosen), self._positions.value[chosen]
        arrays = [bits.legal, played, results, values, mirrored, *bits.rows, *bits.numbers]
        tensors = [torch.from_numpy(array) for array in arrays]
        return [tensor.pin_memory() for tensor in tensors] if pinned else tensors

    def _labelled(
        self, sent: list[Tensor], student: PlanesOfBits, teacher: DeviceNetwork, mirror: Tensor
    ) -> Batch[Tensor]:
        legal_bits, label, result, stored, mirrored, *packed = sent
        rows, numbers = packed[: len(self._formats)], packed[len(self._formats) :]
        legal = labels_of_bits(legal_bits, student.shifts)
        promoted = (label + PROMOTIONS).clamp(max=DLSHOGI_LABELS - 1)
        is_pointless = ~_at(legal, label) & _at(legal, promoted)
        label = torch.where(is_pointless, promoted, label)
        legal = legal.scatter(1, label.unsqueeze(1), value=True)
        policy, value = teacher(rows[-1], numbers[-1], legal)
        input1, input2 = student(rows[0], numbers[0])
        column = mirrored.unsqueeze(1)
        return Batch(
            # The axes are [plane][file][rank].
            torch.where(column[..., None, None], input1.flip(2), input1).contiguous(
                memory_format=torch.channels_last
            ),
            input2,
            torch.where(column, legal.index_select(1, mirror), legal),
            torch.where(mirrored, mirror[label], label),
            torch.where(column, policy.index_select(1, mirror), policy),
            torch.where(stored.isnan(), value, stored),
            result,
        )


def labels_of_bits(bits: Tensor, shifts: Tensor) -> Tensor:
    """Returns bool [N, 2187], given the bits of labels, uint8 [N, 274]."""
    return bits.unsqueeze(2).bitwise_right_shift(shifts).bitwise_and(1).flatten(1)[:, :DLSHOGI_LABELS].bool()


def _at(legal: Tensor, label: Tensor) -> Tensor:
    return legal.gather(1, label.unsqueeze(1))[:, 0]
