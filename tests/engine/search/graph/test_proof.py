"""What proves a position: at a leaf the rules or a solver, above it the children."""

from collections.abc import Sequence
from random import Random

import pytest

from goryu.games.reversi import Reversi
from goryu.games.shogi import Board, move_from_usi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.search.graph.node import DRAW, LOSS, UNKNOWN, WIN, Node
from goryu.search.graph.node_table import NodeTable, recompute
from goryu.search.graph.proof import (
    MateSolver,
    child_proof,
    is_certain,
    no_solver,
    proof_line,
    prove,
    proving_move,
)
from node_tables import lead, proven_graph, table_with
from present import present

X_HAS_WON = [Move(n) for n in (0, 3, 1, 4, 2)]
FULL_BOARD = [Move(n) for n in (0, 1, 2, 4, 3, 5, 7, 6, 8)]
DECLARABLE = "1K1+R1+R3/PPPPPPPPP/1S1B1B3/9/9/9/9/9/4k4 b G 100"
MATE_IN_ONE = "4k4/9/4G4/9/9/9/9/9/4K4 b G 1"


def found(state: State, visits: int) -> Sequence[Move]:
    """A solver that finds a win in three plies everywhere."""
    return [Move(7), Move(8), Move(6)]


def test_a_lost_game_is_a_proven_loss_at_distance_0() -> None:
    node = present(prove(TicTacToe(X_HAS_WON), found, 0.5))
    assert (node.proof, node.distance, node.value, node.moves) == (LOSS, 0, -1.0, [])


@pytest.mark.parametrize("draw_value", [0.0, 0.25])
def test_a_drawn_game_has_the_value_of_a_draw(draw_value: float) -> None:
    node = present(prove(TicTacToe(FULL_BOARD), found, draw_value))
    assert (node.proof, node.distance, node.value, node.moves) == (DRAW, 0, draw_value, [])


def test_a_declared_win_takes_a_ply() -> None:
    node = present(prove(Board(DECLARABLE), found, 0.0))
    assert (node.proof, node.distance, node.value, node.moves) == (WIN, 1, 1.0, [])


def test_a_game_that_ended_with_a_win_of_the_side_to_move_is_won_at_distance_0() -> None:
    """Without legal moves nothing is played any more: reversi may end so."""
    values = set()
    for seed in range(20):
        rng, state = Random(seed), Reversi(4)
        while (outcome := state.outcome()) is None:
            state.push(rng.choice(state.legal_moves()))
        node = present(prove(state, found, 0.0))
        assert (node.distance, node.value) == (0, outcome.value)
        assert node.proof == {1.0: WIN, 0.0: DRAW, -1.0: LOSS}[outcome.value]
        values.add(outcome.value)
    assert 1.0 in values


def test_a_line_of_the_solver_proves_a_win() -> None:
    state = TicTacToe([Move(4)])
    node = present(prove(state, found, 0.5))
    assert (node.key, node.ply) == (state.key, 1)
    assert (node.proof, node.distance, node.value) == (WIN, 3, 1.0)
    assert (node.moves, node.is_complete) == ([7, 8, 6], False)


def test_without_an_end_or_a_line_nothing_is_proven() -> None:
    assert prove(TicTacToe(), no_solver, 0.0) is None
    assert prove(Board(), MateSolver(40), 0.0) is None
    assert prove(TicTacToe(), MateSolver(40), 0.0) is None, "a game without checks"


def test_the_mate_solver_has_a_budget() -> None:
    board = Board(MATE_IN_ONE)
    assert MateSolver(0)(board) == ()
    assert MateSolver(10)(board, 1000) == (), "no second look"
    assert MateSolver(0, 1)(board, 10) == MateSolver(10)(board)
    node = present(prove(board, MateSolver(10), 0.0))
    assert (node.distance, node.moves) == (1, [move_from_usi("G*5b")])


# Proofs by children.

VALUES = {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}


def proven(*proofs: tuple[int, int], moves: int = 0) -> tuple[NodeTable, Node]:
    """Returns a table and a node whose first moves lead to children with these proofs and distances."""
    table, node = table_with(max(moves, len(proofs)))
    for i, (proof, distance) in enumerate(proofs):
        child = lead(table, node, i, 1, 0.0)
        if proof != UNKNOWN:
            child.set_proof(proof, distance, VALUES[proof])
    recompute(node)
    return table, node


