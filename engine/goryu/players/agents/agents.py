"""Every algorithm behind one interface: a function from a position to a move.

A short text names an agent: its algorithm (`catalogue.py`) and, after a colon, its budget, such as `uct:400`.
`AGENTS` says what the budgets count, and has their defaults.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from goryu.base.errors import GoryuError
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.state import Move, State
from goryu.implementation import Puct
from goryu.players.agents.level_agent import level_of_game
from goryu.players.levels.levels import LEVELS, Level
from goryu.search import alpha_beta, depth_limited, flat_monte_carlo, minimax, one_bound, puct_tree, uct
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.flat_monte_carlo import Playout
from goryu.search.graph.config import PuctConfig
from goryu.search.gumbel import Gumbel, GumbelConfig
from goryu.search.heavy_playout import heavy_playout
from goryu.search.random_move import random_move

MOST_DIGITS = 9
"""Digits of a budget. A larger one would take years, and the searches could not count it."""

Report = Callable[[Mapping[Move, float]], None]
"""Takes the values of the moves of a position, in [-1, +1] for the side to move, as far as they are known."""

Agent = Callable[[State], Move]
"""Returns a move for a position that is not over, and leaves the position unchanged."""


class AgentError(GoryuError, ValueError):
    """The text does not name an agent."""


def draw_everywhere(_state: State) -> float:
    """Returns the value of a draw: the heuristic of a game without one."""
    return 0.0


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What agents use in addition to the rules of a game.

    evaluator: policy and value, for `puct-tree`, `puct` and `gumbel`.
    values: the evaluator whose values `value` uses.
    heuristic: an estimate of the result for the side to move, for `depth-limited`.
    puct, gumbel: the configs of `puct` and `gumbel`, which must fit the network.
    at_level: returns the agent of a level, if the game has a player of its own for levels.
    report: gets the values from which each move was chosen. Minimax then searches every move to its exact
        value, which takes longer; the agent plays the same.
    """

    evaluator: Evaluator = field(default_factory=UniformEvaluator)
    values: Evaluator = field(default_factory=UniformEvaluator)
    heuristic: depth_limited.Heuristic = draw_everywhere
    puct: PuctConfig = field(default_factory=PuctConfig)
    gumbel: GumbelConfig = field(default_factory=GumbelConfig)
    at_level: Callable[[Level], Agent] | None = None
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class AgentKind:
    """How an algorithm becomes an agent.

    make: returns the agent with a budget. budget: the default; 0 for an algorithm without one; a float takes
        numbers from 0 to 1. counts: what the budget counts, for users.
    has_values: does it report the values of moves?
    """

    make: Callable[[Any, AgentSetup, Random], Agent]
    budget: int | float = 0
    counts: str = ""
    has_values: bool = True


def make_agent(name: str, setup: AgentSetup | None = None, rng: Random | None = None) -> Agent:
    """Returns the agent of this name, such as "uct" or "uct:400".

    Raises AgentError if the name is not valid.

    >>> from goryu.games.tictactoe import TicTacToe
    >>> make_agent("alpha-beta")(TicTacToe([0, 3, 1, 4]))
    2
    """
    kind, budget = parse_name(name)
    return kind.make(budget, setup or AgentSetup(), rng or Random())


def parse_name(name: str) -> tuple[AgentKind, float]:
    """Returns the kind of an agent and its budget; raises AgentError if the name is not valid."""
    word, colon, number = name.partition(":")
    if word not in AGENTS:
        raise AgentError(f"agent {name!r}: expected one of {', '.join(AGENTS)}")
    kind = AGENTS[word]
    if not colon:
        return kind, kind.budget
    if not kind.budget:
        raise AgentError(f"agent {name!r}: expected no number after {word!r}")
    if isinstance(kind.budget, float):
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not 0.0 <= share <= 1.0:
            raise AgentError(f"agent {name!r}: expected a number from 0 to 1, as in {word}:{kind.budget:g}")
        return kind, share
    if not number.isdecimal() or len(number) > MOST_DIGITS or int(number) == 0:
        expected = f"a positive number of at most {MOST_DIGITS} digits, as in {word}:{kind.budget},"
        raise AgentError(f"agent {name!r}: expected {expected} after {word!r}")
    return kind, int(number)


def with_epsilon(agent: Agent, epsilon: float, rng: Random) -> Agent:
    """Returns an agent that plays a random move with probability `epsilon`, and else the move of `agent`."""
    return lambda state: depth_limited.epsilon_greedy(state, agent, epsilon, rng)


def _random(_budget: int, _setup: AgentSetup, rng: Random) -> Agent:
    return lambda state: random_move(state, rng)


def _reporting(report: Report, value: depth_limited.Heuristic) -> Agent:
    """Returns an agent that reports the value of every move and plays the first of the best.

    value: the value of the position after a move, for its side to move.
    """

    def choose(state: State) -> Move:
        values = {}
        for move in state.legal_moves():
            state.push(move)
            values[move] = -value(state)
            state.pop()
        report(values)
        return max(values, key=lambda move: values[move])

    return choose


def _minimax(_budget: int, setup: AgentSetup, _rng: Random) -> Agent:
    return _reporting(setup.report, minimax.negamax) if setup.report else minimax.best_move


def _alpha_beta(_budget: int, setup: AgentSetup, _rng: Random) -> Agent:
    return _reporting(setup.report, alpha_beta.alpha_beta) if setup.report else alpha_beta.best_move


