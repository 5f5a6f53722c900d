"""The exercises of the reversi tutorial: a mixture of opponents, and corners.

A disc on a corner can never be flipped. The learner does not know this. Its target is the final lead in
discs, discounted by the turns to come, so it must discover that corners lead there, from opponents who
exploit the corners that it gives away. The exercises vary the opponents and the target, and measure:

- the points against each kind of opponent,
- the value of a disc on a corner, next to a corner and elsewhere (`disc_value`),
- how often the learner takes a corner that it could take (`corner_taking`).

Weakness: each variant is trained once. The points vary between trainings by about as much as between most
variants; only the bonus makes a clear difference. The numbers are in `models/reversi-value.md`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from random import Random
from typing import cast

from goryu.games.state import Move, State
from goryu.implementation import Reversi
from goryu.learning.tutorials.experiments import points
from goryu.learning.tutorials.report import Measurement
from goryu.learning.tutorials.value_config import ValueLearnerConfig
from goryu.learning.tutorials.value_learner import (
    CORNERS,
    Choose,
    ValueLearner,
    corners_of,
)
from goryu.players.agents.agents import Agent, AgentSetup, make_agent, with_epsilon
from goryu.players.agents.arena import mean_and_error, paired_match
from goryu.players.agents.presets import disc_lead
from goryu.search.random_move import random_move

NEXT_TO_CORNERS = (1, 8, 9, 6, 14, 15, 48, 49, 57, 54, 55, 62)
"""Squares next to a corner: a disc here often gives the corner away."""

CORNER_DISCS = 8.0
"""Extra discs that the corner player, and the learner with a bonus, count for a corner."""

ValueFunction = Callable[[Sequence[tuple[int, int]]], list[float]]
"""Bitboards (own, opponent) -> values in [-1, +1] for the side to move."""


def corner_lead(state: State) -> float:
    """Returns the lead in discs for the side to move, with `CORNER_DISCS` extra per corner, in [-1, +1]."""
    game = cast(Reversi, state)
    corners = sum((game.own >> c & 1) - (game.opponent >> c & 1) for c in corners_of(game.size))
    return (game.disc_difference() + CORNER_DISCS * corners) / (game.size * game.size + 4.0 * CORNER_DISCS)


def corner_opponent(rng: Random) -> Agent:
    """Returns the tutorial's opponent with a preference for corners."""
    return with_epsilon(make_agent("depth-limited:2", AgentSetup(heuristic=corner_lead)), 0.1, rng)


def varied_opponent(rng: Random) -> Agent:
    """Returns the greedy player with a share of random moves that varies from move to move: 0 to 0.6."""
    greedy = make_agent("depth-limited:2", AgentSetup(heuristic=disc_lead))
    return lambda state: with_epsilon(greedy, rng.uniform(0.0, 0.6), rng)(state)


OPPONENTS: dict[str, Callable[[Random], Agent]] = {"varied": varied_opponent, "corners": corner_opponent}
"""What the lessons have besides the algorithms of `AGENTS`."""


def _agent(kind: str, rng: Random) -> Agent:
    if kind in OPPONENTS:
        return OPPONENTS[kind](rng)
    return make_agent(kind, AgentSetup(heuristic=disc_lead), rng)


