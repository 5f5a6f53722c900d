"""How playouts are gathered into batches, counted and limited."""

from collections.abc import Sequence

import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.shogi import Board
from goryu.games.state import Move, Outcome, State
from goryu.games.tictactoe import TicTacToe
from goryu.search.evaluator import Evaluation
from goryu.search.graph.config import Formula, PuctConfig
from goryu.search.graph.node import UNKNOWN, WIN, Node
from goryu.search.graph.node_table import NodeTable
from goryu.search.graph.progress import Progress
from goryu.search.graph.puct import Puct
from goryu.search.result import SearchStats
from playing import never
from present import present

X_WINS_AT_2 = [Move(n) for n in (0, 3, 1, 4)]
LAST_MOVE_DRAWS = [Move(n) for n in (0, 1, 2, 4, 3, 5, 7, 6)]


class Recorder:
    """Notes how many positions each call evaluates, and the playouts in flight at the root then."""

    def __init__(self) -> None:
        self.puct = Puct(self)
        self.calls: list[tuple[int, int, int]] = []

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        if root := self.puct.root:
            self.calls.append((root.total_visits, len(states), root.in_flight))
        return HashedEvaluator().evaluate(states)


def recorded(batch_size: int, playouts: int) -> list[tuple[int, int, int]]:
    recorder = Recorder()
    recorder.puct.config = PuctConfig(batch_size=batch_size)
    recorder.puct.search(Board(), never, max_playouts=playouts)
    return recorder.calls