def _depth_limited(depth: int, setup: AgentSetup, _rng: Random) -> Agent:
    if setup.report:
        return _reporting(
            setup.report, lambda state: depth_limited.search(state, depth - 1, setup.heuristic)[0]
        )
    return lambda state: depth_limited.best_move(state, depth, setup.heuristic)


def _greedy(epsilon: float, setup: AgentSetup, rng: Random) -> Agent:
    return with_epsilon(_depth_limited(2, setup, rng), epsilon, rng)


def _one_bound(_budget: int, setup: AgentSetup, _rng: Random) -> Agent:
    return _reporting(setup.report, one_bound.one_bound) if setup.report else one_bound.best_move


def _flat_monte_carlo(playouts: int, setup: AgentSetup, rng: Random, play: Playout | None = None) -> Agent:
    def choose(state: State) -> Move:
        values = flat_monte_carlo.averages(state, playouts, rng, play)
        if setup.report:
            setup.report(values)
        return max(values, key=lambda move: values[move])

    return choose


def _heavy_flat_monte_carlo(playouts: int, setup: AgentSetup, rng: Random) -> Agent:
    return _flat_monte_carlo(playouts, setup, rng, heavy_playout)


def _uct(
    iterations: int, setup: AgentSetup, rng: Random, expand_at: int = 1, play: Playout | None = None
) -> Agent:
    def choose(state: State) -> Move:
        children = uct.search(state, iterations, rng, expand_at=expand_at, play=play).children
        if setup.report:
            tried = {move: child for move, child in children.items() if child.visits}
            setup.report({move: child.value_sum / child.visits for move, child in tried.items()})
        return max(children, key=lambda move: children[move].visits)

    return choose


def _uct_without_expansion(iterations: int, setup: AgentSetup, rng: Random) -> Agent:
    return _uct(iterations, setup, rng, expand_at=iterations + 1)


def _heavy_uct(iterations: int, setup: AgentSetup, rng: Random) -> Agent:
    return _uct(iterations, setup, rng, play=heavy_playout)


def _puct_tree(playouts: int, setup: AgentSetup, _rng: Random) -> Agent:
    def choose(state: State) -> Move:
        root = puct_tree.search(state, setup.evaluator, playouts)
        if setup.report:
            tried = [i for i, visits in enumerate(root.visits) if visits]
            setup.report({root.moves[i]: root.value_sums[i] / root.visits[i] for i in tried})
        return root.moves[root.visits.index(max(root.visits))]

    return choose


def _puct(playouts: int, setup: AgentSetup, _rng: Random) -> Agent:
    def choose(state: State) -> Move:
        # A new search for every move, so that the move depends on the position alone.
        search = Puct(setup.evaluator, setup.puct)
        result = search.search(state, lambda _stats: False, max_playouts=playouts)
        assert result.move is not None, "there is no legal move"
        if setup.report:
            setup.report({move.move: move.value for move in result.moves if move.visits})
        return result.move

    return choose


def _gumbel(playouts: int, setup: AgentSetup, _rng: Random) -> Agent:
    search = Gumbel(setup.evaluator, setup.gumbel)

    def choose(state: State) -> Move:
        result = search.search(state, playouts)
        if setup.report:
            found = zip(result.moves, result.visits, result.values, strict=True)
            setup.report({move: value for move, visits, value in found if visits})
        return result.move

    return choose


def _level(number: int, setup: AgentSetup, rng: Random) -> Agent:
    if number > len(LEVELS):
        raise AgentError(f"agent 'level:{number}': expected a level from 1 to {len(LEVELS)}")
    level = LEVELS[number - 1]
    return setup.at_level(level) if setup.at_level else level_of_game(level, setup.evaluator, setup.puct, rng)


def _value(depth: int, setup: AgentSetup, _rng: Random) -> Agent:
    def value(leaf: State) -> float:
        return setup.values.evaluate([leaf])[0].value

    if setup.report:
        return _reporting(
            setup.report, lambda state: depth_limited.search(state, depth - 1, value, prunes=False)[0]
        )

    def choose(state: State) -> Move:
        leaves = depth_limited.leaf_states(state, depth)
        evaluations: Sequence[Evaluation] = setup.values.evaluate(leaves) if leaves else ()
        return depth_limited.move_from_leaves(state, depth, (e.value for e in evaluations))[0]

    return choose


AGENTS = {
    "random": AgentKind(_random, has_values=False),
    "minimax": AgentKind(_minimax),
    "one-bound": AgentKind(_one_bound),
    "alpha-beta": AgentKind(_alpha_beta),
    "depth-limited": AgentKind(_depth_limited, 2, "plies"),
    "greedy": AgentKind(_greedy, 0.1, "share of random moves, from 0 to 1"),
    "flat-mc": AgentKind(_flat_monte_carlo, 10, "random games after each move"),
    "flat-mc-heavy": AgentKind(_heavy_flat_monte_carlo, 10, "random games after each move"),
    "uct": AgentKind(_uct, 100, "random games"),
    "uct-heavy": AgentKind(_heavy_uct, 100, "random games"),
    "uct-flat": AgentKind(_uct_without_expansion, 100, "random games"),
    "puct-tree": AgentKind(_puct_tree, 100, "playouts"),
    "puct": AgentKind(_puct, 100, "playouts"),
    "gumbel": AgentKind(_gumbel, 16, "playouts"),
    "level": AgentKind(_level, 3, "from 1, for beginners, to 10, full strength", has_values=False),
    "value": AgentKind(_value, 2, "plies"),
}
"""The algorithms of the catalogue that play every game, by name."""
