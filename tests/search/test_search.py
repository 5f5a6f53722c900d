"""The textbook algorithms on the small games: they find what theory predicts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import exp, log, sqrt
from random import Random

import pytest

from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.reversi import Reversi
from goryu.games.shogi import Board, Rules, move_from_usi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.search import alpha_beta, depth_limited, flat_monte_carlo, minimax, uct
from goryu.search.boltzmann import boltzmann_choice, boltzmann_distribution
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import Gumbel, GumbelConfig, Node, round_sizes
from goryu.search.random_move import random_move


class CountingTicTacToe(TicTacToe):
    pushes = 0

    def push(self, move: Move) -> None:
        CountingTicTacToe.pushes += 1
        super().push(move)


@pytest.fixture(scope="module")
def solved() -> dict[tuple[int, int], float]:
    """The value of every reachable position that is not over, by plain minimax with a memory."""
    values: dict[tuple[int, int], float] = {}

    def solve(state: TicTacToe) -> float:
        outcome = state.outcome()
        if outcome is not None:
            return outcome.value
        key = (state.own, state.opponent)
        if key not in values:
            best = -1.0
            for move in state.legal_moves():
                state.push(move)
                best = max(best, -solve(state))
                state.pop()
            values[key] = best
        return values[key]

    solve(TicTacToe())
    return values


def positions(solved: dict[tuple[int, int], float], from_ply: int = 0) -> Iterator[TicTacToe]:
    for own, opponent in solved:
        state = TicTacToe()
        state.own, state.opponent = own, opponent
        state.move_stack = [Move(0)] * (own | opponent).bit_count()
        if state.ply >= from_ply:
            yield state


def test_minimax_visits_549946_nodes_of_tictactoe() -> None:
    CountingTicTacToe.pushes = 0
    assert minimax.negamax(CountingTicTacToe()) == 0.0
    assert 1 + CountingTicTacToe.pushes == 549_946


@pytest.mark.slow
def test_minimax_and_negamax_agree_everywhere(solved: dict[tuple[int, int], float]) -> None:
    for state in positions(solved, from_ply=1):
        value = minimax.minimax(state)
        assert minimax.negamax(state) == value == -minimax.minimax(state, is_maximising=False)


def test_alpha_beta_equals_minimax_everywhere(solved: dict[tuple[int, int], float]) -> None:
    for state in positions(solved):
        assert alpha_beta.alpha_beta(state) == solved[state.own, state.opponent]


def test_alpha_beta_needs_a_small_part_of_the_nodes() -> None:
    CountingTicTacToe.pushes = 0
    alpha_beta.best_move(CountingTicTacToe())
    assert CountingTicTacToe.pushes < 549_946 // 20


@pytest.mark.parametrize("window", [(-1.0, 0.0), (0.0, 1.0), (-0.5, 0.5), (0.5, 1.0)])
def test_alpha_beta_outside_its_window_is_a_bound(
    solved: dict[tuple[int, int], float], window: tuple[float, float]
) -> None:
    alpha, beta = window
    for state in positions(solved, from_ply=2):
        found, true = alpha_beta.alpha_beta(state, alpha, beta), solved[state.own, state.opponent]
        if found <= alpha:
            assert true <= found
        elif found >= beta:
            assert true >= found
        else:
            assert true == found


@pytest.mark.parametrize("choose", [minimax.best_move, alpha_beta.best_move], ids=["minimax", "alpha-beta"])
def test_the_chosen_move_keeps_the_value(solved: dict[tuple[int, int], float], choose) -> None:  # type: ignore[no-untyped-def]
    for state in positions(solved, from_ply=2):
        value = solved[state.own, state.opponent]
        state.push(choose(state))
        outcome = state.outcome()
        assert value == -(solved[state.own, state.opponent] if outcome is None else outcome.value)


def disc_lead(state: State) -> float:
    assert isinstance(state, Reversi)
    return state.disc_difference() / 64


def full_width(state: State, depth: int, heuristic: depth_limited.Heuristic) -> float:
    outcome = state.outcome()
    if outcome is not None:
        return outcome.value
    if depth == 0:
        return heuristic(state)
    values = []
    for move in state.legal_moves():
        state.push(move)
        values.append(-full_width(state, depth - 1, heuristic))
        state.pop()
    return max(values)


def random_reversi(seed: int) -> Iterator[Reversi]:
    rng, state = Random(seed), Reversi(6)
    while state.outcome() is None:
        yield state
        state.push(random_move(state, rng))


def test_depth_limited_alpha_beta_equals_full_width() -> None:
    for state in random_reversi(1):
        for depth in (1, 2, 3):
            value = full_width(state, depth, disc_lead)
            assert depth_limited.search(state, depth, disc_lead)[0] == value
            move = depth_limited.best_move(state, depth, disc_lead)
            state.push(move)
            assert -full_width(state, depth - 1, disc_lead) == value
            state.pop()


def test_evaluating_the_leaves_together_chooses_the_same_move() -> None:
    for state in random_reversi(2):
        for depth in (1, 2):
            values = iter([disc_lead(leaf) for leaf in depth_limited.leaf_states(state, depth)])
            move, value = depth_limited.move_from_leaves(state, depth, values)
            assert next(values, None) is None
            assert move == depth_limited.best_move(state, depth, disc_lead)
            assert value == full_width(state, depth, disc_lead)


def test_epsilon_greedy_plays_randomly_with_probability_epsilon() -> None:
    rng, state = Random(1), TicTacToe()
    counts = Counter(depth_limited.epsilon_greedy(state, lambda _: Move(8), 0.45, rng) for _ in range(4000))
    assert set(counts) == set(range(9))
    assert counts[Move(8)] / 4000 == pytest.approx(0.55 + 0.45 / 9, abs=0.03)


WIN_AT_2 = (0, 3, 1, 4)
BLOCK_AT_2 = (4, 0, 8, 1)


@pytest.mark.parametrize("moves", [WIN_AT_2, BLOCK_AT_2], ids=["win", "block"])
@pytest.mark.parametrize(
    "choose",
    [
        minimax.best_move,
        alpha_beta.best_move,
        lambda state: depth_limited.best_move(state, 2, lambda _: 0.0),
        lambda state: flat_monte_carlo.best_move(state, 50, Random(1)),
        lambda state: uct.best_move(state, 300, Random(1)),
        lambda state: Gumbel(UniformEvaluator()).search(state, 64).move,
    ],
    ids=["minimax", "alpha-beta", "depth-limited", "flat", "uct", "gumbel"],
)
def test_takes_the_win_and_blocks_the_threat(moves: Sequence[int], choose) -> None:  # type: ignore[no-untyped-def]
    state = TicTacToe(moves)
    assert choose(state) == 2
    assert state.move_stack == list(moves)


def test_random_games_of_tictactoe_favour_the_first_player_as_counted() -> None:
    # Of all games with equal chances at each move, the first player wins 737/1260, the second 121/420.
    rng = Random(4)
    results = Counter(flat_monte_carlo.playout(TicTacToe(), rng) for _ in range(8000))
    assert results[1.0] / 8000 == pytest.approx(737 / 1260, abs=0.02)
    assert results[-1.0] / 8000 == pytest.approx(121 / 420, abs=0.02)


def test_ucb1_is_scaled_to_the_range_of_the_results() -> None:
    # UCB1 is stated for rewards in [0, 1]. The same bandit on [-1, +1] must make the same choices.
    assert pytest.approx(2.0 * sqrt(2.0)) == uct.UCB1_CONSTANT
    rng = Random(9)
    for _ in range(200):
        node = uct.Node()
        rewards = []
        for move in range(5):
            child = node.children[Move(move)] = uct.Node()
            child.visits = rng.randint(1, 30)
            wins = rng.randint(0, child.visits)
            child.value_sum = 2.0 * wins - child.visits
            rewards.append((wins / child.visits, child.visits))
            node.visits += child.visits
        textbook = [mean + sqrt(2.0 * log(node.visits) / visits) for mean, visits in rewards]
        assert node.select(uct.UCB1_CONSTANT) == textbook.index(max(textbook))


def depth_of(node: uct.Node) -> int:
    return 1 + max(map(depth_of, node.children.values())) if node.children else 0


def test_uct_counts_every_iteration_once_and_expands_after_n_visits() -> None:
    root = uct.search(TicTacToe(), 400, Random(2), expand_at=10)
    assert root.visits == 400

    def check(node: uct.Node, is_root: bool) -> None:
        total = sum(child.visits for child in node.children.values())
        if is_root:
            assert node.visits == total
        elif node.children:
            assert node.visits == 10 + total
        for child in node.children.values():
            check(child, is_root=False)

    check(root, is_root=True)
    assert depth_of(root) >= 3


def test_uct_that_never_expands_sees_one_ply() -> None:
    assert depth_of(uct.search(TicTacToe(), 400, Random(2), expand_at=401)) == 1


def before_a_repetition() -> Board:
    """Bare kings that have stepped out and back but for the last step, which repeats the position."""
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b - 1")
    for move in ("5i5h", "5a5b", "5h5i"):
        board.push_usi(move)
    return board


def test_a_random_game_ends_where_its_path_repeats_a_position() -> None:
    class NoDraws(Random):
        def random(self) -> float:
            raise AssertionError("the game is over")

        getrandbits = random  # type: ignore[assignment]

    board = before_a_repetition()
    board.push_usi("5b5a")
    assert flat_monte_carlo.playout(board, NoDraws()) == 0.0


@pytest.mark.parametrize("rules", [Rules(max_ply=2), Rules()], ids=["maximum ply", "repetition"])
def test_uct_never_grows_beyond_the_end_of_a_game(rules: Rules) -> None:
    # Bare kings: the game ends by ply or by repetition, and legal moves are left all the same.
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b - 1", rules=rules)

    def check(node: uct.Node, plies: int) -> None:
        if node is not root and (board.outcome() or board.repetition()):
            ended.append(plies)
            assert not node.children
        for move, child in node.children.items():
            board.push(move)
            check(child, plies + 1)
            board.pop()

    root, ended = uct.search(board, 300, Random(1), c=0.1), list[int]()
    check(root, 0)
    assert ended


def test_uct_with_many_iterations_finds_the_value_of_the_game() -> None:
    root = uct.search(TicTacToe(), 4000, Random(2), c=0.5, expand_at=1)
    best = max(root.children.values(), key=lambda child: child.visits)
    assert best.value_sum / best.visits == pytest.approx(0.0, abs=0.25)
    trap = uct.search(TicTacToe([0, 4, 8]), 4000, Random(2), expand_at=1)
    assert max(trap.children, key=lambda move: trap.children[move].visits) in (1, 3, 5, 7)


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


@pytest.mark.parametrize("candidates", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize("playouts", [1, 2, 5, 16, 20, 33, 100])
def test_sequential_halving_spends_exactly_its_budget_and_never_widens(
    candidates: int, playouts: int
) -> None:
    rounds = round_sizes(candidates, playouts)
    assert sum(rounds) == playouts
    assert rounds == sorted(rounds, reverse=True)
    assert rounds[0] == min(candidates, playouts)


class Biased:
    """A fixed policy over the squares and a constant value."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.weights = weights
        self.batches: list[int] = []

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        self.batches.append(len(states))
        evaluations = []
        for state in states:
            weights = [self.weights[move] for move in state.legal_moves()]
            evaluations.append(Evaluation([w / sum(weights) for w in weights], 0.0))
        return evaluations


