"""`goryu doctor`: what it measures and reports."""

import re
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goryu.commands import doctor
from goryu.evaluators.network import providers
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import IMPLEMENTATION
from goryu.players.set_up import measuring
from present import present


def finished(findings: Generator[str, None, Any]) -> tuple[list[str], Any]:
    """Returns what a generator yielded, and what it returned."""
    lines: list[str] = []
    try:
        while True:
            lines.append(next(findings))
    except StopIteration as end:
        return lines, end.value


@pytest.mark.slow
def test_goryu_doctor_reports_a_missing_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main(["/nowhere/none.onnx"]) == 1
    text = capsys.readouterr().out
    assert "! broken: model /nowhere/none.onnx: no such file" in text
    assert "search:" in text


def test_goryu_doctor_measures_with_engine_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "engine_options.txt"
    file.write_text("Evaluator material\nNoSuch 1\n")
    monkeypatch.setenv("GORYU_OPTIONS", str(file))
    lines, config = finished(doctor._options(""))
    assert config.evaluator.kind == "material"
    assert lines == [
        "! engine_options.txt: no option is called 'NoSuch'",
        "set by engine_options.txt: Evaluator=material",
    ]


@pytest.mark.skipif(IMPLEMENTATION == "python", reason="nothing is measured in Python")
def test_goryu_doctor_loads_the_network_once_for_a_backend_its_measurement_and_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    open_network = NetworkEvaluator.__init__

    def counted(network: NetworkEvaluator, path: Path, **others: Any) -> None:
        opened.append(others["backend"])
        open_network(network, path, **others)

    monkeypatch.setattr(NetworkEvaluator, "__init__", counted)
    monkeypatch.setattr(providers, "BACKENDS", ("auto", "winograd-float"))
    for name in ("cuda", "directml"):
        monkeypatch.setitem(providers.KNOWN, name, replace(providers.KNOWN[name], is_automatic=False))
    monkeypatch.setattr(doctor, "MEASURED_S", 0.01)
    monkeypatch.setattr(measuring, "MEASURED_S", 0.001)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.delenv("GORYU_MEASURE", raising=False)
    assert doctor.main([]) == 0
    printed = capsys.readouterr().out
    assert opened == ["cpu", "winograd-float"]
    measured = present(re.search(r"measured: Threads (\d+), DNN_Batch_Size (\d+)", printed))
    assert f" searchers={measured[1]} " in printed
    assert "search: " in printed
