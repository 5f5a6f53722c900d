"""Batches that a teacher labels on the device are those of stored labels, and a run goes on exactly."""

from functools import partial
from itertools import islice
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from goryu.base.errors import GoryuError, InputError  # noqa: E402
from goryu.evaluators.formats.onnx_graph import GraphNode  # noqa: E402
from goryu.evaluators.network.model_files import ModelError, downloaded_model  # noqa: E402
from goryu.evaluators.network.network import NetworkEvaluator  # noqa: E402
from goryu.games.state import Move  # noqa: E402
from goryu_lab.benchmark.random_network import write_random_network  # noqa: E402
from goryu_lab.records.game_records import read_games, write_games  # noqa: E402
from goryu_lab.training.batch_loader import load_batches, on_device  # noqa: E402
from goryu_lab.training.config import TrainingConfig  # noqa: E402
from goryu_lab.training.dataset import load_datasets, make_batch  # noqa: E402
from goryu_lab.training.device_network import DeviceNetwork  # noqa: E402
from goryu_lab.training.distillation import DistilledPositions  # noqa: E402
from goryu_lab.training.game_positions import STUDENT, GamePositions, load_games  # noqa: E402
from goryu_lab.training.onnx_network import OPERATORS  # noqa: E402
from goryu_lab.training.sources import Source  # noqa: E402
from goryu_lab.training.stored_planes import PROMOTIONS  # noqa: E402
from goryu_lab.training.train import train  # noqa: E402
from sample_games import training_game  # noqa: E402

KINDS = ("miniosl", "dlshogi")
"""Of teachers; miniosl's sees the past."""


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "some.games"
    write_games(path, [training_game(seed) for seed in range(12)])
    return path


@pytest.fixture(scope="module", params=KINDS)
def teacher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("teacher") / f"{request.param}.onnx"
    write_random_network(2, 16, path, kind=request.param)
    return path


def boards_of(positions: GamePositions, count: int) -> list[Any]:
    found = []
    for i in range(count):
        game = positions.game[i]
        board = positions.boards[positions.start[game]].copy()
        first = positions.first[game]
        for move in positions.moves[first : first + positions.ply[i]].tolist():
            board.push(Move(move))
        found.append(board)
    return found


def distilled_by(teacher: Path, games: Path, **options: bool) -> DistilledPositions:
    positions, _ = load_games([Source(games)], 0.0, 0)
    return DistilledPositions(positions, DeviceNetwork(teacher, **options))


def check_labels(teacher: Path, games: Path, count: int) -> None:
    """Compares the labels with the answers of onnxruntime."""
    positions, _ = load_games([Source(games)], 0.0, 0)
    count = min(count, len(positions))
    distilled = DistilledPositions(positions, DeviceNetwork(teacher))
    (batch,) = distilled.batches([(np.arange(count), np.zeros(count, bool))], "cpu", 0)
    boards = boards_of(positions, count)
    evaluations = NetworkEvaluator(teacher, backend="onnxruntime").evaluate(boards)
    for i, (board, expected) in enumerate(zip(boards, evaluations, strict=True)):
        labels = [STUDENT.label(move, board.turn) for move in board.legal_moves()]
        assert batch.policy[i, labels].numpy() == pytest.approx(np.array(expected.policy), abs=1e-4)
        assert batch.policy[i].sum().item() == pytest.approx(1.0, abs=1e-5)
        assert 2.0 * batch.value[i].item() - 1.0 == pytest.approx(expected.value, abs=1e-4)


def test_the_labels_are_those_of_onnxruntime(teacher: Path, games: Path) -> None:
    check_labels(teacher, games, 100)


@pytest.mark.slow
@pytest.mark.skipif(not (downloaded_model()).exists(), reason="not downloaded")
def test_the_labels_of_miniosl_are_those_of_onnxruntime(games: Path) -> None:
    check_labels(downloaded_model(), games, 60)


