"""The positions of tic-tac-toe that each search visits."""

import pytest

from goryu.learning.tutorials.pruning import positions_visited


@pytest.mark.slow
def test_cuts_and_symmetry_save_positions() -> None:
    assert [*positions_visited()] == [
        ("minimax", 549_946, 58_524),
        ("one bound", 21_445, 3_089),
        ("alpha-beta", 16_811, 2_492),
    ]
