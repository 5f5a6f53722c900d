"""Gumbel search: policy-value search for budgets of a few playouts.

PUCT needs many more playouts than there are moves before its visit counts mean anything. With a handful of
playouts, this search first draws a few moves without replacement (the Gumbel-top-k trick: adding Gumbel noise
to the log probabilities and taking the k largest is such a draw), then finds the best of them by sequential
halving: every candidate gets the same number of playouts, the worse half is dropped, and so on. Playing the
winner, and learning the policy `softmax(logits + sigma(value))`, improves on the prior in expectation even
with two playouts.

Weakness: the root never tries a move outside its draw. PUCT can, and plays better with hundreds of playouts.
Source: I. Danihelka, A. Guez, J. Schrittwieser, D. Silver, "Policy improvement by planning with Gumbel", ICLR
2022 (equation numbers below); the mixed value is in its appendix D.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from math import ceil, exp, log, log2
from random import Random

from goryu.games.state import Move, State
from goryu.search.evaluator import Evaluation, Evaluator

__all__ = [
    "Gumbel", "GumbelConfig", "GumbelResult", "Node", "Steps", "improved_policy", "logits_of",
    "round_sizes", "search_steps",
]  # fmt: skip

Steps = Generator[list[State], list[Evaluation], "GumbelResult"]
"""A search that yields states, is sent one evaluation for each, and returns its result. A caller that steps
many searches can evaluate the leaves of many games in one call."""


@dataclass(frozen=True, slots=True)
class GumbelConfig:
    """max_considered: moves that the root draws. c_visit, c_scale: the weight of values against logits (the
    defaults are the paper's for Go and chess, for values in [0, 1]).
    """

    max_considered: int = 16
    c_visit: float = 50.0
    c_scale: float = 1.0


@dataclass(frozen=True, slots=True)
class GumbelResult:
    """move: the move to play. value: expected result for the side to move, in [-1, +1], if it now plays by
    the improved policy. (The mixed value is that of the prior, and lower.)

    moves, visits: the legal moves and the playouts through each.
    prior, policy: the evaluator's policy and the improved one, a network's target; both sum to 1.
    values: of the moves, for the side to move; the mixed value for moves without a playout.
    """

    move: Move
    value: float
    moves: tuple[Move, ...]
    visits: tuple[int, ...]
    prior: tuple[float, ...]
    policy: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A position that was evaluated once; owns its state."""

    state: State
    evaluation: Evaluation


class Node:
    """One position of a plain tree: the statistics of each of its moves, index by index.

    value: the evaluator's, for the side to move. value_sums: for the side to move here.
    children: None for an unvisited move; a leaf after the first visit, a node from the second on. Most leaves
        are visited once, so their policy is never read.
    """

    __slots__ = ("children", "logits", "moves", "value", "value_sums", "visits")

    def __init__(self, moves: list[Move], evaluation: Evaluation) -> None:
        self.moves = moves
        self.logits = logits_of(evaluation.policy)
        self.value = evaluation.value
        self.visits = [0] * len(moves)
        self.value_sums = [0.0] * len(moves)
        self.children: list[Node | Leaf | None] = [None] * len(moves)

    def child(self, i: int) -> "Node | None":
        """Returns the node behind a move, or None if the move is not visited yet."""
        child = self.children[i]
        if isinstance(child, Leaf):
            child = self.children[i] = Node(child.state.legal_moves(), child.evaluation)
        return child

    def mixed_value(self) -> float:
        """Returns the evaluator's value mixed with those of the visited moves, weighted by prior."""
        total_visits, prior_sum, weighted = 0, 0.0, 0.0
        for i in [i for i, visits in enumerate(self.visits) if visits]:
            prior = exp(self.logits[i])
            total_visits += self.visits[i]
            prior_sum += prior
            weighted += prior * self.value_sums[i] / self.visits[i]
        if not total_visits:
            return self.value
        return (self.value + total_visits * weighted / prior_sum) / (1 + total_visits)

    def completed_values(self) -> list[float]:
        """Returns the value of each move: what its playouts found, or else the mixed value (equation 10)."""
        unvisited = self.mixed_value()
        return [w / n if n else unvisited for w, n in zip(self.value_sums, self.visits, strict=True)]

    def scores(self, g: Sequence[float], config: GumbelConfig) -> list[float]:
        """Returns g + logits + sigma(completed value) of each move; g: the Gumbel noise."""
        sigmas = sigma(self.completed_values(), self.visits, config)
        return [g[i] + self.logits[i] + sigmas[i] for i in range(len(g))]

    def improved_policy(self, config: GumbelConfig) -> list[float]:
        """Returns the improved policy of the node."""
        return improved_policy(self.logits, self.completed_values(), self.visits, config)

    def select(self, config: GumbelConfig) -> int:
        """Returns the move whose share of visits lags most behind the improved policy (equation 14)."""
        policy, total = self.improved_policy(config), 1 + sum(self.visits)
        lags = [share - visits / total for share, visits in zip(policy, self.visits, strict=True)]
        return lags.index(max(lags))


class Gumbel:
    """The search with a given evaluator."""

    def __init__(self, evaluator: Evaluator, config: GumbelConfig | None = None) -> None:
        self.evaluator = evaluator
        self.config = config or GumbelConfig()

    def search(self, state: State, playouts: int, rng: Random | None = None) -> GumbelResult:
        """Searches with exactly `playouts` playouts; leaves `state` as it was.

        playouts: with 0, `rng` draws a move from the evaluator's policy.
        rng: draws the root's Gumbel noise; None searches without noise, for play at full strength.
        """
        steps = search_steps(state, playouts, self.config, rng)
        leaves = next(steps)
        while True:
            try:
                leaves = steps.send(self.evaluator.evaluate(leaves))
            except StopIteration as finished:
                result: GumbelResult = finished.value
                return result


def search_steps(
    state: State,
    playouts: int,
    config: GumbelConfig,
    rng: Random | None = None,
    should_stop: Callable[[Node], bool] = lambda root: False,
) -> Steps:
    """Returns the search of `Gumbel` as a generator that yields the leaves to be evaluated.

    The candidates are in different subtrees, so the leaves of one round are yielded together.
    should_stop: called with the root before each round; True ends the search with fewer playouts.
    """
    assert playouts >= 0
    (evaluation,) = yield [state.copy()]
    root = Node(state.legal_moves(), evaluation)
    indices = range(len(root.moves))
    g = gumbel_noise(len(root.moves), rng)  # 1. Draw the candidates.
    candidates = sorted(indices, key=lambda i: -(g[i] + root.logits[i]))[: config.max_considered]
    for size in round_sizes(len(candidates), playouts):  # 2. Halve them, again and again.
        if should_stop(root):
            break
        scores = root.scores(g, config)
        candidates = sorted(candidates, key=lambda i: -scores[i])[:size]
        yield from _round(root, state, candidates, config)
    scores, most = root.scores(g, config), max(root.visits)  # 3. Choose the best of the most visited.
    best = max((i for i in indices if root.visits[i] == most), key=lambda i: scores[i])
    return _result(root, best, evaluation.policy, config)


def gumbel_noise(count: int, rng: Random | None) -> list[float]:
    """Returns samples of the standard Gumbel distribution; zeros without `rng`."""
    if rng is None:
        return [0.0] * count
    return [-log(-log(rng.random() or 1e-300)) for _ in range(count)]


def round_sizes(candidates: int, playouts: int) -> list[int]:
    """Returns how many candidates get a playout in each round of sequential halving.

    The numbers sum to `playouts`; the last round may be incomplete.

    >>> round_sizes(4, 16)
    [4, 4, 2, 2, 2, 2]
    """
    phases = max(1, ceil(log2(candidates)))
    rounds: list[int] = []
    remaining, size = playouts, candidates
    while remaining:
        for _ in range(max(1, playouts // (phases * size))):
            rounds.append(min(size, remaining))
            remaining -= rounds[-1]
            if not remaining:
                break
        size = max(min(2, candidates), size // 2)
    return rounds


def _round(
    root: Node, state: State, candidates: Sequence[int], config: GumbelConfig
) -> Generator[list[State], list[Evaluation], None]:
    """Runs one playout through each of the candidates."""
    leaves: list[State] = []
    paths: list[list[tuple[Node, int]]] = []
    for i in candidates:  # 1. Select.
        leaf, path = _descend(root, i, state, config)
        outcome = leaf.outcome() or leaf.repetition()
        if outcome is not None:
            back_up(path, outcome.value)
        else:
            leaves.append(leaf)
            paths.append(path)
    if leaves:  # 2. Evaluate, and back up.
        evaluations = yield leaves
        for leaf, path, evaluation in zip(leaves, paths, evaluations, strict=True):
            parent, i = path[-1]
            parent.children[i] = Leaf(leaf, evaluation)
            back_up(path, evaluation.value)


def _descend(root: Node, i: int, state: State, config: GumbelConfig) -> tuple[State, list[tuple[Node, int]]]:
    """Returns the leaf that a playout through the root's move `i` reaches, and the path to it."""
    leaf, node, path = state.copy(), root, [(root, i)]
    leaf.push(root.moves[i])
    while (child := node.child(i)) is not None:
        node, i = child, child.select(config)
        path.append((node, i))
        leaf.push(node.moves[i])
    return leaf, path


def back_up(path: Sequence[tuple[Node, int]], value: float) -> None:
    """Adds a leaf's value (for its side to move) to every move on the path."""
    for node, i in reversed(path):
        value = -value
        node.visits[i] += 1
        node.value_sums[i] += value


def _result(root: Node, best: int, prior: Sequence[float], config: GumbelConfig) -> GumbelResult:
    policy, values, value = root.improved_policy(config), root.completed_values(), 0.0
    for probability, completed in zip(policy, values, strict=True):
        value += probability * completed
    moves, visits = tuple(root.moves), tuple(root.visits)
    return GumbelResult(moves[best], value, moves, visits, tuple(prior), tuple(policy), tuple(values))


def logits_of(policy: Sequence[float]) -> list[float]:
    """Returns the logarithms of probabilities, which are taken as 1e-12 at least."""
    return [log(prior) if prior > 1e-12 else log(1e-12) for prior in policy]


def improved_policy(
    logits: Sequence[float], values: Sequence[float], visits: Sequence[int], config: GumbelConfig
) -> list[float]:
    """Returns softmax(logits + sigma(completed values)) (equation 11)."""
    scores = [a + b for a, b in zip(logits, sigma(values, visits, config), strict=True)]
    greatest = max(scores)
    weights = [exp(score - greatest) for score in scores]
    total = 0.0
    for weight in weights:
        total += weight
    return [weight / total for weight in weights]


def sigma(values: Sequence[float], visits: Sequence[int], config: GumbelConfig) -> list[float]:
    """Returns sigma of values in [-1, +1] (equation 8)."""
    scale = (config.c_visit + max(visits)) * config.c_scale / 2.0
    return [scale * (value + 1.0) for value in values]
