"""Random openings: drawn by visits, never a blunder, never a proven result."""

from collections import Counter
from dataclasses import replace
from random import Random

from goryu.games.state import Move
from goryu.players.config import RandomOpeningConfig
from goryu.players.random_openings import choose_move
from goryu.search.result import RootMove, SearchResult, SearchStats
from goryu.usi.option_values import OptionValues

STATS = SearchStats(100, 100, 3, 5, 100, 1000, False, False)


def root_move(number: int, visits: int, value: float, mate: int | None = None) -> RootMove:
    return RootMove(Move(number), 0.3, visits, value, mate, (Move(number),))


RESULT = SearchResult((root_move(1, 60, 0.1), root_move(2, 30, 0.08), root_move(3, 10, -0.5)), 0.1, STATS)
PROPORTIONAL = RandomOpeningConfig(plies=10)
NEVER = RandomOpeningConfig()


def draws(result: SearchResult, config: RandomOpeningConfig = PROPORTIONAL, ply: int = 0) -> Counter[int]:
    rng = Random(1)
    return Counter(int(choose_move(result, config, ply, rng).move) for _ in range(2000))


def test_moves_are_drawn_in_proportion_to_their_visits() -> None:
    drawn = draws(RESULT)
    assert abs(drawn[1] - 1200) < 100
    assert abs(drawn[2] - 600) < 100
    assert abs(drawn[3] - 200) < 60


def test_after_the_opening_the_best_move_is_played() -> None:
    assert set(draws(RESULT, ply=10)) == {1}


def test_a_higher_temperature_is_more_even() -> None:
    hot = replace(PROPORTIONAL, temperature=10.0)
    assert max(draws(RESULT, hot).values()) < 900


def test_the_temperature_falls_with_each_own_move() -> None:
    cooling = replace(PROPORTIONAL, temperature=1.0, temperature_drop=0.3)
    assert (
        draws(RESULT, cooling, ply=4)[1] > draws(RESULT, cooling, ply=2)[1] > draws(RESULT, cooling, ply=0)[1]
    )
    assert draws(RESULT, cooling, ply=5) == draws(RESULT, cooling, ply=4) != draws(RESULT, cooling, ply=6)
    assert set(draws(RESULT, cooling, ply=8)) == {1}


def test_a_move_far_worse_than_the_best_is_never_drawn() -> None:
    assert set(draws(RESULT, replace(PROPORTIONAL, cutoff=0.05))) == {1, 2}


def test_a_proven_win_is_played_and_a_proven_loss_is_not() -> None:
    won = replace(RESULT, moves=(root_move(9, 5, 1.0, mate=3), *RESULT.moves))
    assert set(draws(won)) == {9}
    lost = replace(RESULT, moves=(*RESULT.moves, root_move(9, 50, -1.0, mate=-2)))
    assert 9 not in draws(lost)


def test_the_option_in_per_mille_of_win_rate_is_twice_as_much_as_a_value() -> None:
    options = OptionValues()
    options.set("Random_Cutoff", "15")
    assert options.config.random_opening.cutoff == 0.03


def test_by_default_the_best_move_is_played() -> None:
    assert set(draws(RESULT, NEVER)) == {1}
