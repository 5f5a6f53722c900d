"""Elo, LOS, normalised Elo and the sequential test, against published numbers and some worked by hand."""

import random
from collections.abc import Callable, Sequence
from math import inf, isfinite, log, log10, sqrt
from statistics import mean, stdev

import pytest

from goryu_lab.match.least_squares import ExperimentError
from goryu_lab.match.match_statistics import PAIR_SCORES, MatchStatistics, elo_of_score, score_of_elo
from goryu_lab.match.screening import effects, parse_changes, toss
from goryu_lab.match.sprt import SequentialTest, Sprt, SprtError, fit_mean, fit_t
from goryu_lab.match.tuning import Surface, TunedOption, draw, parse_ranges


def test_twenty_wins_to_ten_losses_is_120_elo() -> None:
    # 2/3 of the points: 400 log10(2). Ten pairs WW and five LL vary by 2/9.
    statistics = MatchStatistics((5, 0, 0, 0, 10))
    assert statistics.elo == pytest.approx(400 * log10(2))
    assert statistics.score == pytest.approx(2 / 3)
    assert statistics.variance == pytest.approx(2 / 9)
    # Wilson's interval for 10 of 15, from a table.
    assert statistics.score_interval == pytest.approx((0.41714, 0.84824), abs=1e-5)


@pytest.mark.parametrize("chance, pairs", [(0.5, 50), (0.85, 10), (0.97, 50)])
def test_the_interval_holds_the_truth_in_19_of_20_matches(chance: float, pairs: int) -> None:
    rng = random.Random(1)
    held = 0
    for _ in range(2000):
        games = [float(rng.random() < chance) for _ in range(2 * pairs)]
        low, high = MatchStatistics.from_pairs(zip(games[::2], games[1::2], strict=True)).score_interval
        held += low <= chance <= high
    assert held / 2000 > 0.935  # 0.94 to 0.97; at 0.97 the usual formula has 0.86


def test_the_same_score_in_mixed_pairs_has_a_smaller_error() -> None:
    # 20 wins and 10 losses again, but the ten losses are in pairs with a win: the opening decided those.
    assert MatchStatistics((0, 0, 10, 0, 5)).elo == pytest.approx(MatchStatistics((5, 0, 0, 0, 10)).elo)
    assert MatchStatistics((0, 0, 10, 0, 5)).elo_error < MatchStatistics((5, 0, 0, 0, 10)).elo_error / 1.9


@pytest.mark.parametrize(
    "pentanomial, elo, error, normalised, normalised_error, los",
    [  # The examples of fastchess' tests (app/tests/elo_test.cpp).
        ((34, 54, 63, 64, 75), 55.58, 27.65, 57.94, 28.28, 0.99997),
        ((332, 433, 498, 333, 334), -8.64, 10.33, -9.17, 10.96, 0.0505),
        ((7895, 8757, 5685, 568, 9999), -21.04, 2.95, -19.01, 2.65, 0.0),
    ],
)
def test_published_pentanomial_examples(
    pentanomial: tuple[int, int, int, int, int],
    elo: float,
    error: float,
    normalised: float,
    normalised_error: float,
    los: float,
) -> None:
    statistics = MatchStatistics(pentanomial)
    assert statistics.elo == pytest.approx(elo, abs=0.01)
    # fastchess assumes the measured variance, which differs little with many games.
    assert statistics.elo_error == pytest.approx(error, rel=0.005)
    assert statistics.normalised_elo == pytest.approx(normalised, abs=0.01)
    assert statistics.normalised_elo_error == pytest.approx(normalised_error, abs=0.01)
    assert statistics.los == pytest.approx(los, abs=1e-4)