def test_gumbel_root_draws_moves_with_the_policys_probabilities() -> None:
    # With one playout the move is the Gumbel-max of the priors: a draw from the policy itself.
    weights = (1, 2, 3, 4, 5, 6, 7, 8, 9)
    gumbel, rng = Gumbel(Biased(weights)), Random(6)
    counts = Counter(gumbel.search(TicTacToe(), 1, rng).move for _ in range(9000))
    for move in range(9):
        assert counts[Move(move)] / 9000 == pytest.approx(weights[move] / 45, abs=0.015)


def test_gumbel_visits_the_most_probable_moves_and_halves_them() -> None:
    evaluator = Biased((1, 2, 3, 4, 5, 6, 7, 8, 9))
    result = Gumbel(evaluator, GumbelConfig(max_considered=4)).search(TicTacToe(), 16)
    assert sum(result.visits) == 16
    assert sorted(result.visits) == [0, 0, 0, 0, 0, 2, 2, 6, 6]
    assert [move for move in result.moves if result.visits[move] > 0] == [5, 6, 7, 8]
    assert evaluator.batches == [1, *round_sizes(4, 16)]


def test_gumbel_improves_the_policy_towards_the_better_value() -> None:
    # All priors equal; taking the win must be learnt as almost certain, whatever was visited.
    result = Gumbel(UniformEvaluator()).search(TicTacToe(WIN_AT_2), 16, Random(1))
    assert result.move == 2
    assert sum(result.policy) == pytest.approx(1.0)
    assert result.policy[result.moves.index(Move(2))] > 0.99