def test_the_batches_are_those_of_stored_labels(teacher: Path, games: Path) -> None:
    """All but the targets: planes, legal moves, the moves played, results, mirror images."""
    stored, _ = load_datasets([Source(games, 600.0)], 0.0, 0)
    positions, _ = load_games([Source(games)], 0.0, 0)
    assert len(stored) == len(positions)
    content = np.arange(len(stored)), np.arange(len(stored)) % 2 == 0
    expected = on_device(make_batch(stored, *content))
    (found,) = DistilledPositions(positions, DeviceNetwork(teacher)).batches([content], "cpu", 0)
    for name in ("input1", "input2", "label", "result"):
        assert torch.equal(getattr(found, name), getattr(expected, name)), name
    assert not (found.legal & ~expected.legal).any()
    more = (expected.legal & ~found.legal).nonzero()  # Stored positions also list pointless non-promotions.
    assert found.legal[more[:, 0], more[:, 1] + PROMOTIONS].all()
    assert not found.policy[~found.legal].any()


def test_a_source_with_numbers_keeps_its_values(teacher: Path, games: Path) -> None:
    """They are the targets that training without a teacher takes; the policy is the teacher's."""
    stored, _ = load_datasets([Source(games, 600.0, 0.4)], 0.0, 0)
    content = np.arange(len(stored)), np.zeros(len(stored), bool)
    network = DeviceNetwork(teacher)
    own, others = (
        next(DistilledPositions(load_games([source], 0.0, 0)[0], network).batches([content], "cpu", 0))
        for source in (Source(games, 600.0, 0.4), Source(games))
    )
    assert own.value.numpy() == pytest.approx(stored.value, abs=1e-6)
    assert torch.equal(own.policy, others.policy)
    assert not torch.isclose(own.value, others.value).all()


