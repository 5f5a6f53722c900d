"""The measurements of devices: that they run, and what their numbers mean."""

import pytest

from goryu.implementation import IMPLEMENTATION

needs_native = pytest.mark.skipif(IMPLEMENTATION == "python", reason="measures the native search")


@needs_native
def test_simulated_devices_have_the_wanted_rate_and_all_time_is_accounted_for() -> None:
    from gpu.device_report import device_run, devices_of

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
