"""Stage 2: the answers of networks of every format, by planes and by bits, against those of the CPU.

The reference is onnxruntime on the CPU in float32, given planes. Probabilities of legal moves and values are
compared, since they are what the search reads.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, planes_of
from goryu.evaluators.network.half_check import PROBABILITY, VALUE
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.shogi_state import ShogiState
from goryu.table.random_positions import random_positions
from goryu_lab.benchmark.random_network import TENSORS
from gpu.plan import (
    Contact,
    ContactError,
    Found,
    Item,
    Stage,
)

POSITIONS, REHEARSED_POSITIONS, QUICK_POSITIONS = 2000, 200, 8
SIZE, QUICK_SIZE = "5x64", "1x16"
QUICK_NETWORKS = ("dlshogi", "miniosl")
STRONGEST = "strongest"

BATCH = 16
"""Each batch size is a session of its own on a GPU, so there are few of them."""

EXACT = 1e-3
"""The largest difference of a probability or value in float32 that other orders of the sums may make."""

INPUTS = {"bits": True, "planes": False}

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Answers:
    """Probabilities of the legal moves, a row for each position, filled up with zeros; values in [-1, 1]."""

    policies: Numbers
    values: Numbers


@dataclass(slots=True)
class Case:
    """A network with the planes of all positions, and the answers of the CPU."""

    path: Path
    planes: list[Array]
    labels: list[list[int]]
    expected: Answers

    @classmethod
    def of(cls, path: Path, positions: int, threads: int) -> "Case":
        """Evaluates random positions on the CPU."""
        network = NetworkEvaluator(
            path, backend="onnxruntime", batch_size=BATCH, threads=threads, packs=False
        )
        boards = [cast(ShogiState, board) for board in random_positions(positions)]
        planes = planes_of(network.format, boards)
        labels = [
            [network.format.label(move, board.turn) for move in board.legal_moves()] for board in boards
        ]
        return cls(path, planes, labels, answers(network, planes, labels))


def answers(network: NetworkEvaluator, planes: list[Array], labels: list[list[int]]) -> Answers:
    """Returns the answers of a network."""
    logits, values = network.run(planes)
    policies = np.zeros((len(labels), max(map(len, labels))))
    for row, all_logits, legal in zip(policies, logits, labels, strict=True):
        numbers = np.exp(all_logits[legal].astype(np.float64) - all_logits[legal].max())
        row[: len(legal)] = numbers / numbers.sum()
    return Answers(policies, values)


def differences(expected: Answers, found: Answers) -> Found:
    """Returns the largest and mean differences of legal moves' probabilities and of values, and the share of
    positions whose most probable move is the same.
    """
    policy, value = np.abs(expected.policies - found.policies), np.abs(expected.values - found.values)
    same = expected.policies.argmax(axis=1) == found.policies.argmax(axis=1)
    return {
        "positions": len(value),
        "policy_max": float(policy.max()),
        "policy_mean": float(policy[expected.policies > 0.0].mean()),
        "value_max": float(value.max()),
        "value_mean": float(value.mean()),
        "same_first": float(same.mean()),
    }


def is_close(found: Found, element: str) -> bool:
    """Are differences as small as the element type lets one expect?"""
    policy, value = (EXACT, EXACT) if element == "fp32" else (PROBABILITY, VALUE)
    return bool(found["policy_max"] <= policy and found["value_max"] <= value)


def items(contact: Contact) -> Iterator[Item]:
    """Yields each combination of network, backend, element type and input."""
    held: dict[str, Case] = {}  # The planes of one network only.

    def compare(network: str, backend: str, element: str, packs: bool, seconds: float) -> Found:
        if network not in held:
            held.clear()
            held[network] = Case.of(_path(contact, network), _positions(contact), contact.threads)
        case = held[network]
        opened = contact.open(
            case.path, backend, element, batch_size=BATCH, packs=packs, threads=contact.threads
        )
        if packs and not opened.packed:
            raise ContactError(opened.note)
        found = differences(case.expected, answers(opened, case.planes, case.labels))
        return {**found, "is_close": is_close(found, element)}

    networks = (
        QUICK_NETWORKS if contact.is_quick else (STRONGEST, *dict.fromkeys([*QUICK_NETWORKS, *TENSORS]))
    )
    for backend in contact.backends:
        yield (opening := contact.opening(backend))
        for network in networks:
            for element in contact.elements(backend):
                for name, packs in INPUTS.items():
                    item = f"{network} {backend} {element} {name}"
                    yield Item(item, partial(compare, network, backend, element, packs), opening.name)


def _path(contact: Contact, network: str) -> Path:
    """Returns the file of a network."""
    if network == STRONGEST:
        return contact.strongest
    return contact.random_network(network, QUICK_SIZE if contact.is_quick else SIZE)


def _positions(contact: Contact) -> int:
    """Returns how many positions are compared."""
    return QUICK_POSITIONS if contact.is_quick else REHEARSED_POSITIONS if contact.rehearses else POSITIONS


STAGE = Stage("answers", 8.0, items)
