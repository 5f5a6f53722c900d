"""A training run of two processes (gloo, on the CPU), started by PyTorch's own torchrun."""

import json
import os
import pickle
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from goryu_lab.training.batch_loader import load_batches  # noqa: E402
from goryu_lab.training.dataset import draws  # noqa: E402
from goryu_lab.training.export import load_checkpoint  # noqa: E402
from goryu_lab.training.process_group import ALONE, ProcessGroup, joined  # noqa: E402
from goryu_lab.training.train import train  # noqa: E402
from goryu_lab.training.validation import validate  # noqa: E402

SCRIPT = Path(__file__).parent / "process_cases.py"
NAMES = runpy.run_path(str(SCRIPT))
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def launch(case: str, folder: Path, *, restarts: int = 0) -> list[Any]:
    """Returns what the case returned in each of two processes of torchrun."""
    command = [*TORCHRUN, "--max-restarts", str(restarts), "--monitor-interval", "0.1", str(SCRIPT), case]
    environment = os.environ | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}  # Else a restart may fail.
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return [pickle.loads((folder / f"result-{rank}").read_bytes()) for rank in range(2)]


def log_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def are_equal(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    return all(np.array_equal(found[name], weights) for name, weights in expected.items())


def test_the_parts_of_the_processes_make_up_the_batches_of_one_process() -> None:
    data, size = NAMES["some_positions"](), 16
    content = next(draws(len(data), size, np.random.default_rng(3)))
    parts = [ProcessGroup(rank, 4).part(content) for rank in range(4)]
    assert sorted(np.concatenate([chosen for chosen, _ in parts])) == sorted(content[0])
    whole = load_batches(data, size, np.random.default_rng(3), first=2)
    shares = [
        load_batches(data, size, np.random.default_rng(3), first=2, group=ProcessGroup(rank, 2))
        for rank in range(2)
    ]
    for _ in range(5):  # Beyond the end of a pass.
        expected, halves = next(whole), [next(share) for share in shares]
        assert [len(half.value) for half in halves] == [size // 2, size // 2]
        for rank in range(2):
            assert np.array_equal(expected.input1[rank::2], halves[rank].input1)
            assert np.array_equal(expected.policy[rank::2], halves[rank].policy)


class Together:
    """What two processes have found, in the folder in which they have trained."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._results = folder, launch("together", folder)

    def __getitem__(self, name: str) -> list[Any]:
        return [result[name] for result in self._results]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Together:
    return Together(tmp_path_factory.mktemp("together"))


@pytest.mark.slow
def test_the_gradients_of_two_processes_are_those_of_one(two: Together) -> None:
    """With fixed statistics of the normalisations: those of the whole batch; else the mean of the halves'."""
    gradients, new_module, part = NAMES["gradients"], NAMES["InDoubles"], NAMES["part_of_batch"]
    whole = gradients(new_module().eval(), part(ALONE))
    halves = [gradients(new_module().train(), part(ProcessGroup(rank, 2))) for rank in range(2)]
    assert max(np.abs(gradient).max() for gradient in whole.values()) > 1e-2
    for fixed, own in two["gradients"]:
        for name, expected in whole.items():
            assert np.allclose(fixed[name], expected, rtol=1e-5, atol=1e-6), name
            assert np.allclose(own[name], (halves[0][name] + halves[1][name]) / 2, rtol=1e-5, atol=1e-6), name


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the names of threads from /proc")
def test_no_thread_of_the_processes_outlives_the_run(two: Together) -> None:
    """A thread of gloo that still runs when Python ends may abort the process."""
    for during, after in two["threads"]:
        assert during
        assert not after


@pytest.mark.slow
def test_two_processes_learn_what_one_process_learns(two: Together, tmp_path: Path) -> None:
    data, new_config = NAMES["some_positions"](), NAMES["new_config"]
    (first, steps), (second, others) = two["run"]
    assert steps == others == list(range(1, 41))
    assert are_equal(second, first)
    stored = load_checkpoint(two.folder / "run" / "checkpoint.pt")
    assert are_equal({name: tensor.numpy() for name, tensor in stored.state_dict().items()}, first)
    log = log_of(two.folder / "run")
    assert [(entry["step"], entry["samples"]) for entry in log] == [(i, 16 * i) for i in (10, 20, 30, 40)]
    # Each process has measured half of the positions.
    measured, expected = log[-1]["held_out"]["some"], validate(stored, data)
    assert measured["positions"] == len(data)
    for name in ("policy_loss", "policy_top1", "value_loss", "sign_accuracy", "policy_divergence"):
        assert measured[name] == pytest.approx(getattr(expected, name), abs=2e-4), name
    train(new_config(), data, {"some": data}, tmp_path / "one")
    alone = log_of(tmp_path / "one")
    assert alone[-1]["policy_loss"] < alone[0]["policy_loss"] - 0.5
    for found, wanted in zip(log, alone, strict=True):
        assert found["policy_loss"] == pytest.approx(wanted["policy_loss"], abs=0.2)
        assert found["value_loss"] == pytest.approx(wanted["value_loss"], abs=0.1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed by a signal")
def test_a_run_whose_process_is_killed_ends_with_the_same_network(two: Together, tmp_path: Path) -> None:
    """torchrun starts both processes again, and they go on from the last checkpoint."""
    expected, _ = two["small run"][0]
    found, steps = launch("killed", tmp_path, restarts=1)[0]
    assert steps == list(range(11, 21))
    assert [entry["step"] for entry in log_of(tmp_path / "run")] == [10, 20]
    assert are_equal(found, expected)
    config = NAMES["new_config"](blocks=1, channels=8, steps=24, evaluations=1)  # One process goes on.
    train(
        config,
        NAMES["some_positions"](),
        {},
        two.folder / "small",
        lambda entry: steps.append(entry["step"]),
    )
    assert sorted(set(steps[10:])) == [21, 22, 23, 24]


@pytest.mark.slow
def test_processes_that_stop_by_time_stop_at_the_same_step(two: Together) -> None:
    (first, steps), (second, others) = two["timed"]
    assert steps == others
    assert are_equal(second, first)


@pytest.mark.slow
def test_processes_that_cannot_train_together_say_why(two: Together) -> None:
    first, second = two["refusals"]
    assert first == second
    assert first[0] == "batch size: expected a multiple of the 2 processes, received 15"
    assert first[1].startswith("seed: expected 0 as in process 0, found 1 in process 1 on ")
    assert first[2].startswith("positions to train on: expected 32 with checksum ")
    assert "found 31 with checksum " in first[2]
    assert not (two.folder / "refused").exists()


def test_the_processes_of_a_computer_share_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goryu_lab.training.process_group.cores", lambda: 16)
    assert ALONE.cores() == 16
    assert ProcessGroup(5, 8).cores() == 2
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")  # The other four are on another computer.
    assert ProcessGroup(5, 8).cores() == 4
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "64")
    assert ProcessGroup(5, 64).cores() == 1


def test_an_environment_that_is_not_torchruns_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="WORLD_SIZE is 2: expected torchrun"), joined("cpu"):
        pass


def goryu_train(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Starts the program under torchrun."""
    source = ["--source", f"{NAMES['GAMES']},540", "--held-out", "0.1"]
    sizes = ["--batch-size", "8", "--blocks", "1", "--channels", "8"]
    return subprocess.Popen(
        [*TORCHRUN, "-m", "goryu", "train", *source, *sizes, "--folder", str(folder), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="torchrun is interrupted by a signal")
def test_an_interrupted_torchrun_leaves_its_last_checkpoint_and_one_message(tmp_path: Path) -> None:
    process = goryu_train(tmp_path, "--steps", "1000000", "--evaluations", "200000")
    while not (tmp_path / "checkpoint.pt").exists():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    messages = [line for line in errors.splitlines() if line.startswith("goryu train: ")]
    assert messages == ["goryu train: interrupted; the same command resumes from the last checkpoint"]
    assert load_checkpoint(tmp_path / "checkpoint.pt").training is False
