"""Pi by random points: the error is right, and shrinks as it should."""

from math import pi
from random import Random

import pytest

from goryu_lab.lessons.pi import estimates


def test_the_error_covers_the_distance_to_pi() -> None:
    found = [*estimates(20_000, Random(5))]
    assert [estimate.points for estimate in found] == [10, 100, 1_000, 10_000, 20_000]
    assert all(abs(estimate.pi - pi) < 4 * estimate.error for estimate in found)
    assert found[3].error == pytest.approx(found[1].error / 10, rel=0.3)
