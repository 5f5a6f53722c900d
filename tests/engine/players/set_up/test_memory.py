"""The memory of the search graph when the user names none."""

import os
from pathlib import Path

import pytest

from goryu.players.config import EngineConfig, with_fields
from goryu.players.set_up import memory
from goryu.players.set_up.memory import automatic_hash_bytes, machine_bytes

GB = 1 << 30


@pytest.mark.parametrize("machine_gb, gpu_gb", [(0, 1), (2, 1), (16, 4), (128, 32)])
def test_a_gpu_gets_a_quarter_of_the_memory_and_a_cpu_a_gigabyte(
    monkeypatch: pytest.MonkeyPatch, machine_gb: int, gpu_gb: int
) -> None:
    monkeypatch.setattr(memory, "machine_bytes", lambda: machine_gb * GB)
    assert automatic_hash_bytes(uses_gpu=True) == gpu_gb * GB
    assert automatic_hash_bytes(uses_gpu=False) == GB
    automatic = EngineConfig()
    assert automatic.hash_bytes(uses_gpu=True) == gpu_gb * GB
    assert automatic.puct_config(0, 4).capacity_bytes == GB
    assert automatic.puct_config(0, 4, 2, uses_gpu=True).capacity_bytes == gpu_gb * GB // 2
    chosen = with_fields(automatic, {"search.capacity_bytes": 3 << 20})
    assert chosen.hash_bytes(uses_gpu=True) == 3 << 20


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="Windows")
@pytest.mark.parametrize("text, is_limit", [("1000000\n", True), ("max\n", False), (None, False)])
def test_a_containers_limit_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None, is_limit: bool
) -> None:
    limit = tmp_path / "memory.max"
    if text is not None:
        limit.write_text(text)
    monkeypatch.setattr(memory, "CGROUP_LIMIT", limit)
    assert (machine_bytes() == 1_000_000) == is_limit
    assert machine_bytes() > 0
