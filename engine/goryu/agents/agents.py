"""Every algorithm behind one interface: a function from a position to a move.

An agent is named by a short text, its algorithm and perhaps one number, the budget:
`random`, `minimax`, `alpha-beta`, `depth-limited:3` (plies), `flat-mc:10` (games for each move),
`uct:100` (iterations; `uct-flat:100` never grows its tree), `puct:400` and `gumbel:16` (playouts),
`value:2` (plies over a value network).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from goryu.errors import GoryuError
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.state import Move, State
from goryu.implementation import Puct
from goryu.search import alpha_beta, depth_limited, flat_monte_carlo, minimax, uct
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.gumbel import Gumbel, GumbelConfig
from goryu.search.puct import PuctConfig
from goryu.search.random_move import random_move

__all__ = ["AGENTS", "Agent", "AgentError", "AgentSetup", "Algorithm", "make_agent", "with_epsilon"]

MOST_DIGITS = 9
"""Of a budget: more than anybody waits for, and less than a search can count."""

Agent = Callable[[State], Move]
"""Chooses a move in a position that is not over, and leaves the position as it is."""


class AgentError(GoryuError, ValueError):
    """The text does not name an agent."""


def no_opinion(_state: State) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What may be told to an agent about a game beyond its rules.

    evaluator: policy and value of positions, for `puct` and `gumbel`.
    values: an evaluator whose values alone count, for `value`.
    heuristic: a guess at the result for the side to move, for `depth-limited`.
    puct, gumbel: the settings of these searches, which depend on how the network was taught.
    """

    evaluator: Evaluator = field(default_factory=UniformEvaluator)
    values: Evaluator = field(default_factory=UniformEvaluator)
    heuristic: depth_limited.Heuristic = no_opinion
    puct: PuctConfig = field(default_factory=PuctConfig)
    gumbel: GumbelConfig = field(default_factory=GumbelConfig)


def make_agent(name: str, setup: AgentSetup | None = None, rng: Random | None = None) -> Agent:
    """Returns the agent that `name` describes, such as "uct" or "uct:400".

    Raises AgentError for a name that describes none.

    >>> from goryu.games.tictactoe import TicTacToe
    >>> make_agent("alpha-beta")(TicTacToe([0, 3, 1, 4]))
    2
    """
    algorithm, colon, number = name.partition(":")
    if algorithm not in AGENTS:
        raise AgentError(f"agent {name!r}: expected one of {', '.join(AGENTS)}")
    found = AGENTS[algorithm]
    is_budget = number.isdecimal() and len(number) <= MOST_DIGITS and int(number) > 0
    if colon and not (found.budget and is_budget):
        example = f"a positive number of at most {MOST_DIGITS} digits, as in {algorithm}:{found.budget},"
        expected = example if found.budget else "no number"
        raise AgentError(f"agent {name!r}: expected {expected} after {algorithm!r}")
    return found.new(int(number) if colon else found.budget, setup or AgentSetup(), rng or Random())


def with_epsilon(agent: Agent, epsilon: float, rng: Random) -> Agent:
    """Returns the agent that plays a random move with probability `epsilon`, else as `agent` does."""
    return lambda state: depth_limited.epsilon_greedy(state, agent, epsilon, rng)


def _random(_budget: int, _setup: AgentSetup, rng: Random) -> Agent:
    return lambda state: random_move(state, rng)


def _minimax(_budget: int, _setup: AgentSetup, _rng: Random) -> Agent:
    return minimax.best_move


def _alpha_beta(_budget: int, _setup: AgentSetup, _rng: Random) -> Agent:
    return alpha_beta.best_move


def _depth_limited(depth: int, setup: AgentSetup, _rng: Random) -> Agent:
    return lambda state: depth_limited.best_move(state, depth, setup.heuristic)


def _flat_monte_carlo(playouts: int, _setup: AgentSetup, rng: Random) -> Agent:
    return lambda state: flat_monte_carlo.best_move(state, playouts, rng)


def _uct(iterations: int, _setup: AgentSetup, rng: Random) -> Agent:
    return lambda state: uct.best_move(state, iterations, rng)


def _uct_without_expansion(iterations: int, _setup: AgentSetup, rng: Random) -> Agent:
    return lambda state: uct.best_move(state, iterations, rng, expand_at=None)


def _puct(playouts: int, setup: AgentSetup, _rng: Random) -> Agent:
    def choose(state: State) -> Move:
        # A fresh search for every move, so that the choice depends on nothing but the position.
        search = Puct(setup.evaluator, setup.puct)
        result = search.search(state, lambda _stats: False, max_playouts=playouts)
        assert result.move is not None, "there is no legal move"
        return result.move

    return choose


def _gumbel(playouts: int, setup: AgentSetup, _rng: Random) -> Agent:
    search = Gumbel(setup.evaluator, setup.gumbel)
    return lambda state: search.search(state, playouts).move


def _value(depth: int, setup: AgentSetup, _rng: Random) -> Agent:
    def choose(state: State) -> Move:
        leaves = depth_limited.leaf_states(state, depth)
        evaluations: Sequence[Evaluation] = setup.values.evaluate(leaves) if leaves else ()
        return depth_limited.move_from_leaves(state, depth, (e.value for e in evaluations))[0]

    return choose


@dataclass(frozen=True, slots=True)
class Algorithm:
    """new: makes the agent from a budget. budget: what it gets if none is given (0: it takes none).

    about: one line for people. needs_the_end: does it search every game to its end, whatever that takes?
    """

    new: Callable[[int, AgentSetup, Random], Agent]
    budget: int
    about: str
    needs_the_end: bool = False


AGENTS = {
    "random": Algorithm(_random, 0, "any legal move"),
    "minimax": Algorithm(_minimax, 0, "perfect play, the whole game searched", True),
    "alpha-beta": Algorithm(_alpha_beta, 0, "the same, leaving out what cannot matter", True),
    "depth-limited": Algorithm(_depth_limited, 2, "so many plies, then a rule of thumb"),
    "flat-mc": Algorithm(_flat_monte_carlo, 10, "so many random games after each move"),
    "uct": Algorithm(_uct, 100, "so many random games, growing a tree"),
    "uct-flat": Algorithm(_uct_without_expansion, 100, "the same without a tree"),
    "puct": Algorithm(_puct, 100, "policy and value network, so many playouts"),
    "gumbel": Algorithm(_gumbel, 16, "the same for few playouts"),
    "value": Algorithm(_value, 2, "so many plies, then the value network"),
}
