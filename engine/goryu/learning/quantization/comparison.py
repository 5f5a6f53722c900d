"""Compares a small network with the float network that it was made from: answers and speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
import numpy.typing as npt

from goryu.base.errors import InputError
from goryu.evaluators.formats.base import Array
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.learning.records.conversion import read_records
from goryu.learning.training.dataset import Batch, Dataset, make_batch
from goryu.search.evaluator import Evaluation

CALIBRATION_BATCH = 16
"""Positions in a batch of the calibration."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How close two networks are on the same positions.

    policy_top1: share of positions with the same first choice among the legal moves.
    policy_error: root mean square of the difference of the legal moves' probabilities.
    value_error: the same of the values in [-1, +1].
    """

    positions: int
    policy_top1: float
    policy_error: float
    value_error: float


def split_positions(
    paths: Sequence[Path], calibration: int, comparison: int, least: int, seed: int
) -> tuple[Dataset, Dataset]:
    """Returns random positions of some files to calibrate on, and others to compare on.

    least: number of positions to compare on below which InputError is raised.
    """
    records = np.concatenate([read_records(path) for path in paths])
    compared = min(comparison, len(records) - calibration)
    if calibration < CALIBRATION_BATCH or compared < least:
        raise InputError(
            f"calibration on {calibration} and comparison on {comparison} of {len(records)} positions: "
            f"expected at least {CALIBRATION_BATCH} to calibrate on and {least} to compare on"
        )
    order = np.random.default_rng(seed).permutation(len(records))
    first, second, _ = (
        Dataset(records[part], np.zeros(len(part), np.float32))
        for part in np.split(order, np.cumsum([calibration, comparison]))
    )
    return first, second


def agreement(one: NetworkEvaluator, other: NetworkEvaluator, positions: Dataset) -> Agreement:
    """Compares two networks on all `positions`."""
    matches, policy_error, value_error = 0, 0.0, 0.0
    for batch in batches_of(positions):
        policies, values = zip(*(_answer(network, batch) for network in (one, other)), strict=True)
        matches += int((policies[0].argmax(axis=1) == policies[1].argmax(axis=1)).sum())
        policy_error += float(
            (((policies[0] - policies[1]) ** 2).sum(axis=1) / batch.legal.sum(axis=1)).sum()
        )
        value_error += float(((values[0] - values[1]) ** 2).sum())
    n = len(positions)
    return Agreement(n, matches / n, (policy_error / n) ** 0.5, (value_error / n) ** 0.5)


def rate(network: NetworkEvaluator, positions: Dataset, seconds: float) -> float:
    """Returns how many positions the network evaluates per second of CPU time, in batches of its size."""
    size = network.batch_size
    planes = planes_of(make_batch(positions, np.arange(size), np.zeros(size, bool)))
    done, started = 0, process_time()
    while (elapsed := process_time() - started) < seconds:
        network.run(planes)
        done += size
    return done / elapsed


def compare_evaluations(one: Sequence[Evaluation], other: Sequence[Evaluation]) -> Agreement:
    """Compares the evaluations of two evaluators on the same positions."""
    matches, policy_error, value_error = 0, 0.0, 0.0
    for first, second in zip(one, other, strict=True):
        policies = np.array([first.policy, second.policy])
        matches += int(policies[0].argmax() == policies[1].argmax())
        policy_error += float(np.square(policies[0] - policies[1]).mean())
        value_error += (first.value - second.value) ** 2
    n = len(one)
    return Agreement(n, matches / n, (policy_error / n) ** 0.5, (value_error / n) ** 0.5)


def rates(
    one: NetworkEvaluator, other: NetworkEvaluator, positions: Dataset, rounds: int
) -> tuple[float, float]:
    """Returns the median rates of two networks, measured in turn for a second each.

    Other work on the machine then slows both equally.
    """
    found = [[rate(network, positions, seconds=1.0) for network in (one, other)] for _ in range(rounds)]
    return median(pair[0] for pair in found), median(pair[1] for pair in found)


def _answer(
    network: NetworkEvaluator, batch: Batch
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    logits, values = network.run(planes_of(batch))
    legal = np.where(batch.legal, logits.astype(np.float64), -np.inf)
    weights = np.exp(legal - legal.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True), values


def planes_of(batch: Batch) -> list[Array]:
    return [batch.input1, batch.input2]


def batches_of(positions: Dataset) -> list[Batch]:
    starts = range(0, len(positions), CALIBRATION_BATCH)
    parts = [np.arange(start, min(start + CALIBRATION_BATCH, len(positions))) for start in starts]
    return [make_batch(positions, part, np.zeros(len(part), bool)) for part in parts]
