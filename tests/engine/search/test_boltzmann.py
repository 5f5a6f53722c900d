"""Moves drawn by visits at a temperature."""

from collections import Counter
from random import Random

import pytest

from goryu.search.boltzmann import boltzmann_choice, boltzmann_distribution


def test_boltzmann_is_proportional_to_visits_at_temperature_one() -> None:
    assert boltzmann_distribution([10, 30, 0, 60], 1.0) == pytest.approx([0.1, 0.3, 0.0, 0.6])
    rng = Random(3)
    counts = Counter(boltzmann_choice([10, 30, 0, 60], 1.0, rng) for _ in range(5000))
    assert counts[2] == 0
    assert counts[3] / 5000 == pytest.approx(0.6, abs=0.03)


def test_boltzmann_goes_from_the_best_move_to_any_move_with_temperature() -> None:
    assert boltzmann_distribution([1, 5, 5], 0.0) == [0.0, 1.0, 0.0]
    assert boltzmann_distribution([900_000, 1_000_000], 1e-4)[1] == pytest.approx(1.0)
    assert boltzmann_distribution([1, 5], 1e6) == pytest.approx([0.5, 0.5], abs=1e-5)
    with pytest.raises(ValueError, match="at least one visit"):
        boltzmann_distribution([0, 0], 1.0)
