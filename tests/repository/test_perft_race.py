"""The race of perft: a wrong count is noticed, and Ctrl-C does not wait long."""

import pytest

from goryu.games.shogi.sfen import START_SFEN
from goryu.implementation import IMPLEMENTATION

pytest.importorskip("cshogi")
from perft_race import NATIVE_PLIES, Case, measure, native_counter


def test_perft_of_both_programs_agrees_and_a_wrong_count_is_noticed() -> None:
    result = measure(Case("start", START_SFEN, 2, 900), "python", 2)
    assert result.agree
    assert result.leaves == {"python": 900, "cshogi": 900}
    assert not measure(Case("start", START_SFEN, 2, 901), "python", 1).agree


@pytest.mark.skipif(IMPLEMENTATION != "native", reason="counts with the native board")
def test_the_native_count_can_be_interrupted_every_few_plies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert native_counter(Case("start", START_SFEN, NATIVE_PLIES + 1))() == 19_861_490
    monkeypatch.setattr("perft_race.NATIVE_PLIES", 1)
    assert native_counter(Case("start", START_SFEN, 3))() == 25_470
