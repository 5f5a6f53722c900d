"""What proves a position at a leaf, and mates that are added to the graph."""

from collections.abc import Sequence
from random import Random

import pytest

from goryu.games.reversi import Reversi
from goryu.games.shogi import Board, Rules, move_from_usi
from goryu.games.state import Move, Outcome, State
from goryu.games.tictactoe import TicTacToe
from goryu.search.graph.node import DRAW, LOSS, UNKNOWN, WIN, Node
from goryu.search.graph.node_table import NodeTable
from goryu.search.graph.proof import MateSolver, add_mate, no_solver, outcome_value, prove

X_HAS_WON = [Move(n) for n in (0, 3, 1, 4, 2)]
FULL_BOARD = [Move(n) for n in (0, 1, 2, 4, 3, 5, 7, 6, 8)]
DECLARABLE = "1K1+R1+R3/PPPPPPPPP/1S1B1B3/9/9/9/9/9/4k4 b G 100"
MATE_IN_ONE = "4k4/9/4G4/9/9/9/9/9/4K4 b G 1"


def found(state: State, visits: int) -> Sequence[Move]:
    """A solver that finds a win in three plies everywhere."""
    return [Move(7), Move(8), Move(6)]


def test_a_lost_game_is_a_proven_loss_at_distance_0() -> None:
    node = prove(TicTacToe(X_HAS_WON), found, 0.5)
    assert node is not None
    assert (node.proof, node.distance, node.value, node.moves) == (LOSS, 0, -1.0, [])


@pytest.mark.parametrize("draw_value", [0.0, 0.25])
def test_a_drawn_game_has_the_draw_value_of_the_side_to_move(draw_value: float) -> None:
    """White, with turn 1, is to move on the full board."""
    node = prove(TicTacToe(FULL_BOARD), found, draw_value)
    assert node is not None
    assert (node.proof, node.distance, node.value, node.moves) == (DRAW, 0, -draw_value, [])


def test_a_declared_win_takes_a_ply() -> None:
    node = prove(Board(DECLARABLE), found, 0.0)
    assert node is not None
    assert (node.proof, node.distance, node.value, node.moves) == (WIN, 1, 1.0, [])


def test_a_game_that_ended_with_a_win_of_the_side_to_move_is_won_at_distance_0() -> None:
    """Without legal moves nothing is played any more: reversi may end so."""
    values = set()
    for seed in range(20):
        rng, state = Random(seed), Reversi(4)
        while (outcome := state.outcome()) is None:
            state.push(rng.choice(state.legal_moves()))
        node = prove(state, found, 0.0)
        assert node is not None
        assert (node.distance, node.value) == (0, outcome.value)
        assert node.proof == {1.0: WIN, 0.0: DRAW, -1.0: LOSS}[outcome.value]
        values.add(outcome.value)
    assert 1.0 in values


def test_a_line_of_the_solver_proves_a_win() -> None:
    state = TicTacToe([Move(4)])
    node = prove(state, found, 0.5)
    assert node is not None
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
    node = prove(board, MateSolver(10), 0.0)
    assert node is not None
    assert (node.distance, node.moves) == (1, [move_from_usi("G*5b")])


@pytest.mark.parametrize(
    "plies, value, draw_value, expected",
    [(0, 0.0, 0.25, 0.25), (1, 0.0, 0.25, -0.25), (0, 1.0, 0.25, 1.0), (1, -1.0, 0.25, -1.0)],
)
def test_the_draw_value_is_that_of_the_first_player(
    plies: int, value: float, draw_value: float, expected: float
) -> None:
    state = TicTacToe([Move(n) for n in range(plies)])
    assert outcome_value(Outcome(value, ""), state, draw_value) == expected


# Mates found elsewhere.


MATE_IN_THREE = ("G*6b", "5a4a", "G*4b")


def mated_board() -> tuple[Board, NodeTable, Node, list[Move]]:
    """A position with a mate in three (not the shortest one), as the only node of a table."""
    board, table = Board("4k4/9/4G4/9/9/9/9/9/4K4 b 2G 1", Rules()), NodeTable(100)
    moves = board.legal_moves()
    node = table.add(Node(board.key, board.ply, moves, [1 / len(moves)] * len(moves), 0.0))
    return board, table, node, [move_from_usi(text) for text in MATE_IN_THREE]


def child_of(node: Node, move: Move) -> Node:
    child = node.children[node.moves.index(move)]
    assert child is not None
    return child


def test_a_mate_proves_its_position_and_the_one_after_its_first_move() -> None:
    board, table, node, line = mated_board()
    sfen = board.sfen()
    assert add_mate(table, board, line)
    assert board.sfen() == sfen
    child = child_of(node, line[0])
    assert (node.proof, node.distance, node.value) == (WIN, 3, 1.0)
    assert (child.proof, child.distance, child.value) == (LOSS, 2, -1.0)
    assert (child.moves, child.is_complete) == (line[1:], False)
    assert node.tried == node.moves.index(line[0]) + 1
    board.push(line[0])
    assert table.find(board.key) is child
    assert not add_mate(table, Board("4k4/9/4G4/9/9/9/9/9/4K4 b 2G 1"), line), "once is enough"
    with pytest.raises(ValueError, match="expected the moves of a mate"):
        add_mate(table, board, [])


def test_a_mate_finds_the_position_after_its_first_move_in_the_graph() -> None:
    board, table, node, line = mated_board()
    board.push(line[0])
    replies = board.legal_moves()
    known = table.add(Node(board.key, board.ply, replies, [1 / len(replies)] * len(replies), 0.5))
    board.pop()
    assert add_mate(table, board, line)
    assert child_of(node, line[0]) is known
    assert (known.proof, known.distance, known.value, known.moves) == (LOSS, 2, -1.0, line[1:])


def test_a_mate_leaves_a_position_its_moves_while_playouts_are_there() -> None:
    board, table, _, line = mated_board()
    board.push(line[0])
    replies = board.legal_moves()
    known = table.add(Node(board.key, board.ply, replies, [1 / len(replies)] * len(replies), 0.5))
    known.in_flight = 1
    board.pop()
    assert add_mate(table, board, line)
    assert (known.proof, known.moves) == (LOSS, replies)


def test_no_mate_adds_a_position_that_waits_for_its_evaluation() -> None:
    board, table, node, line = mated_board()
    board.push(line[0])
    waiting = {board.key}
    board.pop()
    assert not add_mate(table, board, line, waiting)
    assert (node.proof, len(table)) == (UNKNOWN, 1)
    assert add_mate(table, board, line)


def test_a_proof_that_is_known_already_stays() -> None:
    board, table, node, line = mated_board()
    board.push(line[0])
    known = table.add(Node(board.key, board.ply, [], [], 0.0))
    known.set_proof(LOSS, 0, -1.0)
    board.pop()
    assert add_mate(table, board, line)
    assert (known.proof, known.distance) == (LOSS, 0)
    assert child_of(node, line[0]) is known


def test_a_mate_is_refused_where_it_proves_nothing() -> None:
    board, table, node, line = mated_board()
    assert not add_mate(table, Board(), line), "not in the graph"
    assert not add_mate(table, board, [move_from_usi("5e5d")]), "no such move"
    table.add_repetition(node, node.moves.index(line[0]), 0.0)
    assert not add_mate(table, board, line), "on this path the move repeats"
    assert (node.proof, len(table)) == (UNKNOWN, 1)