def test_swapping_the_engines_mirrors_every_number() -> None:
    counts = (3, 9, 20, 11, 7)
    first, second = MatchStatistics(counts), MatchStatistics(tuple(reversed(counts)))  # type: ignore[arg-type]
    assert first.elo == pytest.approx(-second.elo)
    assert first.elo_interval == pytest.approx(tuple(-end for end in reversed(second.elo_interval)))
    assert first.los == pytest.approx(1 - second.los)
    test = Sprt(-10, 10)
    assert test.llr(first) == pytest.approx(-test.llr(second))


def test_elo_and_score_are_inverses() -> None:
    for elo in (-800.0, -7.5, 0.0, 35.0, 400.0):
        assert elo_of_score(score_of_elo(elo)) == pytest.approx(elo)
    assert elo_of_score(0.0) == -inf
    assert elo_of_score(1.0) == inf


def test_a_clean_sweep_has_no_finite_elo_but_a_lower_bound() -> None:
    statistics = MatchStatistics((0, 0, 0, 0, 10))
    assert statistics.elo == inf
    low, high = statistics.elo_interval
    assert low == pytest.approx(elo_of_score(0.025**0.1))
    assert high == inf
    assert statistics.los == 1 - 0.5**11


@pytest.mark.parametrize("pentanomial, sign", [((0, 0, 0, 0, 10), 1), ((0, 9, 0, 0, 0), -1)])
def test_equal_pairs_give_no_bound_of_normalised_elo(
    pentanomial: tuple[int, int, int, int, int], sign: int
) -> None:
    statistics = MatchStatistics(pentanomial)
    assert statistics.normalised_elo == sign * inf
    assert statistics.normalised_elo_error == inf
    assert MatchStatistics((0, 0, 10, 0, 0)).normalised_elo == 0.0


def test_without_games_the_interval_is_everything() -> None:
    statistics = MatchStatistics()
    assert statistics.score_interval == (0.0, 1.0)
    assert statistics.los == 0.5
    assert Sprt().llr(statistics) == 0.0


def test_a_win_and_a_loss_count_like_two_draws() -> None:
    pairs = [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (1.0, 0.5), (0.0, 0.0)]
    assert MatchStatistics.from_pairs(pairs).pentanomial == (1, 0, 3, 1, 0)


@pytest.mark.parametrize(
    "pentanomial, elo0, elo1, model, llr",
    [  # The examples of fastchess' tests (app/tests/sprt_test.cpp).
        ((365, 16618, 36229, 16974, 390), 0.0, 2.0, "normalized", 2.25),
        ((127, 4883, 10712, 5150, 104), -1.75, 0.25, "normalized", 3.01),
        ((223, 9863, 21279, 10037, 246), 0.5, 2.5, "logistic", -3.07),
        ((871, 26175, 55983, 26678, 821), 0.0, 2.0, "logistic", -4.98),
    ],
)
def test_published_log_likelihood_ratios(
    pentanomial: tuple[int, int, int, int, int], elo0: float, elo1: float, model: str, llr: float
) -> None:
    test = Sprt(elo0, elo1, elo_kind="logistic" if model == "logistic" else "normalized")
    assert test.llr(MatchStatistics(pentanomial)) == pytest.approx(llr, abs=0.005)


def test_the_bounds_of_the_usual_test_are_2_94() -> None:
    assert Sprt().bounds == pytest.approx((-2.944, 2.944), abs=0.001)
    assert Sprt(alpha=0.01, beta=0.1).bounds == pytest.approx((log(0.1 / 0.99), log(0.9 / 0.01)))


def test_the_sequential_test_accepts_the_right_hypothesis() -> None:
    for points, verdict in (((1.0, 1.0), "elo1"), ((0.0, 0.0), "elo0")):
        test = SequentialTest(Sprt(0, 20))
        for _ in range(300):
            test.add(points)
        assert test.verdict == verdict
    test = SequentialTest(Sprt(0, 20))
    for points in 10 * [(1.0, 1.0), (0.5, 0.5), (0.0, 0.0)]:
        test.add(points)
    assert test.verdict is None
    assert test.statistics.pentanomial == (10, 0, 10, 0, 10)


