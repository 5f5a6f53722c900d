"""MCTS_player beside a second writing of the book's program, on python-shogi's board, in single precision."""

from typing import Any

import numpy as np
import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.players.agents.mcts_player import MctsPlayerSearcher
from goryu.search.evaluator import Evaluator

shogi = pytest.importorskip("shogi")


class Reference:
    """The program's functions `expand_node`, `select_max_ucb_child` and `uct_search`."""

    def __init__(self, evaluator: Evaluator, board: Any) -> None:
        self.evaluator = evaluator
        self.nodes: dict[tuple[int, int, int], Any] = {}
        self.root = self.expand(board)

    def expand(self, board: Any) -> Any:
        key = board.zobrist_hash(), board.turn, board.move_number
        if key not in self.nodes:
            ours = Board(board.sfen())
            moves, value, priors = [*map(move_to_usi, ours.legal_moves())], 0.0, {}
            if moves:
                evaluation = self.evaluator.evaluate([ours])[0]
                value, priors = (evaluation.value + 1) / 2, dict(zip(moves, evaluation.policy, strict=True))
            moves = [move.usi() for move in board.legal_moves if move.usi() in priors]
            self.nodes[key] = {
                "moves": moves, "value": value, "playouts": 0, "children": [None] * len(moves),
                "priors": np.array([priors[move] for move in moves], np.float32),
                "counts": np.zeros(len(moves), np.int32), "wins": np.zeros(len(moves), np.float32),
            }  # fmt: skip
        return self.nodes[key]

    def search(self, board: Any, node: Any) -> float:
        if not node["moves"]:
            return 1.0
        counts, wins = node["counts"], node["wins"]
        q = np.divide(wins, counts, out=np.full(len(counts), 0.5, np.float32), where=counts != 0)
        i = int(np.argmax(q + node["priors"] * np.sqrt(np.float32(node["playouts"])) / (1 + counts)))
        board.push_usi(node["moves"][i])
        if node["children"][i] is None:
            node["children"][i] = self.expand(board)
            result = 1.0 - node["children"][i]["value"]
        else:
            result = self.search(board, node["children"][i])
        board.pop()
        node["playouts"] += 1
        counts[i] += 1
        wins[i] += result
        return float(1.0 - result)


@pytest.mark.parametrize(
    "sfen",
    [
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "4k4/9/4P4/9/9/9/9/9/4K4 b G 1",  # A mate in one.
        "4k4/9/9/4p4/9/9/4P4/9/4K4 w R2Br 20",
    ],
)
def test_it_visits_what_the_program_visits(sfen: str) -> None:
    evaluator, board = HashedEvaluator(), shogi.Board(sfen)
    reference, searcher = Reference(evaluator, board), MctsPlayerSearcher(evaluator, 4096)
    for _ in range(60):
        reference.search(board, reference.root)
    found = searcher.search(Board(sfen), lambda stats: False, max_playouts=60)
    root = reference.root
    visits = dict(zip(root["moves"], root["counts"], strict=True))
    assert {move_to_usi(move.move): move.visits for move in found.moves} == visits
    best = int(np.argmax(root["counts"]))
    assert move_to_usi(found.moves[0].move) == root["moves"][best]
    assert found.moves[0].value == pytest.approx(2 * root["wins"][best] / root["counts"][best] - 1, abs=1e-4)
    assert found.stats.nodes == len(reference.nodes)


def test_the_next_search_keeps_what_it_can_reach_and_a_full_table_ends_it() -> None:
    evaluator = HashedEvaluator()
    first = MctsPlayerSearcher(evaluator, 300)
    found = first.search(Board(), lambda stats: False, max_playouts=100)
    again = MctsPlayerSearcher(evaluator, 300, first)
    assert again.search(Board(), lambda stats: False, max_playouts=0).moves == found.moves
    board = Board()
    board.push(found.moves[0].move)
    after = MctsPlayerSearcher(evaluator, 300, first)
    after.search(board, lambda stats: False, max_playouts=0)
    assert 0 < after.stats().nodes < first.stats().nodes
    full = first.stats().nodes + after.search(board, lambda stats: False).stats.playouts
    assert full > 100
    assert after.stats().nodes == 271, "it ends at 90 %"


def test_another_evaluator_begins_anew() -> None:
    first = MctsPlayerSearcher(HashedEvaluator(), 300)
    first.search(Board(), lambda stats: False, max_playouts=20)
    assert (
        MctsPlayerSearcher(HashedEvaluator(), 300, first)
        .search(Board(), lambda stats: False, max_playouts=1)
        .stats.nodes
        == 2
    )
