"""A small training run: it learns, resumes, and exports the same outputs to onnxruntime."""

import json
import math
import multiprocessing
import sys
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from paths import MODELS

torch: Any = pytest.importorskip("torch")

from goryu.base.errors import InputError  # noqa: E402
from goryu.base.files import held_folder  # noqa: E402
from goryu.evaluators.network.network import NetworkEvaluator  # noqa: E402
from goryu.games.shogi import Board, move_from_usi  # noqa: E402
from goryu.games.shogi.packed_position import pack  # noqa: E402
from goryu_lab.conversion.tensors import ConversionError  # noqa: E402
from goryu_lab.records.expecting import expecting  # noqa: E402
from goryu_lab.records.hcpe import BLACK_WON, DRAW, HCPE  # noqa: E402
from goryu_lab.records.packed_position import APERY  # noqa: E402
from goryu_lab.training.batch_loader import load_batches, on_device  # noqa: E402
from goryu_lab.training.config import TrainingConfig  # noqa: E402
from goryu_lab.training.dataset import Dataset, draws, make_batch  # noqa: E402
from goryu_lab.training.export import export_onnx, load_checkpoint  # noqa: E402
from goryu_lab.training.growth import grown, size_of  # noqa: E402
from goryu_lab.training.import_onnx import load_export, unfold  # noqa: E402
from goryu_lab.training.losses import losses  # noqa: E402
from goryu_lab.training.network import PolicyValueNet  # noqa: E402
from goryu_lab.training.soft_policies import SoftPolicies  # noqa: E402
from goryu_lab.training.train import train  # noqa: E402
from goryu_lab.training.validation import validate  # noqa: E402

SHIPPED = MODELS / "goryu-5x64.onnx"
OPENING = ("7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e", "6i7h", "4a3b")