def test_the_first_verdict_of_a_sequential_test_stays() -> None:
    test = SequentialTest(Sprt(0, 100))
    while test.verdict is None:
        test.add((1.0, 1.0))
    llr, pairs = test.llr, test.statistics.pairs
    for _ in range(100):
        test.add((0.0, 0.0))
    assert (test.verdict, test.llr, test.statistics.pairs) == ("elo1", llr, pairs)
    assert llr >= test.sprt.bounds[1]
    before = MatchStatistics((0, 0, 0, 0, pairs - 1))
    assert test.sprt.llr(before) < test.sprt.bounds[1]


def test_a_sequential_test_with_impossible_numbers_is_refused() -> None:
    with pytest.raises(SprtError, match="lower one first"):
        Sprt(5, 0)
    with pytest.raises(SprtError, match="at most 200"):
        Sprt(0, 400)
    for elo1 in (10_000, inf):  # Expected to score 1, which no distribution of results does.
        with pytest.raises(SprtError, match="at most 1000"):
            Sprt(0, elo1, elo_kind="logistic")
    with pytest.raises(SprtError, match="between 0 and"):
        Sprt(alpha=0.0)


def test_the_fitted_distributions_meet_their_conditions() -> None:
    for counts in [(1, 2, 3, 4, 5), (0.001, 0.001, 0.001, 0.001, 104), (30, 1, 40, 2, 33)]:
        for t in [-0.3, 0.0, 0.05]:
            seen = [count / sum(counts) for count in counts]
            fit = fit_t(seen, t)
            mean = sum(p * s for p, s in zip(fit, PAIR_SCORES, strict=True))
            deviation = sqrt(sum(p * (s - mean) ** 2 for p, s in zip(fit, PAIR_SCORES, strict=True)))
            assert sum(fit) == pytest.approx(1)
            assert (mean - 0.5) / deviation == pytest.approx(t, abs=1e-8)
            fit = fit_mean(seen, PAIR_SCORES, 0.5 + t)
            assert sum(fit) == pytest.approx(1)
            assert sum(p * s for p, s in zip(fit, PAIR_SCORES, strict=True)) == pytest.approx(0.5 + t)
            assert all(isfinite(p) and p > 0 for p in fit)


# Tuning


OPTIONS = (TunedOption("c", 50, 150), TunedOption("t", 80, 200))


def simulated(
    pairs: int, seed: int, truth: Callable[[float, float], float]
) -> list[tuple[dict[str, int], float]]:
    """Returns pairs of games decided by chance, with the score that `truth` gives the places of c and t."""
    rng = random.Random(seed)
    found = []
    for pair in range(pairs):
        values = draw(OPTIONS, seed, pair)
        score = truth(*(option.scale(values[option.name]) for option in OPTIONS))
        found.append((values, sum(rng.random() < score for _ in range(2)) / 2))
    return found


def test_the_surface_finds_a_known_optimum() -> None:
    def truth(c: float, t: float) -> float:
        return 0.6 - 0.2 * (c - 0.5) ** 2 - 0.15 * (t + 0.4) ** 2 - 0.1 * (c - 0.5) * (t + 0.4)

    surface = Surface(OPTIONS, simulated(6000, 1, truth))
    best = surface.best()
    assert abs(OPTIONS[0].scale(best["c"]) - 0.5) < 0.25
    assert abs(OPTIONS[1].scale(best["t"]) + 0.4) < 0.3
    score, error = surface.score(best)
    assert abs(score - 0.6) < 4 * error < 0.1


def test_the_errors_of_the_surface_equal_the_spread_of_repeated_experiments() -> None:
    middle = {"c": 100, "t": 140}
    found = [Surface(OPTIONS, simulated(200, seed, lambda c, t: 0.5)).score(middle) for seed in range(60)]
    spread = stdev(score for score, _ in found)
    assert 0.7 < spread / mean(error for _, error in found) < 1.4
    assert sum(abs(score - 0.5) < 1.96 * error for score, error in found) >= 52