@dataclass(frozen=True, slots=True)
class Variant:
    """A learner of the exercises: its opponents, in turn, and what a corner adds to its target."""

    name: str
    opponents: tuple[str, ...]
    corner_bonus: float = 0.0

    def config(self, games: int) -> ValueLearnerConfig:
        # The share of random moves falls as in the full run, whatever the number of games.
        decay_every = max(1, ValueLearnerConfig().epsilon_every * games // ValueLearnerConfig().games)
        return replace(
            ValueLearnerConfig(), games=games, epsilon_every=decay_every, corner_bonus=self.corner_bonus
        )

    def new_opponents(self, rng: Random) -> list[Agent]:
        # One agent for each kind, so that the matches during the training meet each kind once.
        agents = {kind: _agent(kind, rng) for kind in dict.fromkeys(self.opponents)}
        return [agents[kind] for kind in self.opponents]


VARIANTS = (
    Variant("one opponent", ("greedy",)),
    Variant("varied opponent", ("varied",)),
    Variant("mixture", ("greedy", "greedy", "greedy", "random")),
    Variant("mixture with corners", ("greedy", "greedy", "corners", "random")),
    Variant("corner bonus", ("greedy", "greedy", "greedy", "random"), corner_bonus=CORNER_DISCS),
)


def corner_rules_of_thumb(games: int, rng: Random) -> Iterator[Measurement]:
    """Measures how much a preference for corners helps a player that searches two plies."""
    for name in ("greedy", "random"):
        opponent, player = _agent(name, rng), corner_opponent(rng)
        yield points(f"corner player - {name}", paired_match(player, opponent, Reversi, games))
    for name in ("greedy", "corners", "random"):
        agent = _agent(name, rng)

        def choose(states: Sequence[Reversi], agent: Agent = agent) -> list[Move]:
            return [agent(state) for state in states]

        yield corner_taking(f"{name} takes corners", choose, rng)


def variant_results(
    variant: Variant, learner: ValueLearner, games: int, rng: Random
) -> Iterator[Measurement]:
    """Measures a trained learner: half of the games on either side, then its values of corners."""
    for kind in ("greedy", "corners", "random"):
        agent, half = _agent(kind, rng), games // 2
        score = learner.match(agent, games - half) + learner.match(agent, half, side=1)
        yield points(f"{variant.name} - {kind}", score)
    yield corner_taking(f"{variant.name} takes corners", learner.choose, rng)
    others = tuple(set(range(64)) - set(CORNERS) - set(NEXT_TO_CORNERS))
    for where, squares in (("on a corner", CORNERS), ("next to one", NEXT_TO_CORNERS), ("elsewhere", others)):
        yield disc_value(f"{variant.name}: a disc {where}", learner.values, squares, rng)


def corner_taking(name: str, choose: Choose, rng: Random, count: int = 400) -> Measurement:
    """Measures the share of corners taken, in positions of random games with a corner and another move."""
    taken = 0
    for _ in range(count):
        state = random_position(rng)
        while not 0 < sum(move in CORNERS for move in state.legal_moves()) < len(state.legal_moves()):
            state = random_position(rng)
        taken += choose([state])[0] in CORNERS
    share = taken / count
    return Measurement("corners", name, share, sqrt(share * (1.0 - share) / count), None, f"of {count}")


def disc_value(
    name: str, values_of: ValueFunction, squares: Sequence[int], rng: Random, count: int = 400
) -> Measurement:
    """Measures how many discs of final lead `values_of` gives for the ownership of a disc on these squares.

    Each position is evaluated with the disc as each side's; for a function that counts discs the result is 1.
    """
    as_own: list[tuple[int, int]] = []
    as_opponents: list[tuple[int, int]] = []
    while len(as_own) < count:
        state = random_position(rng)
        occupied = [square for square in squares if (state.own | state.opponent) >> square & 1]
        if occupied:
            bit = 1 << rng.choice(occupied)
            as_own.append((state.own | bit, state.opponent & ~bit))
            as_opponents.append((state.own & ~bit, state.opponent | bit))
    values = zip(values_of(as_own), values_of(as_opponents), strict=True)
    differences = [64.0 * (own - opponents) / 2.0 for own, opponents in values]
    mean, error = mean_and_error(differences)
    return Measurement("corners", name, mean, error, None, f"discs, {count} positions")


def random_position(rng: Random) -> Reversi:
    """Returns a position of a random game that still goes on after 24 to 50 moves."""
    while True:
        state, plies = Reversi(), rng.randint(24, 50)
        while state.outcome() is None and state.ply < plies:
            state.push(random_move(state, rng))
        if state.outcome() is None:
            return state
