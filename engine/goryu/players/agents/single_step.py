"""The algorithms that do not search: a value for each move, a policy, or nothing at all.

The first two are players of 山岡忠夫『将棋AIで学ぶディープラーニング』 (2018).
"""

from collections.abc import Callable, Sequence
from random import Random

from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.agents.searcher import TextbookSearcher, make_stats
from goryu.search.evaluator import Evaluator
from goryu.search.result import RootMove, SearchResult, SearchStats


class ValueSearcher(TextbookSearcher):
    """Plays the move after which the evaluator gives the opponent the lowest value.

    A playout is an evaluated move; a search that is stopped early knows only the first ones.

    batch_size: positions for each call of the evaluator.
    """

    def __init__(self, evaluator: Evaluator, batch_size: int = 1) -> None:
        self._evaluator = evaluator
        self._batch_size = batch_size
        self._moves: list[RootMove] = []

    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        self._moves = []
        moves = moves[: max(1, most)]
        for start in range(0, len(moves), self._batch_size):
            if self._moves and should_stop():
                break
            self._evaluate_moves(state, moves[start : start + self._batch_size])

    def _evaluate_moves(self, state: Board, moves: Sequence[Move]) -> None:
        """Adds the values of some moves."""
        values: dict[Move, float] = {}
        mates: dict[Move, int] = {}
        children: dict[Move, Board] = {}
        for move in moves:
            child = state.copy()
            child.push(move)
            end = child.outcome()
            if end is not None and end.value:
                mates[move] = 1 if end.value < 0.0 else -1
            end = end or child.repetition()
            if end is None:
                children[move] = child
            else:
                draw_value = -self.draw_value_first if child.turn else self.draw_value_first
                values[move] = -(end.value or draw_value)
        evaluations = self._evaluator.evaluate([*children.values()]) if children else ()
        for move, evaluation in zip(children, evaluations, strict=True):
            values[move] = -evaluation.value
        self._moves += [RootMove(move, 0.0, 1, values[move], mates.get(move), (move,)) for move in moves]
        self._moves.sort(key=lambda move: -move.value)

    def result(self, lines: int = 1) -> SearchResult:
        """Returns the evaluated moves, the best first."""
        return SearchResult(tuple(self._moves), self._moves[0].value, self.stats())

    def stats(self) -> SearchStats:
        """Returns the counters."""
        return make_stats(len(self._moves), depth=1, max_depth=1)


class _OneAnswer(TextbookSearcher):
    """Keeps the only answer of an algorithm that does not search."""

    _result = SearchResult((), 0.0, make_stats(0))

    def result(self, lines: int = 1) -> SearchResult:
        """Returns the moves, the chosen one first, then by falling probability."""
        return self._result

    def stats(self) -> SearchStats:
        """Returns the counters."""
        return self._result.stats


class PolicySearcher(_OneAnswer):
    """Plays the evaluator's favourite move, or draws a move from its policy: it evaluates the position once.

    temperature: of the draw; 1 draws by the probabilities as they are, 0 plays the favourite.
    """

    def __init__(self, evaluator: Evaluator, rng: Random, temperature: float = 0.0) -> None:
        self._evaluator = evaluator
        self._rng = rng
        self._temperature = temperature

    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        (evaluation,) = self._evaluator.evaluate([state])
        priors = zip(state.legal_moves(), evaluation.policy, strict=True)
        known = [
            RootMove(move, prior, 0, evaluation.value, None, (move,))
            for move, prior in priors
            if move in moves
        ]
        known.sort(key=lambda move: -move.prior)
        chosen = self._chosen(known)
        ranked = (chosen, *(move for move in known if move is not chosen))
        self._result = SearchResult(ranked, evaluation.value, make_stats(1))

    def _chosen(self, moves: Sequence[RootMove]) -> RootMove:
        """Returns the favourite, the first of the moves, or a draw."""
        if self._temperature == 0.0 or moves[0].prior == 0.0:
            return moves[0]
        # Relative to the favourite, so that no power is too small for all moves at once.
        weights = [(move.prior / moves[0].prior) ** (1.0 / self._temperature) for move in moves]
        return self._rng.choices(moves, weights)[0]


class RandomSearcher(_OneAnswer):
    """Plays any legal move."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        move = self._rng.choice(moves)
        self._result = SearchResult((RootMove(move, 0.0, 0, 0.0, None, (move,)),), 0.0, make_stats(0))