def test_at_most_a_sixteenth_of_the_roots_visits_is_in_flight() -> None:
    calls = recorded(batch_size=8, playouts=300)
    assert all(in_flight == size for _, size, in_flight in calls)
    assert all(size <= max(1, min(8, visits // 16)) for visits, size, _ in calls)
    assert {size for visits, size, _ in calls if visits < 32} == {1}
    assert max(size for _, size, _ in calls) == 8


def test_a_search_makes_exactly_the_playouts_that_it_may() -> None:
    for playouts in (0, 1, 37, 200):
        puct = Puct(HashedEvaluator(), PuctConfig(batch_size=8))
        assert puct.search(Board(), never, max_playouts=playouts).stats.playouts == playouts
        assert puct.root is not None
        assert puct.root.total_visits == 1 + playouts


def test_every_evaluated_leaf_is_counted() -> None:
    recorder = Recorder()
    stats = recorder.puct.search(Board(), never, max_playouts=100).stats
    assert stats.evaluations == sum(size for _, size, _ in recorder.calls)
    assert stats.evaluations == len(recorder.puct.table) - 1


def test_should_stop_is_called_before_every_batch() -> None:
    seen: list[int] = []

    def stop_after_five(stats: SearchStats) -> bool:
        seen.append(stats.playouts)
        return len(seen) == 5

    assert Puct(HashedEvaluator()).search(Board(), stop_after_five).stats.playouts == 4
    assert seen == [0, 1, 2, 3, 4]


class RepeatsSoon(TicTacToe):
    """Every game ends by repetition after two moves, which proves nothing."""

    def repetition(self) -> Outcome | None:
        return Outcome(0.0, "repetition") if self.ply == 2 else None


@pytest.mark.parametrize("batch_size, most", [(1, 3), (4, 10)])
def test_a_batch_holds_few_free_playouts(batch_size: int, most: int) -> None:
    """After the first every playout is free: 2.4 for each position of a batch, rounded up."""
    seen: list[int] = []

    def note(stats: SearchStats) -> bool:
        seen.append(stats.playouts)
        return stats.playouts >= 100

    puct = Puct(UniformEvaluator(), PuctConfig(batch_size=batch_size))
    stats = puct.search(RepeatsSoon(), note, root_moves=[Move(0)]).stats
    assert seen[:5] == [0, 1, 4, 7, 10], "few visits allow one position"
    assert seen[-1] - seen[-2] == most
    assert (stats.evaluations, stats.is_exhausted) == (1, False)


def test_a_root_move_that_is_a_proven_draw_is_closed() -> None:
    result = Puct(UniformEvaluator()).search(TicTacToe(LAST_MOVE_DRAWS), never)
    assert (result.stats.is_exhausted, result.value, result.moves[0].is_certain) == (True, 0.0, True)


@pytest.mark.parametrize("batch_size", [1, 8])
def test_a_search_may_be_limited_by_evaluations(batch_size: int) -> None:
    for evaluations in (0, 1, 37, 200):
        puct = Puct(HashedEvaluator(), PuctConfig(batch_size=batch_size))
        stats = puct.search(Board(), never, max_evaluations=evaluations).stats
        assert stats.evaluations == evaluations == max(0, len(puct.table) - 1)
        assert stats.playouts >= evaluations
    assert puct.search(Board(), never, max_evaluations=50, max_playouts=3).stats.playouts == 3


def test_a_won_root_move_is_closed_and_the_others_are_searched() -> None:
    puct = Puct(UniformEvaluator())
    moves = puct.search(TicTacToe(X_WINS_AT_2), never, max_playouts=20).moves
    assert (moves[0].move, moves[0].mate, moves[0].visits) == (2, 1, 1)
    assert sum(move.visits for move in moves[1:]) == 19


def test_a_playout_ends_at_a_proven_position() -> None:
    visits: dict[int, int] = {}
    puct = Puct(UniformEvaluator())

    def note(stats: SearchStats) -> bool:
        for node in puct.table:
            if node.proof != UNKNOWN and node is not puct.root:
                assert node.total_visits == visits.setdefault(node.key, node.total_visits)
        return False

    puct.search(TicTacToe([Move(0), Move(1)]), note, max_playouts=1500)
    assert len(visits) > 100


def test_a_proven_root_leaves_nothing_to_search() -> None:
    """X must block at 5, and the rest is drawn."""
    puct, state = Puct(UniformEvaluator()), TicTacToe([Move(n) for n in (0, 1, 2, 4, 7, 3)])
    assert puct.search(state, lambda stats: stats.is_proven).value == 0.0
    result = puct.search(state, never)
    assert (result.value, result.stats.playouts, result.stats.is_exhausted) == (0.0, 0, True)


def test_a_search_ends_when_no_move_is_open() -> None:
    only = [Move(2)]
    result = Puct(UniformEvaluator()).search(TicTacToe(X_WINS_AT_2), never, root_moves=only)
    assert (result.move, result.stats.playouts, result.stats.is_exhausted) == (2, 1, True)


@pytest.mark.parametrize("is_root", [True, False])
def test_the_root_has_a_formula_of_its_own(is_root: bool) -> None:
    """A formula without exploration plays the first move again and again where the values are equal."""
    blind, curious = Formula(c_init=0.0, c_factor=0.0, fpu_reduction=1.0), Formula(c_init=50.0)
    config = PuctConfig(blind, curious) if is_root else PuctConfig(curious, blind)
    puct = Puct(UniformEvaluator(), config)
    puct.search(TicTacToe(), never, max_playouts=30)
    assert puct.root is not None
    assert (puct.root.tried == 9) == is_root
    first = present(puct.root.children[0])
    assert (first.tried > 1) != is_root


def test_two_paths_of_one_batch_do_not_evaluate_a_position_twice() -> None:
    keys: list[int] = []

    class Keys(UniformEvaluator):
        def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
            keys.extend(state.key for state in states)
            return super().evaluate(states)

    Puct(Keys(), PuctConfig(batch_size=16)).search(TicTacToe(), never, max_playouts=600)
    assert len(keys) == len(set(keys))


# Counters.


def test_depth_is_the_rounded_mean_length_of_the_playouts() -> None:
    progress = Progress()
    assert progress.stats(NodeTable(9), None)[:5] == (0, 0, 0, 0, 0)
    for depth in (1, 4, 2):
        progress.add(depth)
    stats = progress.stats(NodeTable(9), None)
    assert (stats.playouts, stats.depth, stats.max_depth) == (3, 2, 4)
    progress.add(3)
    assert progress.stats(NodeTable(9), None).depth == 3, "2.5 is rounded up"


def test_the_counters_show_the_table_and_whether_the_root_is_proven() -> None:
    table = NodeTable(9)
    root = table.add(Node(0, 0, [Move(n) for n in range(5)], [1 / 8] * 5, 0.0))
    stats = Progress(is_exhausted=True, evaluations=7).stats(table, root)
    assert (stats.nodes, stats.capacity, stats.hashfull) == (1, 9, 111)
    assert (stats.is_proven, stats.is_exhausted, stats.evaluations) == (False, True, 7)
    root.set_proof(WIN, 3, 1.0)
    assert Progress().stats(table, root).is_proven