def test_native_code_writes_the_positions_of_python(
    native: Any, games: Path, teacher: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions, _ = load_games([Source(games)], 0.0, 0)
    chosen, formats = np.arange(0, len(positions), 3), [STUDENT, DeviceNetwork(teacher).format]
    found = positions.write(chosen, formats)
    monkeypatch.setattr("goryu_lab.training.game_positions.IMPLEMENTATION", "python")
    expected = positions.write(chosen, formats)
    for ours, theirs in zip([*found.rows, *found.numbers], [*expected.rows, *expected.numbers], strict=True):
        assert np.array_equal(ours, theirs)
    assert np.array_equal(found.legal, expected.legal)
    assert np.array_equal(found.played, expected.played)


@pytest.mark.parametrize("implementation", ["native", "python"])
def test_an_illegal_move_is_noticed(
    implementation: str, games: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if implementation == "native":
        request.getfixturevalue("native")
    monkeypatch.setattr("goryu_lab.training.game_positions.IMPLEMENTATION", implementation)
    positions = GamePositions.of(list(read_games(games)))
    (late,) = np.flatnonzero((positions.game == 0) & (positions.ply > 1))[:1]
    first, ply = positions.first[0], positions.ply[late]
    positions.moves[first + ply] = positions.moves[first + ply - 1]
    for chosen in (late, late + 1):  # The move played, and a move before.
        with pytest.raises(ValueError, match="a game cannot be played: expected legal moves"):
            positions.write(np.array([chosen]), [STUDENT])


def test_threads_change_nothing(teacher: Path, games: Path) -> None:
    distilled = distilled_by(teacher, games)
    alone, helped = (
        load_batches(distilled, 16, np.random.default_rng(3), first=2, workers=workers) for workers in (0, 2)
    )
    for expected, found in islice(zip(alone, helped, strict=True), 6):
        assert torch.equal(found.input1, expected.input1)
        assert torch.allclose(found.policy, expected.policy, atol=1e-6)


@pytest.mark.parametrize("teacher", ["dlshogi"], indirect=True)
def test_a_run_goes_on_exactly_on_another_machine(teacher: Path, games: Path, tmp_path: Path) -> None:
    """2 N steps at once are N steps, a checkpoint that is carried elsewhere, and N steps."""
    training, testing = load_games([Source(games)], 0.2, 0)
    numbers: dict[str, Any] = {"blocks": 1, "channels": 8, "batch_size": 16, "threads": 1, "steps": 8}
    config = TrainingConfig(**numbers, evaluations=2, precision="float32")

    def distilled(positions: GamePositions) -> DistilledPositions:
        return DistilledPositions(positions, DeviceNetwork(teacher))

    def run(name: str, report: Any = lambda entry: None) -> Any:
        held_out = {source: distilled(positions) for source, positions in testing.items()}
        return train(config, distilled(training), held_out, tmp_path / name, report).state_dict()

    def interrupt(entry: dict[str, Any]) -> None:
        if entry["step"] == 5:
            raise KeyboardInterrupt

    expected = run("whole")
    with pytest.raises(KeyboardInterrupt):
        run("first", interrupt)
    (tmp_path / "second").mkdir()
    copyfile(tmp_path / "first" / "checkpoint.pt", tmp_path / "second" / "checkpoint.pt")
    steps: list[int] = []
    found = run("second", lambda entry: steps.append(entry["step"]))
    assert min(steps) == 5  # After the checkpoint of step 4.
    assert all(torch.equal(found[name], weights) for name, weights in expected.items())


@pytest.mark.parametrize("teacher", ["dlshogi"], indirect=True)
def test_labels_that_are_no_numbers_end_the_run(teacher: Path, games: Path, tmp_path: Path) -> None:
    positions, _ = load_games([Source(games)], 0.0, 0)
    network = DeviceNetwork(teacher)
    next(weights for weights in network.buffers() if weights.is_floating_point()).fill_(torch.inf)
    config = TrainingConfig(blocks=1, channels=8, batch_size=16, threads=1, steps=4, evaluations=4)
    with pytest.raises(GoryuError, match="step 1: the loss is no number"):
        train(config, DistilledPositions(positions, network), {}, tmp_path)
    assert not (tmp_path / "checkpoint.pt").exists()


@pytest.mark.slow
def test_a_compiled_teacher_in_halves_labels_nearly_the_same(
    teacher: Path, games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch traces the network but translates nothing to C++, which takes a minute."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    content = np.arange(24), np.zeros(24, bool)
    exact, rough = (
        next(distilled_by(teacher, games, **options).batches([content], "cpu", 0))
        for options in ({}, {"in_halves": True, "compiled": True})
    )
    assert torch.allclose(rough.policy, exact.policy, atol=0.02)
    assert torch.allclose(rough.value, exact.value, atol=0.02)


def test_only_games_can_be_labelled_by_a_teacher(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected a file of games \(\*\.games\)"):
        load_games([Source(tmp_path / "a.hcpe")], 0.0, 0)


@pytest.mark.parametrize("kind", ["nshogi", "dlshogi-119"])
def test_another_network_is_no_teacher(kind: str, tmp_path: Path) -> None:
    """One of them has the names of dlshogi's tensors, but more planes."""
    write_random_network(1, 8, tmp_path / "other.onnx", kind=kind)
    with pytest.raises(InputError, match=f"expected a network .*, found {kind[:7]}"):
        DeviceNetwork(tmp_path / "other.onnx")


@pytest.mark.parametrize(
    ("operator", "attributes", "inputs"),
    [
        ("Gemm", {"alpha": 0.5}, [2]),
        ("Gemm", {"transA": 1}, [2]),
        ("MaxPool", {"kernel_shape": [2, 2], "pads": [1, 1, 1, 1]}, []),
        ("Slice", {}, [[0], [2], [1], [2]]),
        ("Slice", {}, [[-1], [2], [1]]),
    ],
)
def test_what_an_operator_cannot_do_is_refused(
    operator: str, attributes: dict[str, Any], inputs: list[Any]
) -> None:
    plane = torch.ones(2, 2, 2)
    others = [plane[0] if each == 2 else each for each in inputs]
    with pytest.raises(InputError, match="without"):
        OPERATORS[operator](GraphNode(operator, attributes=attributes), plane, *others)


def test_a_pool_moves_by_one_unless_its_file_says_otherwise() -> None:
    node = GraphNode("MaxPool", attributes={"kernel_shape": [2, 2]})
    assert OPERATORS["MaxPool"](node, torch.ones(1, 3, 3)).shape == (1, 2, 2)


def test_outputs_of_another_shape_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    write_random_network(1, 8, path)
    labels, more = b"\x08\x8b\x11", b"\x08\x8c\x11"  # 2187 and 2188.
    content = path.read_bytes()
    assert content.count(labels) == 1
    path.write_bytes(content.replace(labels, more))
    with pytest.raises(ModelError, match=r"output_policy \[N, 2188\]"):
        DeviceNetwork(path)


def test_a_held_out_game_is_not_trained_on(games: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.games"
    write_games(copy, read_games(games))
    training, testing = load_games([Source(games), Source(copy)], 0.3, 0)
    trained = {tuple(training.moves[first : first + 20]) for first in training.first.tolist()}
    for positions in testing.values():
        held = {tuple(positions.moves[first : first + 20]) for first in positions.first.tolist()}
        assert held
        assert not held & trained
