"""The choice of the root move to play, on roots made by hand."""

import pytest

from goryu.games.shogi import Board
from goryu.games.state import Move
from goryu.games.tictactoe import TicTacToe
from goryu.search.graph.final_move import contest, continuation, ranking, root_moves, root_value
from goryu.search.graph.node import DRAW, LOSS, UNKNOWN, WIN, Node
from goryu.search.graph.node_table import NodeTable, recompute
from present import present

VALUES = {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}


class Root:
    """A root whose moves are given one by one."""

    def __init__(self, moves: int, value: float = 0.0) -> None:
        self.table = NodeTable(1000)
        self.node = self.table.add(Node(0, 0, [Move(i) for i in range(moves)], [1 / 16] * moves, value))
        self.count = 0

    def move(self, visits: int, value: float = 0.0, deviation: float = 0.0) -> "Root":
        """Adds a visited move of this value for the root, with the deviation of the values behind it."""
        child = self.table.add(Node(100 + self.count, 1, [Move(0)], [1.0], -value))
        child.variance = deviation**2
        return self._add(visits, child)

    def proven(self, proof: int, distance: int, visits: int = 1) -> "Root":
        """Adds a move to a position with this proof."""
        child = self.table.add(Node(100 + self.count, 1, [], [], 0.0))
        child.set_proof(proof, distance, VALUES[proof])
        return self._add(visits, child)

    def repetition(self, visits: int, value: float) -> "Root":
        """Adds a move after which every playout ended by repetition."""
        for _ in range(visits):
            self.table.add_repetition(self.node, self.count, value)
        return self._add(visits, None)

    def _add(self, visits: int, child: Node | None) -> "Root":
        self.node.children[self.count], self.node.visits[self.count] = child, visits
        self.count += 1
        self.table.try_moves(self.node, self.count)
        return self

    def ranking(self, final_move: str = "lcb", masked: frozenset[int] = frozenset()) -> list[int]:
        return ranking(self.node, final_move, masked)

    def contest(
        self, final_move: str = "lcb", masked: frozenset[int] = frozenset()
    ) -> tuple[int, int | None]:
        return contest(self.node, final_move, masked)


def test_the_nearest_win_comes_first_and_the_farthest_loss_last_but_one() -> None:
    root = Root(7).proven(WIN, 4).proven(LOSS, 4, visits=9).move(50, -0.5).proven(WIN, 8).proven(LOSS, 2)
    root.move(60, -0.6)
    for final_move in ("visits", "lcb"):
        assert root.ranking(final_move) == [4, 1, 5, 2, 6, 3, 0]


def test_of_equal_moves_the_first_is_played() -> None:
    assert Root(3).move(5).move(5).ranking("visits") == [0, 1, 2]
    assert Root(3).move(50).move(50).ranking("lcb") == [0, 1, 2]
    assert Root(2).proven(LOSS, 2).proven(LOSS, 2).ranking() == [0, 1]
    assert Root(2).proven(WIN, 2).proven(WIN, 2).ranking() == [0, 1]


def test_masked_moves_are_left_out() -> None:
    root = Root(4).proven(LOSS, 2).move(30, 0.1).move(20, 0.9)
    assert root.ranking("visits", frozenset({0})) == [1, 2, 3]
    assert root.ranking("lcb", frozenset({0, 3})) == [2, 1]
    assert root.ranking("lcb", frozenset({0, 1, 2, 3})) == []


def test_the_bound_is_five_standard_errors_below_the_value() -> None:
    """0.25 less 5 * 0.5 / sqrt(100) is 0.0."""
    for other, best in ((-0.01, 0), (0.01, 1)):
        assert Root(2).move(100, 0.25, 0.5).move(90, other).ranking()[0] == best
    for visits, best in ((100, 0), (81, 1)):  # Fewer visits, a greater error.
        assert Root(2).move(120, -0.01).move(visits, 0.26, 0.5).ranking()[0] == 1 - best


@pytest.mark.parametrize("visits, is_played", [(10, True), (9, False)])
def test_a_contender_has_ten_visits(visits: int, is_played: bool) -> None:
    assert (Root(2).move(30, 0.1).move(visits, 0.5).ranking()[0] == 1) == is_played