def test_a_node_is_proven_by_its_nearest_win_or_its_farthest_defence() -> None:
    for children, proof, distance in [
        ([(LOSS, 0), (LOSS, 2)], WIN, 1),
        ([(LOSS, 2), (LOSS, 0)], WIN, 1),
        ([(LOSS, 4), (WIN, 1), (DRAW, 1), (UNKNOWN, 0)], WIN, 5),
        ([(WIN, 1), (WIN, 5)], LOSS, 6),
        ([(WIN, 5), (WIN, 1)], LOSS, 6),
        ([(WIN, 7), (DRAW, 0)], DRAW, 1),
        ([(DRAW, 3), (WIN, 7), (DRAW, 6)], DRAW, 7),
        ([(WIN, 1), (UNKNOWN, 0)], UNKNOWN, 0),
        ([(UNKNOWN, 0), (DRAW, 0)], UNKNOWN, 0),
    ]:
        _, node = proven(*children)
        assert (node.proof, node.distance) == (proof, distance)
        assert node.proof == UNKNOWN or node.value == VALUES[node.proof]


def test_a_move_that_was_not_tried_may_still_save_the_node() -> None:
    assert proven((WIN, 1), (WIN, 3), moves=3)[1].proof == UNKNOWN
    assert proven((WIN, 1), (LOSS, 2), moves=3)[1].proof == WIN


def test_nothing_is_proven_behind_an_edge_with_repetitions() -> None:
    table, node = proven((LOSS, 2), (WIN, 2))
    for i in (0, 1):
        assert child_proof(node, i) == (LOSS, WIN)[i]
        table.add_repetition(node, i, 0.0)
        assert (child_proof(node, i), is_certain(node, i)) == (UNKNOWN, True)
    assert proving_move(node) == -1


def test_a_nearer_win_replaces_the_proof_and_a_farther_one_does_not() -> None:
    _, node = proven((LOSS, 4), (UNKNOWN, 0), (UNKNOWN, 0))
    for i, distance, expected in ((1, 6, 5), (2, 2, 3)):
        child = present(node.children[i])
        child.set_proof(LOSS, distance, -1.0)
        recompute(node)
        assert (node.proof, node.distance, node.value) == (WIN, expected, 1.0)
    node.set_proof(WIN, 2, 1.0)  # A mate found elsewhere.
    recompute(node)
    assert node.distance == 2


def test_a_proven_node_keeps_its_value_while_its_visits_go_on() -> None:
    _, node = proven((LOSS, 0), (UNKNOWN, 0))
    node.visits[1] += 3
    recompute(node)
    assert (node.total_visits, node.value, node.variance) == (6, 1.0, 0.0)


@pytest.mark.parametrize(
    "children, best",
    [
        ([(LOSS, 4), (LOSS, 2), (LOSS, 2)], 1),
        ([(WIN, 4), (WIN, 6), (WIN, 6)], 1),
        ([(WIN, 9), (DRAW, 1), (DRAW, 5)], 2),
        ([(DRAW, 9), (LOSS, 5), (WIN, 9)], 1),
        ([(UNKNOWN, 0), (WIN, 1)], 1),
        ([(UNKNOWN, 0)], -1),
    ],
)
def test_the_proving_move_wins_soon_or_holds_out_longest(
    children: Sequence[tuple[int, int]], best: int
) -> None:
    _, node = proven(*children)
    assert proving_move(node) == best


def test_draws_keep_their_value_seen_from_the_other_side() -> None:
    table, node = table_with(1)
    lead(table, node, 0, 1, 0.0).set_proof(DRAW, 2, 0.25)
    recompute(node)
    assert (node.proof, node.distance, node.value) == (DRAW, 3, -0.25)


def test_the_line_of_a_proof_is_the_nearest_win_and_the_longest_defence() -> None:
    graph = proven_graph()
    assert proof_line(graph.node("a")) == [1, 1, 1]
    graph.node("c").distance = 3
    assert proof_line(graph.node("a")) == [1, 2, 2]
    assert proof_line(graph.node("d")) == []