def test_an_option_with_two_values_has_no_square() -> None:
    # Its square would be 1 in every pair, like the constant; with both, the middle was arbitrary (-191 Elo).
    options = (TunedOption("flag", 0, 1), TunedOption("c", 50, 150))
    rng = random.Random(4)
    pairs = [(draw(options, 4, pair), sum(rng.random() < 0.5 for _ in range(2)) / 2) for pair in range(300)]
    surface = Surface(options, pairs)
    for values in ({"flag": 0.5, "c": 100}, {"flag": 0, "c": 100}, {"flag": 1, "c": 100}):
        score, error = surface.score(values)
        assert abs(score - 0.5) < 3 * error < 0.15
    assert " 0.5: " not in surface.lines()[1]


@pytest.mark.parametrize("text", ["c", "c=1", "c=1:x", "c=5:5", "=1:2", "c=9:1"])
def test_a_malformed_range_is_refused(text: str) -> None:
    with pytest.raises(ExperimentError, match="expected NAME=LOW:HIGH"):
        TunedOption.parse(text)


def test_an_option_may_have_only_one_range() -> None:
    assert parse_ranges(["c=1:2", "t=0:9"]) == (TunedOption("c", 1, 2), TunedOption("t", 0, 9))
    with pytest.raises(ExperimentError, match="each option once"):
        parse_ranges(["c=1:2", "C=3:4"])


# Screening


CHANGES = parse_changes(["a=0:1", "b=off:on,c=1:2", "d=3:4"])


def screened(pairs: int, seed: int, elo: Sequence[float]) -> list[tuple[tuple[bool, ...], float]]:
    """Returns pairs of games decided by chance, where each change is worth this Elo."""
    rng = random.Random(seed)
    found = []
    for pair in range(pairs):
        has = toss(CHANGES, seed, pair)
        score = score_of_elo(sum(x if made else -x for x, made in zip(elo, has, strict=True)))
        found.append((has, sum(rng.random() < score for _ in range(2)) / 2))
    return found


def test_screening_finds_the_elo_of_each_change() -> None:
    truth = (60.0, 0.0, -40.0)
    for effect, elo in zip(effects(CHANGES, screened(20_000, 1, truth)), truth, strict=True):
        assert abs(elo_of_score(effect.score) - elo) < 5
        assert 0.0015 < effect.error < 0.0035


def test_the_errors_of_screening_equal_the_spread_of_repeated_experiments() -> None:
    found = [effects(CHANGES, screened(200, seed, (0.0, 0.0, 0.0)))[1] for seed in range(80)]
    spread = stdev(effect.score for effect in found)
    assert 0.75 < spread / mean(effect.error for effect in found) < 1.3


def test_a_pair_gives_each_change_to_one_engine_by_a_fair_coin() -> None:
    sides = [toss(CHANGES, 5, pair) for pair in range(1000)]
    assert all(420 < sum(has[i] for has in sides) < 580 for i in range(3))
    assert 420 < sum(has[0] == has[1] for has in sides) < 580
    assert sides == [toss(CHANGES, 5, pair) for pair in range(1000)]


def test_the_effects_of_too_few_pairs_are_refused() -> None:
    with pytest.raises(
        ExperimentError, match="39 pairs: expected 40 for 3 changes, that is --games 80 or more"
    ):
        effects(CHANGES, screened(39, 1, (0.0, 0.0, 0.0)))


def test_a_malformed_change_is_refused() -> None:
    for text in ["c", "c=1", "c=1:1", "=1:2", "c=:2", "c=1:2:3", "c=1:2,", "c=1:2,d"]:
        with pytest.raises(ExperimentError, match="expected NAME=OLD:NEW"):
            parse_changes([text])


def test_an_option_may_be_in_only_one_change() -> None:
    with pytest.raises(ExperimentError, match="each option once"):
        parse_changes(["c=1:2,t=0:9", "C=3:4"])