def test_gumbel_policy_is_the_softmax_of_log_priors_and_scaled_values() -> None:
    config = GumbelConfig(max_considered=3, c_visit=2.0, c_scale=0.5)
    result = Gumbel(Biased((1, 1, 1, 1, 1, 1, 1, 1, 1)), config).search(TicTacToe((0, 1, 3, 4)), 3)
    # X: 0 3, O: 1 4; square 6 wins, 2 5 7 8 have the value 0 for an evaluator that returns 0.
    assert result.moves == (2, 5, 6, 7, 8)
    assert result.visits == (1, 1, 1, 0, 0)
    mixed = (0.0 + 3 * (1 / 3)) / (1 + 3)
    scale = (2.0 + 1) * 0.5
    scores = [exp(scale * (value + 1) / 2) for value in (0.0, 0.0, 1.0, mixed, mixed)]
    assert result.policy == pytest.approx([score / sum(scores) for score in scores])


def test_gumbel_value_is_that_of_the_improved_policy() -> None:
    config = GumbelConfig(max_considered=3, c_visit=2.0, c_scale=0.5)
    result = Gumbel(Biased((1, 1, 1, 1, 1, 1, 1, 1, 1)), config).search(TicTacToe((0, 1, 3, 4)), 3)
    # As above: of the moves 2 5 6 7 8, 6 wins, 2 and 5 have the value 0, and 7 and 8 were not tried.
    mixed = (0.0 + 3 * (1 / 3)) / (1 + 3)
    values = (0.0, 0.0, 1.0, mixed, mixed)
    assert result.value == pytest.approx(sum(p * v for p, v in zip(result.policy, values, strict=True)))
    assert result.value > mixed


