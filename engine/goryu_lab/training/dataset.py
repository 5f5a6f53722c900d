"""Training positions: from records to batches of planes and targets.

Every batch computes its planes, because a position takes 38 bytes as a record and 39 kilobytes as planes.

The left-right mirror image of a position is equally good, so every position counts twice. Whole games are
held out for validation, because neighbouring positions of a game differ by one move only.

Sources are HCPE files or files of games (`game_records.py`); only the latter have soft policy targets.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goryu.base.errors import InputError
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu_lab.records.conversion import hcpe_records
from goryu_lab.records.game_records import GAMES_SUFFIX, GameRecord, read_games
from goryu_lab.records.hcpe import HCPE, HcpeError, game_numbers, read_hcpe, results
from goryu_lab.training.batches import Arrays, Batch, Draw
from goryu_lab.training.score_scale import value_targets
from goryu_lab.training.soft_policies import SoftPolicies
from goryu_lab.training.sources import Source
from goryu_lab.training.stored_planes import fill_records


@dataclass(frozen=True, slots=True)
class Dataset:
    """Positions of one or several sources; all arrays have the length N.

    records: HCPE records.
    value: target win probability of the side to move, in [0, 1].
    policies: soft policy targets; None if there are none and the moves played are the targets.
    """

    records: npt.NDArray[np.void]
    value: npt.NDArray[np.float32]
    policies: SoftPolicies | None = None

    def __len__(self) -> int:
        return len(self.records)

    def select(self, chosen: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> "Dataset":
        """Returns some of the positions, given by indices or by a mask."""
        policies = None if self.policies is None else self.policies.select(chosen)
        return Dataset(self.records[chosen], self.value[chosen], policies)

    def checksum(self) -> str:
        """Returns a text that other positions do not have: a run goes on only with the same ones."""
        checksum = zlib.crc32(self.value.tobytes(), zlib.crc32(self.records.tobytes()))
        return f"{len(self)} with checksum {checksum:08x}"


def load_datasets(
    sources: Sequence[Source], held_out: float, seed: int, merge: bool = False
) -> tuple[Dataset, dict[str, Dataset]]:
    """Returns the training positions of all sources, and the held-out positions by the name of the source.

    Sources of one name, such as the games of several cycles, share an entry.

    held_out: share of the games of every source to hold out, in [0, 1). A held-out game that another source
        has too, with other labels or in another format, is not used there.
    merge: merge equal training positions into one with the mean of their targets.
    """
    if not 0.0 <= held_out < 1.0:
        raise InputError(f"held out: expected a share of 0 to 1, received {held_out:g}")
    training: list[Dataset] = []
    repeats: list[npt.NDArray[np.int64]] = []
    hashes_of: list[npt.NDArray[np.int64]] = []
    held_out_hashes: list[npt.NDArray[np.int64]] = []
    testing: dict[str, Dataset] = {}
    for source in sources:
        dataset, games, hashes = _read(source)
        is_held_out = held_out_games(games, source, held_out, seed)
        same = [testing[source.name]] if source.name in testing else []
        testing[source.name] = _concatenate([*same, dataset.select(is_held_out)])
        training.append(dataset.select(~is_held_out))
        repeats.append(np.full(len(training[-1]), source.repeat))
        hashes_of.append(hashes[~is_held_out])
        held_out_hashes.append(hashes[is_held_out])
    is_copy = np.isin(np.concatenate(hashes_of), np.concatenate(held_out_hashes))
    is_free = ~(is_copy[:, 0] | is_copy[:, 1])
    whole, repeat = _concatenate(training).select(is_free), np.concatenate(repeats)[is_free]
    if merge:
        whole, repeat = merge_duplicates(whole, repeat)
    return whole.select(np.repeat(np.arange(len(whole)), repeat)), testing


def held_out_games(
    numbers: npt.NDArray[np.int64], source: Source, held_out: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Returns for each number of a game whether the game is held out."""
    # The name is the seed, so that a file keeps its split when it grows or is used with others.
    rng = np.random.default_rng((seed, zlib.crc32(source.name.encode())))
    is_held_out: npt.NDArray[np.bool_] = rng.random(numbers.max(initial=-1) + 1) < held_out
    return is_held_out[numbers]


def number_of_game(game: GameRecord, numbers: dict[tuple[str, int | None, int], int]) -> int:
    """Returns the number of a record's game in its file, from 0; pieces of one game share it.

    numbers: those of the records before this one.
    """
    name = (game.teacher, game.number, len(numbers) if game.number is None else 0)
    return numbers.setdefault(name, len(numbers))