def small_dataset() -> Dataset:
    """One opening of eight moves that Black always wins."""
    board = Board()
    records = np.zeros(len(OPENING), HCPE)
    for ply, usi in enumerate(OPENING):
        records[ply]["hcp"] = np.frombuffer(pack(board, APERY), np.uint8)
        records[ply]["bestMove16"] = move_from_usi(usi)
        records[ply]["gameResult"] = BLACK_WON
        board.push_usi(usi)
    value = np.array([1.0, 0.0] * (len(OPENING) // 2), np.float32)
    return Dataset(np.tile(records, 4), np.tile(value, 4))


def new_config(**changes: Any) -> TrainingConfig:
    values: dict[str, Any] = {
        "blocks": 2, "channels": 16, "batch_size": 16, "steps": 40, "evaluations": 4, "threads": 1,
    }  # fmt: skip
    return TrainingConfig(**values | changes)


@pytest.mark.parametrize(
    ("precision", "cpu", "expected"),
    [
        ("float32", {"amx_bf16": True}, torch.float32),
        ("bfloat16", {}, torch.bfloat16),
        ("auto", {"cpu_name": "Intel(R) Xeon(R)", "avx512_bf16": True, "amx_bf16": True}, torch.bfloat16),
        ("auto", {"cpu_name": "Intel(R) Xeon(R)", "avx512_bf16": True, "amx_bf16": False}, torch.float32),
        ("auto", {"cpu_name": "AMD EPYC", "avx512_bf16": True, "amx_bf16": False}, torch.bfloat16),
        ("auto", {"cpu_name": "AMD EPYC", "avx512_bf16": False, "amx_bf16": False}, torch.float32),
        ("auto", {}, torch.float32),
    ],
)
def test_the_precision_is_that_of_the_convolutions(
    precision: str, cpu: dict[str, object], expected: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: cpu, raising=False)
    net, found = PolicyValueNet(1, 16), []
    net.board.register_forward_hook(lambda module, inputs, output: found.append(output.dtype))
    batch = make_batch(small_dataset(), np.arange(8), np.zeros(8, bool))
    losses(net, on_device(batch), new_config(precision=precision))
    assert found == [expected]
    assert all(parameter.dtype == torch.float32 for parameter in net.parameters())


def test_another_precision_is_refused() -> None:
    with pytest.raises(InputError, match="precision: expected auto, bfloat16, float32, received 'float16'"):
        new_config(precision="float16")


@pytest.mark.slow
def test_a_compiled_network_learns_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch traces the network but translates nothing to C++, which takes a minute."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    logs = []
    for compiled in (False, True):
        folder = tmp_path / str(compiled)
        config = new_config(steps=4, precision="float32", compile=compiled)
        train(config, small_dataset(), {}, folder)
        logs.append(
            [json.loads(line)["policy_loss"] for line in (folder / "log.jsonl").read_text().splitlines()]
        )
    assert logs[1] == pytest.approx(logs[0], rel=0.01)


def test_an_evaluation_that_is_due_by_time_counts_all_steps(tmp_path: Path) -> None:
    """With another name of the device the losses are read as from a GPU, after some steps."""
    config = new_config(steps=1000, minutes=1e-5, evaluations=1, device="cpu:0")
    train(config, small_dataset(), {}, tmp_path)
    assert json.loads((tmp_path / "log.jsonl").read_text())["policy_loss"] > 0.0


def test_drawn_games_have_no_accuracy_of_the_value() -> None:
    class Pessimist(torch.nn.Module):  # type: ignore[misc]
        def forward(self, board: Any, hands: Any) -> tuple[Any, Any]:
            return torch.zeros(len(board), 2187), torch.full((len(board), 1), -1.0)

    data = small_dataset()
    data.records["gameResult"][4:] = DRAW  # The first four plies remain decided, two of each side.
    assert validate(Pessimist(), data).sign_accuracy == 0.5
    data.records["gameResult"] = DRAW
    assert validate(Pessimist(), data).sign_accuracy == 0.0


def test_the_divergence_from_soft_targets_is_zero_where_they_are_met() -> None:
    """A uniform policy is log 2 away from a target that excludes half of the legal moves."""

    class Ignorant(torch.nn.Module):  # type: ignore[misc]
        def forward(self, board: Any, hands: Any) -> tuple[Any, Any]:
            return torch.zeros(len(board), 2187), torch.zeros(len(board), 1)

    hard = small_dataset().select(np.array([0]))
    legal = Board().legal_moves()
    assert len(legal) == 30
    for moves, expected in ((legal, 0.0), (legal[:15], math.log(2.0))):
        even = SoftPolicies.of([tuple((move, 1.0 / len(moves)) for move in moves)])
        found = validate(Ignorant(), Dataset(hard.records, hard.value, even))
        assert found.policy_divergence == pytest.approx(expected, abs=1e-3)
    found = validate(Ignorant(), hard)
    assert found.policy_divergence == found.policy_loss == pytest.approx(math.log(30), abs=1e-3)


@pytest.mark.slow
def test_training_lowers_the_losses_and_the_export_agrees(tmp_path: Path) -> None:
    data = small_dataset()
    before = validate(PolicyValueNet(2, 16), data)
    net = train(new_config(steps=120, learning_rate=4e-2, average=0.18), data, {"small": data}, tmp_path)
    after = validate(net, data)
    assert after.policy_loss < before.policy_loss - 1.0
    assert after.value_loss < before.value_loss - 0.1
    assert after.policy_top1 > 0.9
    assert after.sign_accuracy > 0.9
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [entry["step"] for entry in log] == [30, 60, 90, 120]

    export_onnx(net, tmp_path / "tiny.onnx")
    evaluator = NetworkEvaluator(tmp_path / "tiny.onnx", backend="onnxruntime")
    board = Board()
    inputs = evaluator.new_inputs(1)
    evaluator.format.fill(board, [rows[0] for rows in inputs])
    logits, values = evaluator.run(inputs)
    with torch.no_grad():
        expected_logits, expected_value = net(*(torch.from_numpy(rows) for rows in inputs))
    assert np.allclose(logits, expected_logits.numpy(), atol=1e-4)
    assert values[0] == pytest.approx(2.0 * torch.sigmoid(expected_value).item() - 1.0, abs=1e-4)
    evaluation = evaluator.evaluate([board])[0]
    best = max(range(len(evaluation.policy)), key=evaluation.policy.__getitem__)
    assert board.legal_moves()[best] == move_from_usi("7g7f")


def planes_of(data: Dataset) -> Any:
    batch = make_batch(data, np.arange(len(data)), np.zeros(len(data), bool))
    return torch.from_numpy(batch.input1), torch.from_numpy(batch.input2)


@pytest.mark.slow
def test_a_run_that_was_interrupted_goes_on_where_it_stopped(tmp_path: Path) -> None:
    data = small_dataset()

    class InterruptionError(Exception):
        pass

    def interrupt(entry: dict[str, Any]) -> None:
        if entry["step"] == 25:
            raise InterruptionError

    with pytest.raises(InterruptionError):
        train(new_config(), data, {"small": data}, tmp_path, interrupt)
    with (tmp_path / "log.jsonl").open("a") as log:  # As if killed after the log, before the checkpoint.
        log.write('{"step": 30, "policy_loss": 9.0}\n{"step": 40, "poli')
    steps: list[int] = []
    train(new_config(), data, {"small": data}, tmp_path, lambda entry: steps.append(entry["step"]))
    logged = [json.loads(line)["step"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert logged == [10, 20, 30, 40]
    assert min(steps) == 21  # After the checkpoint of step 20.
    assert max(steps) == 40
    assert load_checkpoint(tmp_path / "checkpoint.pt").training is False


def test_an_interrupted_run_ends_with_the_same_network(tmp_path: Path) -> None:
    def interrupt(entry: dict[str, Any]) -> None:
        if entry["step"] == 6:
            raise KeyboardInterrupt

    config, data = new_config(blocks=1, channels=8, steps=10, evaluations=2), small_dataset()
    expected = train(config, data, {}, tmp_path / "whole").state_dict()
    with pytest.raises(KeyboardInterrupt):
        train(config, data, {}, tmp_path / "pieces", interrupt)
    found = train(config, data, {}, tmp_path / "pieces").state_dict()
    assert all(torch.equal(found[name], weights) for name, weights in expected.items())


def test_the_second_half_of_a_run_may_have_another_weight_decay(tmp_path: Path) -> None:
    config, data = new_config(blocks=1, channels=8, steps=10, evaluations=1), small_dataset()
    train(replace(config, weight_decay=0.0), data, {}, tmp_path / "same")
    copytree(tmp_path / "same", tmp_path / "other")
    longer = replace(config, steps=20)
    same = train(replace(longer, weight_decay=0.0), data, {}, tmp_path / "same").tower[0].first.weight
    other = train(replace(longer, weight_decay=5.0), data, {}, tmp_path / "other").tower[0].first.weight
    assert other.square().sum() < 0.98 * same.square().sum()


@pytest.mark.parametrize("workers", [1, 2])
def test_batches_made_by_other_processes_are_the_same(workers: int) -> None:
    data = small_dataset()
    contents = islice(draws(len(data), 8, np.random.default_rng(3)), 2, None)
    alone = (make_batch(data, *content) for content in contents)
    helped = load_batches(data, 8, np.random.default_rng(3), first=2, workers=workers)
    for expected, found in islice(zip(alone, helped, strict=True), 2 * len(data) // 8):
        for name, array in expected._asdict().items():
            assert np.array_equal(getattr(found, name), array), name


def test_processes_that_make_batches_change_nothing(tmp_path: Path) -> None:
    config, data = new_config(blocks=1, channels=8, steps=6, evaluations=2), small_dataset()
    expected = train(config, data, {}, tmp_path / "alone").state_dict()
    found = train(replace(config, workers=2), data, {}, tmp_path / "helped").state_dict()
    assert all(torch.equal(found[name], weights) for name, weights in expected.items())
    assert not multiprocessing.active_children()


def test_too_few_positions_are_noticed_by_other_processes_too() -> None:
    stream = load_batches(small_dataset(), 1_000_000, np.random.default_rng(3), workers=1)
    with pytest.raises(ValueError, match="expected at least one batch of 1000000 positions"):
        next(stream)


def test_an_exported_network_can_be_trained_on(tmp_path: Path) -> None:
    """The outputs stay the same; the normalisations get the statistics of the positions."""
    data = small_dataset()
    net = train(new_config(learning_rate=4e-2, average=0.18), data, {}, tmp_path)
    export_onnx(net, tmp_path / "net.onnx")
    loaded = load_export(tmp_path / "net.onnx")
    planes = planes_of(data)
    with torch.no_grad():
        expected = net(*planes)
        for _ in range(2):
            for found, value in zip(loaded(*planes), expected, strict=True):
                assert torch.allclose(found, value, atol=1e-4)
            unfold(loaded, *planes)
        loaded.train()  # Now with the statistics of the batch, which are the same.
        for found, value in zip(loaded(*planes), expected, strict=True):
            assert torch.allclose(found, value, atol=1e-3)
    before = validate(net, data)
    net = train(new_config(steps=2), data, {}, tmp_path / "on", initial=tmp_path / "net.onnx")
    after = validate(net, data)
    assert after.policy_loss == pytest.approx(before.policy_loss, abs=0.2)


def test_an_untrained_network_can_be_trained_after_its_export(tmp_path: Path) -> None:
    """The file stores equal arrays once, and the blocks have weights of zero, which must not stay zero."""
    torch.manual_seed(1)
    net = PolicyValueNet(1, 16)
    export_onnx(net, tmp_path / "net.onnx")
    planes = planes_of(small_dataset())
    loaded = load_export(tmp_path / "net.onnx")
    unfold(loaded, *planes)
    for found, value in zip(loaded(*planes), net(*planes), strict=True):
        assert torch.allclose(found, value, atol=1e-4)
    loaded.train()(*planes)[0].logsumexp(1).sum().backward()
    assert loaded.tower[0].second_norm.weight.grad.abs().min() > 1e-6


def test_the_network_of_another_game_cannot_be_trained_on() -> None:
    with pytest.raises(ValueError, match=r"tictactoe\.onnx: expected a float32 network"):
        load_export(SHIPPED.with_name("tictactoe.onnx"))


def test_a_network_in_16_bits_cannot_be_trained_on(tmp_path: Path) -> None:
    from goryu_lab.conversion.smaller import halve

    halve(SHIPPED, tmp_path / "half.onnx")
    with pytest.raises(ValueError, match="has no float32 weights"):
        load_export(tmp_path / "half.onnx")


def test_training_does_not_start_from_a_larger_network(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="onnx: expected at most 2 blocks of 16 channels, found 5 of 64"):
        train(new_config(), small_dataset(), {}, tmp_path, initial=SHIPPED)
    with pytest.raises(ValueError, match="expected at most 8 blocks of 32 channels, found 5 of 64"):
        train(new_config(blocks=8, channels=32), small_dataset(), {}, tmp_path, initial=SHIPPED)


def test_a_grown_network_gives_the_same_answers() -> None:
    torch.manual_seed(3)
    net = load_export(SHIPPED)
    planes = planes_of(small_dataset())
    unfold(net, *planes)
    for size in ((5, 64), (6, 64), (8, 96)):
        large = grown(net, *size)
        assert size_of(large) == size
        with torch.no_grad():
            for found, expected in zip(large(*planes), net(*planes), strict=True):
                assert torch.allclose(found, expected, atol=1e-4)


def test_the_new_channels_and_blocks_of_a_grown_network_learn(tmp_path: Path) -> None:
    data, small = small_dataset(), tmp_path / "small.onnx"
    export_onnx(train(new_config(steps=8), data, {}, tmp_path), small)
    torch.manual_seed(5)
    large = train(new_config(steps=8, blocks=4, channels=32), data, {}, tmp_path / "on", initial=small)
    logits, value = large.train()(*planes_of(data))
    (logits.logsumexp(1).sum() + value.sum()).backward()
    for name, parameter in large.tower.named_parameters():
        new = parameter.grad[16:]  # The channels that the small network does not have.
        assert new.abs().max() > 1e-9, name
        if new.ndim > 1:
            assert parameter.grad[:16, 16:].abs().max() > 1e-9, f"{name}: old channels do not read new ones"


def test_what_the_reader_says_of_a_checkpoint_is_shown(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"a.pt: expected a run \(a.pt: expected tensors\)"),
        expecting(tmp_path / "a.pt", "a run"),
    ):
        raise ConversionError("a.pt: expected tensors")


@pytest.mark.parametrize("content", [b"", b"hello"])
def test_training_does_not_start_from_another_file(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "checkpoint.pt").write_bytes(content)
    with pytest.raises(ValueError, match=r"checkpoint.pt: expected a checkpoint"):
        train(new_config(), small_dataset(), {}, tmp_path / "run", initial=tmp_path / "checkpoint.pt")
    assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match=r"checkpoint.pt: expected the checkpoint of a run"):
        train(new_config(), small_dataset(), {}, tmp_path)
    assert (tmp_path / "checkpoint.pt").read_bytes() == content


def test_a_run_goes_on_without_the_network_that_it_began_with(tmp_path: Path) -> None:
    export_onnx(PolicyValueNet(2, 16), tmp_path / "net.onnx")
    train(new_config(steps=4), small_dataset(), {}, tmp_path / "run", initial=tmp_path / "net.onnx")
    (tmp_path / "net.onnx").unlink()
    steps: list[int] = []
    train(
        new_config(steps=8), small_dataset(), {}, tmp_path / "run", lambda entry: steps.append(entry["step"]),
        initial=tmp_path / "net.onnx",
    )  # fmt: skip
    assert min(steps) == 5
    with pytest.raises(ValueError, match="expected the checkpoint of a run with a network of this size"):
        train(new_config(channels=8), small_dataset(), {}, tmp_path / "run")


def test_a_run_does_not_go_on_as_another_one(tmp_path: Path) -> None:
    data = small_dataset()
    train(new_config(steps=2), data, {}, tmp_path)
    before = (tmp_path / "checkpoint.pt").read_bytes()
    with pytest.raises(InputError, match=r"of another run \(learning_rate was .*; seed was 0, is 9\)"):
        train(new_config(steps=4, seed=9, learning_rate=0.5), data, {}, tmp_path)
    with pytest.raises(InputError, match=r"of another run \(the positions were .*name it with --initial"):
        train(new_config(steps=4), data.select(np.arange(len(data) - 1)), {}, tmp_path)
    assert (tmp_path / "checkpoint.pt").read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="there a folder is not held")
def test_a_folder_has_one_run_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from goryu_lab.commands.training.train import main

    arguments = ["--source", "none.hcpe,540", "--folder", str(tmp_path)]
    with held_folder(tmp_path):
        assert main(arguments) == 2
    assert capsys.readouterr().err == f"goryu train: {tmp_path}: another program is using this folder\n"
    assert main(arguments) == 2
    assert "none.hcpe" in capsys.readouterr().err


def test_a_network_for_which_there_is_no_memory_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from goryu_lab.commands.training import train

    def fail(*_: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory\nmore")

    monkeypatch.setattr(train, "train_and_export", fail)
    assert train.main(["--source", "some.hcpe,540", "--folder", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said == "goryu train: DefaultCPUAllocator: can't allocate memory\n"


def test_a_full_disk_is_an_error_that_names_it_and_leaves_the_checkpoint(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    train(new_config(steps=4, evaluations=1), small_dataset(), {}, tmp_path)
    before = (tmp_path / "checkpoint.pt").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            train(new_config(steps=8, evaluations=1), small_dataset(), {}, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "checkpoint.pt").read_bytes() == before


def test_a_device_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="device 'nothing'"):
        train(new_config(device="nothing"), small_dataset(), {}, tmp_path / "run")
    assert not (tmp_path / "run").exists()
