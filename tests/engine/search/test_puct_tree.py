"""PUCT on a tree beside the search of OJIMA Ryoji's article, written down a second time."""

from math import sqrt

from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.tictactoe import TicTacToe
from goryu.search.evaluator import Evaluator
from goryu.search.puct_tree import search


class Published:
    """The article's `node`: its statistics are those of the move that leads to it."""

    def __init__(self, state: TicTacToe, p: float, evaluator: Evaluator) -> None:
        self.state, self.p, self.evaluator = state, p, evaluator
        self.w, self.n = 0.0, 0
        self.children: list[Published] = []

    def evaluate(self) -> float:
        if outcome := self.state.outcome():
            value = outcome.value
        elif not self.children:
            evaluation = self.evaluator.evaluate([self.state])[0]
            for move, p in zip(self.state.legal_moves(), evaluation.policy, strict=True):
                child = self.state.copy()
                child.push(move)
                self.children.append(Published(child, p, self.evaluator))
            value = evaluation.value
        else:
            t = sum(child.n for child in self.children)
            scores = [
                (-child.w / child.n if child.n else 0.0) + 1.0 * child.p * sqrt(t) / (1 + child.n)
                for child in self.children
            ]
            value = -self.children[scores.index(max(scores))].evaluate()
        self.w += value
        self.n += 1
        return value


def test_with_untried_moves_of_0_it_visits_what_the_article_visits() -> None:
    for moves in ([], [4], [0, 4, 8]):
        root = Published(TicTacToe(moves), 0.0, HashedEvaluator())
        for _ in range(60):
            root.evaluate()
        found = search(TicTacToe(moves), HashedEvaluator(), 59, 1.0, untried_is_zero=True)
        assert found.visits == [child.n for child in root.children]
        assert search(TicTacToe(moves), HashedEvaluator(), 59, 1.0).visits != found.visits
