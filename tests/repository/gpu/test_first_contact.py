"""The stages of a first contact, with the CPU in place of the GPU."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from first_contact import main
from goryu.evaluators.network.providers import BackendError, Session, open_session
from goryu.implementation import IMPLEMENTATION
from gpu import answers, faults, machine, rates
from gpu.answers import Answers
from gpu.contact_log import LOG
from gpu.plan import Contact, ContactError, Stage

pytest.importorskip("onnxruntime")


@pytest.mark.slow
@pytest.mark.skipif(IMPLEMENTATION == "python", reason="the search of Python is too slow")
def test_a_rehearsal_runs_all_stages_and_a_second_call_has_nothing_to_do(tmp_path: Path) -> None:
    pytest.importorskip("rsshogi")
    words = ["--out", str(tmp_path), "--rehearse", "--quick", "--minutes", "3"]
    assert main(words) == 1, "TensorRT is missing"
    log = (tmp_path / LOG).read_bytes()
    events = [json.loads(line) for line in log.splitlines()]
    failed = [event["item"] for event in events if event["event"] == "failed"]
    assert failed == ["provider tensorrt", "opening tensorrt", "opening tensorrt"]
    found = {event["item"]: event["found"] for event in events if event["event"] == "done"}
    assert all(each["is_close"] for each in found.values() if "is_close" in each)
    assert found["match"]["games"] == 2
    assert found["a killed engine beside another"]["answers"] == 4
    assert "1x16 onnxruntime fp16 bits, batch 8" in (tmp_path / "report.md").read_text("utf-8")
    assert main(words) == 1
    assert (tmp_path / LOG).read_bytes() == log
    assert main(["--out", str(tmp_path), "--rehearse"]) == 2, "another kind of contact"


def test_differences_are_those_of_probabilities_and_values() -> None:
    one = Answers(np.array([[0.7, 0.3, 0.0], [0.2, 0.5, 0.3]]), np.array([0.1, -0.2]))
    two = Answers(np.array([[0.7, 0.3, 0.0], [0.4, 0.3, 0.3]]), np.array([0.1, -0.1]))
    found = answers.differences(one, two)
    assert found["policy_max"] == pytest.approx(0.2)
    assert found["policy_mean"] == pytest.approx(0.4 / 5)
    assert found["value_max"] == pytest.approx(0.1)
    assert found["value_mean"] == pytest.approx(0.05)
    assert found["same_first"] == 0.5
    assert not answers.is_close(found, "fp16")
    assert answers.is_close(answers.differences(one, one), "fp32")


def test_a_provider_that_lets_others_compute_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """onnxruntime's own session on the CPU, which claims to be one on a GPU."""
    contact = Contact(tmp_path, rehearses=True, is_quick=True)

    class Claims:
        def __init__(self, handle: Any) -> None:
            self._handle = handle

        def __getattr__(self, name: str) -> Any:
            return getattr(self._handle, name)

        def get_providers(self) -> list[str]:
            return ["CUDAExecutionProvider", "CPUExecutionProvider"]

    def claims(path: Path, backend: str, **options: Any) -> Session:
        session = open_session(path, "cpu", **options)
        return Session(Claims(session.handle), "CUDA", session.onnxruntime_version)

    monkeypatch.setattr("gpu.machine.open_session", claims)
    network = contact.random_network("dlshogi", "1x16")
    with pytest.raises(ContactError, match=r"CPUExecutionProvider': 1\.0"):
        machine.provider(contact, network, "cuda")


@pytest.mark.parametrize("stage", [answers.STAGE, rates.STAGE])
def test_each_backend_is_opened_by_an_item_that_the_others_need(stage: Stage, tmp_path: Path) -> None:
    """So a TensorRT that crashes leaves CUDA's results."""
    items = list(stage.items(Contact(tmp_path, is_quick=True)))
    for backend in ("cuda", "tensorrt"):
        first, *others = (item for item in items if backend in item.name)
        assert not first.needs
        assert {item.needs for item in others} == {first.name}
    names = [item.name for item in items]
    assert names.index("opening tensorrt") > max(i for i, name in enumerate(names) if "cuda" in name)


def test_a_gpu_that_does_not_start_says_why(tmp_path: Path) -> None:
    try:
        Contact(tmp_path).opening("cuda").work(1.0)
    except BackendError as error:
        assert "CUDA cannot be used" in str(error)  # noqa: PT017 - a GPU may be there
    else:
        pytest.skip("a GPU is there")


def test_an_engine_that_answers_twice_is_noticed(tmp_path: Path) -> None:
    log = tmp_path / "engine.usi.log"
    log.write_text("1.0 e > go movetime 5\n1.1 e < info string hello\n1.2 e < bestmove 7g7f\n")
    assert faults.one_answer_each(log, 0) == (1, ["hello"])
    with log.open("a") as file:
        file.write("1.3 e < bestmove 7g7f\n")
    with pytest.raises(ContactError, match="1 times go, 2 times bestmove"):
        faults.one_answer_each(log, 0)


def test_the_memory_of_a_gpu_is_what_its_driver_says() -> None:
    class Done:
        stdout = "1234\n"

    def smi(*_: Any, **__: Any) -> Any:
        return Done()

    def missing(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError

    def broken(*_: Any, **__: Any) -> Any:
        raise subprocess.CalledProcessError(9, "nvidia-smi")

    assert machine.memory_mb(smi) == 1234.0
    assert machine.memory_mb(missing) is None
    assert machine.gpu_name(broken) == "unknown (CalledProcessError)"