def _read(source: Source) -> tuple[Dataset, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns the positions of a source, and for each the number of its game, from 0, and two hashes of it.

    The hashes [N, 2] identify copies of a game: by its moves, which an HCPE file does not have, and by its
    recorded positions. One position alone identifies no game.
    """
    if source.path.suffix != GAMES_SUFFIX:
        records = read_hcpe(source.path)
        try:
            numbers = game_numbers(records)
            played = np.split(records["hcp"], np.flatnonzero(np.diff(numbers)) + 1)
            hashes = np.array([(hash(positions.tobytes()),) * 2 for positions in played])
            return Dataset(records, _value_targets(records, source)), numbers, hashes[numbers]
        except HcpeError as error:
            raise HcpeError(f"{source.path}: {error}") from error
    parts, policies, games = [np.zeros(0, HCPE)], [], [np.zeros(0, np.int64)]
    hashes_of = [np.zeros((0, 2), np.int64)]
    seen: dict[tuple[str, int | None, int], int] = {}
    for game in read_games(source.path):
        parts.append(hcpe_records(game))
        games.append(np.full(len(parts[-1]), number_of_game(game, seen)))
        count = len(parts[-1])
        of_moves = hash((game.start_sfen, game.moves))
        of_positions = hash(parts[-1]["hcp"].tobytes()) if count > 1 else of_moves
        hashes_of.append(np.tile(np.array([of_moves, of_positions]), (count, 1)))
        targets = game.policies or (None,) * len(game.moves)
        policies += [policy for policy, score in zip(targets, game.evals, strict=True) if score is not None]
    records = np.concatenate(parts)
    dataset = Dataset(records, _value_targets(records, source), SoftPolicies.of(policies))
    return dataset, np.concatenate(games), np.concatenate(hashes_of)


def _concatenate(parts: Sequence[Dataset]) -> Dataset:
    return Dataset(
        np.concatenate([part.records for part in parts]),
        np.concatenate([part.value for part in parts]),
        SoftPolicies.concatenate(part.policies or SoftPolicies.none(len(part)) for part in parts),
    )


def merge_duplicates(
    dataset: Dataset, repeat: npt.NDArray[np.int64]
) -> tuple[Dataset, npt.NDArray[np.int64]]:
    """Returns the distinct positions in the order of their first records, and how often to repeat each.

    The targets are means over equal positions, weighted by `repeat`; the move played and the result are those
    of the first record.
    """
    keys = np.ascontiguousarray(dataset.records["hcp"]).view("V32")[:, 0]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    group = np.argsort(order)[group]
    weights = repeat.astype(np.float64)
    value = np.bincount(group, weights * dataset.value) / np.bincount(group, weights)
    policies = dataset.policies or SoftPolicies.none(len(dataset))
    most = np.zeros(len(first), np.int64)
    np.maximum.at(most, group, repeat)
    merged = Dataset(
        dataset.records[first[order]],
        value.astype(np.float32),
        policies.means(group, weights, dataset.records["bestMove16"]),
    )
    return merged, most


def draws(count: int, size: int, rng: np.random.Generator) -> Iterator[Draw]:
    """Yields the contents of batches, endlessly: indices below `count`, and which are mirrored.

    Each pass is a new permutation and mirrors half of the positions at random; the incomplete batch at its
    end is dropped. Raises InputError if there are too few positions for one batch.
    """
    if count < size:
        raise InputError(f"expected at least one batch of {size} positions to train on, found {count}")
    while True:
        order = rng.permutation(count)
        for start in range(0, count - size + 1, size):
            yield order[start : start + size], rng.random(size) < 0.5


def make_batch(
    dataset: Dataset, chosen: npt.NDArray[np.int64], mirrored: npt.NDArray[np.bool_]
) -> Batch[Arrays]:
    """Returns the batch of the chosen positions, those with `mirrored` set as their mirror images."""
    size, records = len(chosen), dataset.records[chosen]
    batch = Batch[Arrays](
        input1=np.zeros((size, 62, 9, 9), np.float32),
        input2=np.zeros((size, 57, 9, 9), np.float32),
        legal=np.zeros((size, DLSHOGI_LABELS), np.bool_),
        label=np.zeros(size, np.int64),
        policy=np.zeros((size, DLSHOGI_LABELS), np.float32),
        value=dataset.value[chosen],
        result=results(records).astype(np.float32),
    )
    policies = SoftPolicies.none(size) if dataset.policies is None else dataset.policies.select(chosen)
    sizes = np.diff(policies.starts)
    row = np.repeat(np.arange(size), sizes)
    # The moves played, then those of the policies.
    labels = fill_records(
        records["hcp"],
        np.concatenate([np.arange(size), row]),
        np.concatenate([records["bestMove16"], policies.moves]),
        (batch.input1, batch.input2),
        batch.legal,
    )
    batch.label[:] = labels[:size]
    np.add.at(batch.policy, (row, labels[size:]), policies.probabilities)
    is_bare = np.flatnonzero(sizes == 0)
    batch.policy[is_bare, batch.label[is_bare]] = 1.0
    _mirror(batch, mirrored)
    return batch


def _mirror(batch: Batch[Arrays], mirrored: npt.NDArray[np.bool_]) -> None:
    """Reflects some positions of a batch left to right, with their labels."""
    mirror = mirror_labels()
    batch.input1[mirrored] = batch.input1[mirrored, :, ::-1, :]  # The axes are [plane][file][rank].
    batch.legal[mirrored] = batch.legal[mirrored][:, mirror]
    batch.policy[mirrored] = batch.policy[mirrored][:, mirror]
    batch.label[mirrored] = mirror[batch.label[mirrored]]


def mirror_labels() -> npt.NDArray[np.int64]:
    """Returns the label of the mirror image of each label's move; it is its own inverse."""
    channels = np.arange(27)
    for left, right in ((1, 2), (3, 4), (6, 7), (8, 9)):  # up-left and up-right, left and right, ...
        for promotion in (0, 10):
            channels[[left + promotion, right + promotion]] = right + promotion, left + promotion
    files, ranks = np.divmod(np.arange(81), 9)
    squares = (8 - files) * 9 + ranks
    labels: npt.NDArray[np.int64] = (channels[:, None] * 81 + squares[None, :]).reshape(-1)
    return labels


def _value_targets(records: npt.NDArray[np.void], source: Source) -> npt.NDArray[np.float32]:
    """Returns the targets of records; raises InputError for a source without a scale."""
    if source.scale is None:
        raise InputError(f"{source.path}: expected the scale of its scores, or a teacher")
    scores = records["eval"].astype(np.float64)
    return value_targets(scores, results(records), source.scale, source.result_weight)