@pytest.mark.parametrize("visits, is_played", [(200, True), (199, False)])
def test_a_contender_has_a_fifth_of_the_favourites_visits(visits: int, is_played: bool) -> None:
    assert (Root(2).move(1000, 0.1).move(visits, 0.5).ranking()[0] == 1) == is_played


def test_with_few_visits_the_most_visited_move_is_played() -> None:
    assert Root(2).move(5, 0.1).move(9, 0.0).ranking() == [1, 0]


def test_by_visits_the_value_does_not_matter() -> None:
    assert Root(2).move(30, 0.1).move(29, 0.9).ranking("visits") == [0, 1]


def test_the_other_moves_stay_in_their_order() -> None:
    assert Root(4).move(40, 0.1).move(60, 0.0).move(50, 0.9).ranking() == [2, 1, 0, 3]


@pytest.mark.parametrize("value, best", [(0.01, 1), (0.0, 0), (-0.01, 0)])
def test_a_draw_is_played_unless_another_move_is_thought_better(value: float, best: int) -> None:
    """The other move's bound is below 0 in all three cases."""
    assert Root(2).proven(DRAW, 1, visits=20).move(90, value, 0.5).ranking()[0] == best
    assert Root(2).repetition(20, 0.0).move(90, value, 0.5).ranking()[0] == best


@pytest.mark.parametrize("final_move", ["visits", "lcb"])
@pytest.mark.parametrize("visits", [1, 200])
def test_a_move_of_a_certain_value_needs_no_visits(final_move: str, visits: int) -> None:
    """It comes before the first move that is not better, however often each was visited."""
    root = Root(5).move(90, 0.25).move(50, -0.25).repetition(visits, 0.0).proven(DRAW, 1, visits).move(9, 0.5)
    assert root.ranking(final_move) == [0, 2, 3, 1, 4]
    assert Root(2).move(90, -0.25).proven(DRAW, 1, visits).ranking(final_move) == [1, 0]
    assert Root(2).move(90, 0.25).proven(DRAW, 1, visits).ranking(final_move) == [0, 1]
    assert Root(2).proven(DRAW, 1, visits=0).ranking(final_move) == [0, 1]
    # An untried move may be better.
    assert Root(2, value=0.1).repetition(visits, 0.0).ranking(final_move) == [1, 0]


def test_a_lost_repetition_is_the_last_of_the_open_moves() -> None:
    root = Root(4, value=-0.5).repetition(1, -1.0).proven(WIN, 2).move(3, -0.9)
    assert root.ranking("lcb") == [2, 3, 0, 1]


def test_the_roots_value_is_that_of_a_best_move_of_a_certain_value() -> None:
    root = Root(2).move(90, -0.25).repetition(1, 0.0)
    recompute(root.node)
    moves = root_moves(root.node, root.ranking(), Board(), 0)
    assert root_value(root.node, moves) == 0.0 > root.node.value
    assert root_value(root.node, moves[1:]) == root.node.value == root_value(root.node, [])


def test_of_two_ways_to_end_the_game_the_more_valuable_is_played() -> None:
    assert Root(3).repetition(30, -0.5).repetition(20, 0.5).move(90, 0.25).ranking()[0] == 1


# The report.


def test_a_move_is_reported_with_its_numbers() -> None:
    root = Root(4).move(3, 0.5).proven(LOSS, 2).proven(WIN, 3)
    root.node.value = 0.25
    moves = root_moves(root.node, [0, 1, 2, 3], TicTacToe(), 0)
    assert [(m.move, m.visits, m.value, m.mate) for m in moves] == [
        (0, 3, 0.5, None),
        (1, 1, 1.0, 3),
        (2, 1, -1.0, -4),
        (3, 0, 0.25, None),
    ]
    assert [m.prior for m in moves] == [1 / 16] * 4
    assert [m.pv for m in moves] == [(i,) for i in range(4)]


def test_an_untried_move_has_the_value_of_the_root_before_its_proof() -> None:
    root = Root(2, value=0.125).proven(LOSS, 0)
    recompute(root.node)
    assert root.node.proof == WIN
    moves = root_moves(root.node, [0, 1], TicTacToe(), 0)
    assert [(m.value, m.mate) for m in moves] == [(1.0, 1), (0.125, None)]