def test_gumbel_mixes_the_values_of_the_visited_moves_by_their_priors() -> None:
    node = Node([Move(0), Move(1), Move(2)], Evaluation([0.5, 0.3, 0.2], 0.4))
    assert node.mixed_value() == 0.4
    node.visits, node.value_sums = [1, 3, 0], [0.8, -0.6, 0.0]
    seen = (0.5 * 0.8 + 0.3 * -0.2) / (0.5 + 0.3)
    assert node.mixed_value() == pytest.approx((0.4 + 4 * seen) / (1 + 4))


def test_gumbel_prefers_the_better_value_among_moves_visited_alike() -> None:
    evaluator = Biased((0.01, 0.01, 1, 0.01, 0.01, 2, 0.01, 0.01, 0.01))
    result = Gumbel(evaluator, GumbelConfig(max_considered=2)).search(TicTacToe(WIN_AT_2), 2)
    assert [move for move in result.moves if result.visits[result.moves.index(move)]] == [2, 5]
    assert result.move == 2


def test_gumbel_below_the_root_visits_the_move_that_lags_most_behind_the_policy() -> None:
    node = Node([Move(0), Move(1)], Evaluation([0.6, 0.4], 0.0))
    for _ in range(10):
        node.visits[node.select(GumbelConfig())] += 1
    assert node.visits == [6, 4]


def test_gumbel_evaluates_no_position_where_the_game_has_ended() -> None:
    class Watching(UniformEvaluator):
        def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
            assert all(state.outcome() is None and state.repetition() is None for state in states)
            return super().evaluate(states)

    board = before_a_repetition()
    result = Gumbel(Watching()).search(board, 60)
    assert result.visits[result.moves.index(move_from_usi("5b5a"))] > 0
