"""UCT: its formula, its counts, and the values that it finds."""

from math import log, sqrt
from random import Random

import pytest

from goryu.games.shogi import Board, Rules
from goryu.games.state import Move
from goryu.games.tictactoe import TicTacToe
from goryu.search import uct


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
