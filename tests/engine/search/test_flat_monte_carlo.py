"""Random games: their results as counted, and their end where a path repeats."""

from collections import Counter
from random import Random

import pytest

from boards import before_a_repetition, played
from goryu.games.tictactoe import TicTacToe
from goryu.search import flat_monte_carlo


def test_random_games_of_tictactoe_favour_the_first_player_as_counted() -> None:
    # Of all games with equal chances at each move, the first player wins 737/1260, the second 121/420.
    rng = Random(4)
    results = Counter(flat_monte_carlo.playout(TicTacToe(), rng) for _ in range(8000))
    assert results[1.0] / 8000 == pytest.approx(737 / 1260, abs=0.02)
    assert results[-1.0] / 8000 == pytest.approx(121 / 420, abs=0.02)


def test_a_random_game_ends_where_its_path_repeats_a_position() -> None:
    class NoDraws(Random):
        def random(self) -> float:
            raise AssertionError("the game is over")

        getrandbits = random  # type: ignore[assignment]

    assert flat_monte_carlo.playout(played(before_a_repetition(), "5b5a"), NoDraws()) == 0.0
