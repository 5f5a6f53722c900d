"""The measurements of devices: that they run, and what their numbers mean."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from goryu.benchmark.gpu_report import gpu_name, memory_mb
from goryu.commands import bench
from goryu.implementation import IMPLEMENTATION

needs_native = pytest.mark.skipif(IMPLEMENTATION == "python", reason="measures the native search")


@needs_native
def test_simulated_devices_have_the_wanted_rate_and_all_time_is_accounted_for() -> None:
    from goryu.benchmark.device_report import device_run, devices_of

    for count in (1, 4):
        together = sum(device.rate(64) for device in devices_of(5000, 64, count))
        assert together == pytest.approx(5000)
    run = device_run(4000, batch=16, threads=1, devices=2, seconds=0.6)
    assert run.device_rate == pytest.approx(4000)
    assert 0.0 < run.search_rate < 1.1 * run.device_rate
    assert 1.0 <= run.mean_batch <= 16.0
    assert 0.0 < run.busy <= 1.1
    assert run.search_us > 0.0
    assert run.cores_for(1e6) == pytest.approx(run.search_us)


@needs_native
def test_the_gpu_report_runs_whole_on_the_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "gpu.json"
    assert bench.main(["--gpu", "--size", "1x32", "--seconds", "4", "--json", str(file)]) == 0
    found = json.loads(file.read_text("utf-8"))
    measured = [cell for cell in found["cells"] if "raw_per_s" in cell]
    assert measured, capsys.readouterr().out
    assert all("failed" not in cell for cell in found["cells"])
    for cell in measured:
        assert cell["raw_per_s"] > 0.0
        assert cell["search_over_raw"] == pytest.approx(cell["search_per_s"] / cell["raw_per_s"])


def test_the_memory_of_a_gpu_is_what_its_driver_says() -> None:
    class Done:
        stdout = "1234\n"

    def smi(*_: Any, **__: Any) -> Any:
        return Done()

    def missing(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError

    def broken(*_: Any, **__: Any) -> Any:
        raise subprocess.CalledProcessError(9, "nvidia-smi")

    assert memory_mb(smi) == 1234.0
    assert memory_mb(missing) != 1234.0
    assert gpu_name(broken) == "unknown (CalledProcessError)"


@pytest.mark.parametrize("text", ["10", "10x", "x128", "10x0", "10x128,", "axb"])
def test_sizes_that_are_none_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["--gpu", "--size", text])
    assert "expected sizes such as 10x128,15x224" in capsys.readouterr().err