def test_an_added_win_without_a_visit_has_the_value_one() -> None:
    root = Root(2).proven(LOSS, 4, visits=0)
    (best,) = root_moves(root.node, [0], TicTacToe(), 0)
    assert (best.visits, best.value, best.mate) == (0, 1.0, 5)


def chain(table: NodeTable, root: Node, moves: list[int], visits: int = 3) -> Node:
    """Visits these moves one after the other from the root; returns the last node."""
    for ply, move in enumerate(moves):
        i = root.moves.index(Move(move))
        child = root.children[i] = table.add(
            Node(root.key * 10 + move + 1, ply + 1, [Move(n) for n in range(9)], [1 / 16] * 9, 0.0)
        )
        table.try_moves(root, i + 1)
        root.visits[i] = visits
        root = child
    return root


def test_the_continuation_follows_the_most_visited_moves() -> None:
    root = Root(9)
    state = TicTacToe()
    chain(root.table, root.node, [4, 0, 8])
    child = present(root.node.children[4])
    chain(root.table, child, [2], visits=2)
    assert continuation(root.node, 4, state) == (4, 0, 8)
    chain(root.table, child, [3, 5], visits=4)
    assert continuation(root.node, 4, state) == (4, 3, 5)
    assert continuation(root.node, 7, state) == (7,)
    assert state.move_stack == []
    for lines, expected in ((2, [(7,), (4, 3, 5)]), (1, [(7,), (4,)])):
        moves = root_moves(root.node, [7, 4], state, lines)
        assert [move.pv for move in moves] == expected


def test_the_continuation_goes_to_the_end_of_a_proof() -> None:
    root = Root(9)
    last = chain(root.table, root.node, [4, 0])
    last.set_proof(WIN, 3, 1.0)
    root.table.forget_moves(last, [Move(8), Move(7), Move(1)])
    assert continuation(root.node, 4, TicTacToe()) == (4, 0, 8, 7, 1)


def test_the_continuation_ends_where_the_position_repeats() -> None:
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b - 1")
    words = ["5i5h", "5a5b", "5h5i", "5b5a", "5i4h"]
    moves = [board.push_usi(word) for word in words]
    for _ in words:
        board.pop()
    table = NodeTable(100)
    node = root = table.add(Node(0, 0, [moves[0]], [1.0], 0.0))
    for ply, move in enumerate(moves[1:], 1):
        table.try_moves(node, 1)
        node.visits[0] = 1
        child = node.children[0] = table.add(Node(ply, ply, [move], [1.0], 0.0))
        node = child
    assert continuation(root, 0, board) == tuple(moves[:4])
    assert board.move_stack == []
    assert root.proof == UNKNOWN


def test_by_visits_another_move_needs_the_difference() -> None:
    root = Root(5).move(20).move(60).proven(LOSS, 2, visits=5).repetition(50, 0.0).move(45)
    assert root.contest("visits") == (1, 15)
    assert root.contest("visits", frozenset({4})) == (1, 40)
    assert root.contest("visits", frozenset({0, 4})) == (1, 60), "an untried move"
    assert Root(2).proven(LOSS, 2).contest() == (-1, None)


def test_by_the_bound_a_better_and_less_certain_move_needs_fewer() -> None:
    """The second of 65 to 20 is 0.05 better; its error falls from 0.11 to 0.03 when it has 900 visits."""
    root = Root(2).move(650, 0.10, 0.1).move(200, 0.15, 0.32)
    best, lead = root.contest()
    assert best == 0
    assert lead is not None
    assert 200 < lead < 450
    for visits, chosen in ((200 + lead - 2, 0), (200 + lead + 1, 1)):
        later = Root(2).move(650, 0.10, 0.1).move(visits, 0.15, 0.32)
        assert later.ranking()[0] == chosen
    assert root.contest("visits") == (0, 450)


def test_a_move_below_the_share_of_a_contender_needs_that_first() -> None:
    assert Root(2).move(1000, 0.0, 0.1).move(150, 0.2, 0.1).contest() == (0, 50)


def test_a_contest_is_open_while_the_bound_and_the_visits_prefer_different_moves() -> None:
    root = Root(2).move(500, 0.0, 0.2).move(300, 0.2, 0.2)
    assert root.ranking()[0] == 1
    assert root.contest() == (1, 0)
