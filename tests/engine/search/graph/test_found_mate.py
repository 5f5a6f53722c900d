"""Mates that were found elsewhere."""

import pytest

from goryu.games.shogi import Board, Rules, move_from_usi
from goryu.games.state import Move
from goryu.search.graph.found_mate import add_mate
from goryu.search.graph.node import LOSS, UNKNOWN, WIN, Node
from goryu.search.graph.node_table import NodeTable
from present import present

MATE_IN_THREE = ("G*6b", "5a4a", "G*4b")


def mated_board() -> tuple[Board, NodeTable, Node, list[Move]]:
    """A position with a mate in three (not the shortest one), as the only node of a table."""
    board, table = Board("4k4/9/4G4/9/9/9/9/9/4K4 b 2G 1", Rules()), NodeTable(100)
    moves = board.legal_moves()
    node = table.add(Node(board.key, board.ply, moves, [1 / len(moves)] * len(moves), 0.0))
    return board, table, node, [move_from_usi(text) for text in MATE_IN_THREE]


def child_of(node: Node, move: Move) -> Node:
    return present(node.children[node.moves.index(move)])


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
