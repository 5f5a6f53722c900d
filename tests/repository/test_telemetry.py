"""Nothing leaves the user's computer unasked: libraries do not report their use to their makers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# With any of these set, a library is silent by itself.
SILENT = (
    "CI", "GITHUB_ACTIONS", "ORT_RUNNING_UNIT_TESTS", "ORT_DISABLE_TELEMETRY", "RAY_USAGE_STATS_ENABLED",
)  # fmt: skip


def bare_environment() -> dict[str, str]:
    """Returns the environment of a user without any settings."""
    return {name: value for name, value in os.environ.items() if name not in SILENT}


def left_behind(program: str, home: Path) -> list[str]:
    """Runs a program as a user without any settings; returns the files that it leaves in its home."""
    home.mkdir()
    environment = bare_environment() | {"HOME": str(home), "GORYU_MEASURE": "off"}
    environment.pop("XDG_CACHE_HOME", None)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, stdout=subprocess.DEVNULL)
    return [str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()]


@pytest.mark.skipif(sys.platform != "linux", reason="the place of onnxruntime's files is known for Linux")
def test_onnxruntime_keeps_no_record_of_the_user(tmp_path: Path) -> None:
    if not any("onnxruntime" in name for name in left_behind("import onnxruntime", tmp_path / "without")):
        pytest.skip("this onnxruntime keeps no record by itself")
    program = (
        "from goryu.evaluators.network.network import NetworkEvaluator\n"
        "from goryu.evaluators.network.model_files import shipped_model\n"
        "from goryu.implementation import Board\n"
        "NetworkEvaluator(shipped_model(), backend='onnxruntime').evaluate([Board()])\n"
    )
    assert left_behind(program, tmp_path / "with") == []


def test_ray_does_not_report_its_use() -> None:
    pytest.importorskip("ray")
    program = (
        "import goryu, ray._common.usage.usage_lib as usage\nraise SystemExit(usage.usage_stats_enabled())"
    )
    assert subprocess.run([sys.executable, "-c", program], env=bare_environment()).returncode == 0


def test_what_the_user_has_set_stays() -> None:
    program = "import goryu, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"
