"""The mean of a position's and its mirror image's evaluation."""

from random import Random
from typing import Any

import numpy as np
import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.material import MaterialEvaluator
from goryu.evaluators.mirror import MirrorEvaluator, mirrored, mirrored_move
from goryu.games.shogi import Board as PythonBoard
from goryu.implementation import IMPLEMENTATION, Board
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.node import half
from goryu.search.graph.node_table import EDGE_BYTES, MOVE_BYTES, NODE_BYTES
from goryu.search.graph.puct import Puct as PythonPuct
from goryu.search.result import SearchStats

cshogi: Any = pytest.importorskip("cshogi")


def never(stats: SearchStats) -> bool:
    return False


def random_boards(count: int) -> list[Any]:
    rng = Random(8)
    found: list[Any] = []
    while len(found) < count:
        board = Board()
        for _ in range(rng.randrange(120)):
            if board.outcome() is not None:
                break
            board.push(rng.choice(board.legal_moves()))
        if board.outcome() is None:
            found.append(board)
    return found


def test_the_legal_moves_of_the_mirror_image_are_the_mirrored_moves() -> None:
    for board in random_boards(40):
        image = mirrored(board)
        assert sorted(map(mirrored_move, board.legal_moves())) == sorted(image.legal_moves())
        assert mirrored(image).sfen().split()[:3] == board.sfen().split()[:3]
        assert image.is_check() == board.is_check()


def test_the_mirror_image_has_the_mirrored_past() -> None:
    for board in random_boards(10):
        image = mirrored(board)
        assert list(image.move_stack) == [mirrored_move(move) for move in board.move_stack]
        assert image.ply == board.ply


def test_the_mirror_image_has_the_pieces_of_cshogis_board_on_the_other_files() -> None:
    for board in random_boards(20):
        ours, image = cshogi.Board(board.sfen()), cshogi.Board(mirrored(board).sfen())
        for file in range(9):
            for rank in range(9):
                assert ours.piece(9 * file + rank) == image.piece(9 * (8 - file) + rank)
        assert ours.pieces_in_hand == image.pieces_in_hand


def test_both_images_have_the_same_mean() -> None:
    evaluator = MirrorEvaluator(HashedEvaluator())
    for board in random_boards(20):
        image = mirrored(board)
        of_board, of_image = evaluator.evaluate([board, image])
        assert of_board.value == of_image.value
        policy = dict(zip(image.legal_moves(), of_image.policy, strict=True))
        assert list(of_board.policy) == [policy[mirrored_move(move)] for move in board.legal_moves()]
        assert sum(of_board.policy) == pytest.approx(1.0, abs=1e-12)


def test_a_symmetric_evaluation_is_its_own_mean() -> None:
    boards = random_boards(5)
    for plain, mean in zip(
        MaterialEvaluator().evaluate(boards),
        MirrorEvaluator(MaterialEvaluator()).evaluate(boards),
        strict=True,
    ):
        assert mean.value == plain.value


def test_only_the_root_is_averaged() -> None:
    plain = HashedEvaluator()
    puct = PythonPuct(plain, PuctConfig(), root_evaluator=MirrorEvaluator(plain))
    board = PythonBoard()
    puct.search(board, never, max_playouts=30)
    assert puct.root is not None
    assert puct.root.raw_value == np.float32(MirrorEvaluator(plain).evaluate([board])[0].value)
    board.push(puct.root.moves[0])
    child = puct.table.find(board.key)
    assert child is not None
    assert child.raw_value == np.float32(plain.evaluate([board])[0].value)


@pytest.mark.skipif(IMPLEMENTATION == "python", reason="no native code")
def test_the_native_search_with_an_averaged_root_is_the_python_search() -> None:
    from goryu._native import Puct

    evaluator = HashedEvaluator()
    for config in (PuctConfig(), PuctConfig(batch_size=8)):
        native: Any = Puct(evaluator, config, root_evaluator=MirrorEvaluator(evaluator))
        python = PythonPuct(evaluator, config, root_evaluator=MirrorEvaluator(evaluator))
        plain = PythonPuct(evaluator, config)
        found = native.search(Board(), never, max_playouts=200)
        assert found == python.search(PythonBoard(), never, max_playouts=200)
        assert found != plain.search(PythonBoard(), never, max_playouts=200)


def test_a_known_root_gets_the_averaged_priors_and_keeps_what_was_searched() -> None:
    plain = HashedEvaluator()
    puct = PythonPuct(plain, PuctConfig(), root_evaluator=MirrorEvaluator(plain))
    board = PythonBoard()
    result = puct.search(board, never, max_playouts=300)
    board.push(result.moves[0].move)
    node = puct.table.find(board.key)
    assert node is not None
    before = {node.moves[i]: (node.visits[i], node.children[i]) for i in range(len(node.moves))}
    assert sum(visits for visits, _ in before.values()) > 10
    puct.search(board, never, max_playouts=0)
    assert puct.root is node
    assert before == {node.moves[i]: (node.visits[i], node.children[i]) for i in range(len(node.moves))}
    assert all(visits == 0 for visits in node.visits[node.tried :])
    mean = MirrorEvaluator(plain).evaluate([board])[0].policy
    expected = dict(zip(board.legal_moves(), map(half, mean), strict=True))
    assert dict(zip(node.moves, node.priors, strict=True)) == expected
    assert node.priors == sorted(node.priors, reverse=True)
    assert puct.table.bytes_used == sum(
        NODE_BYTES + MOVE_BYTES * len(each.moves) + EDGE_BYTES * each.tried for each in puct.table
    )


@pytest.mark.skipif(IMPLEMENTATION == "python", reason="no native code")
@pytest.mark.parametrize("batch_size", [1, 8])
def test_the_graphs_of_a_game_with_averaged_roots_are_equal(batch_size: int) -> None:
    from goryu._native import Puct

    evaluator, config = HashedEvaluator(), PuctConfig(batch_size=batch_size)
    native: Any = Puct(evaluator, config, root_evaluator=MirrorEvaluator(evaluator))
    python = PythonPuct(evaluator, config, root_evaluator=MirrorEvaluator(evaluator))
    boards = Board(), PythonBoard()
    for _ in range(8):
        for playouts in (0, 150, 40):  # The second and third search find the same root again.
            found = native.search(boards[0], never, max_playouts=playouts)
            assert found == python.search(boards[1], never, max_playouts=playouts)
            assert native.dump(depth=3, least_visits=0) == python.dump(depth=3, least_visits=0)
            assert python.root is not None
            assert list(native.root.priors) == python.root.priors
            assert native.root.tried == python.root.tried
            assert native.table.bytes_used == python.table.bytes_used
        for board in boards:
            board.push(found.moves[0].move)
