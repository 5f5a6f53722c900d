"""The measurements of players in the AlphaZero tutorials, which `goryu learn` prints and writes.

The results of matches are points a game; a draw is half a point.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import TYPE_CHECKING

from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Reversi
from goryu.players.agents.agents import Agent, AgentSetup, make_agent, with_epsilon
from goryu.players.agents.arena import Score, match, mean_and_error, paired_match
from goryu.players.agents.presets import disc_lead
from goryu.search import uct
from goryu.search.random_move import random_move
from goryu_lab.lessons.report import Measurement

if TYPE_CHECKING:
    from goryu_lab.lessons.value_learner import ValueLearner  # Needs PyTorch.

TUTORIAL_EXPANSION = 10
"""Visits at which the tutorial's UCT was meant to expand a node."""

CORRECT_REPLIES: dict[tuple[int, ...], frozenset[int]] = {
    (0,): frozenset({4}),
    (2,): frozenset({4}),
    (6,): frozenset({4}),
    (8,): frozenset({4}),
    (4,): frozenset({0, 2, 6, 8}),
    (1,): frozenset({0, 2, 4, 7}),
    (3,): frozenset({0, 4, 5, 6}),
    (5,): frozenset({2, 3, 4, 8}),
    (7,): frozenset({1, 4, 6, 8}),
    (0, 4, 8): frozenset({1, 3, 5, 7}),
    (2, 4, 6): frozenset({1, 3, 5, 7}),
}
"""Moves played -> correct replies, which keep the draw; squares 0 to 8, row by row.

OJIMA Ryoji's tutorial of 2018 (docs/books.md) tests a player on these eleven positions: the replies to
every first move, and two diagonal traps, in which a corner loses.
"""


def correctness(agent: Agent) -> int:
    """Returns how many of `CORRECT_REPLIES` the agent finds."""
    return sum(agent(TicTacToe(moves)) in replies for moves, replies in CORRECT_REPLIES.items())


def mean_correctness(new_agent: Callable[[], Agent], runs: int) -> tuple[float, float]:
    """Returns the mean over several runs and its standard error, for agents that use random numbers."""
    return mean_and_error([correctness(new_agent()) for _ in range(runs)])


def points(name: str, score: Score, theirs: float | None = None) -> Measurement:
    """Returns a match as a measurement."""
    return Measurement("points", name, score.points, score.error, theirs, score.counts)


def correct(name: str, new_agent: Callable[[], Agent], runs: int, theirs: float | None = None) -> Measurement:
    """Returns the mean number of correct replies, out of 11, over several runs."""
    mean, error = mean_correctness(new_agent, runs)
    return Measurement("correctness", name, mean, error, theirs, f"of 11, {runs} runs")


def remembering(agent: Agent) -> Agent:
    """Returns an agent without random numbers that searches no position twice."""
    known: dict[int, Move] = {}

    def choose(state: State) -> Move:
        if state.key not in known:
            known[state.key] = agent(state)
        return known[state.key]

    return choose


def tictactoe_basics(games: int, rng: Random) -> Iterator[Measurement]:
    """Measures the players without a network."""
    perfect = remembering(make_agent("alpha-beta"))

    def new(name: str) -> Agent:
        return perfect if name == "alpha-beta" else make_agent(name, rng=rng)

    yield correct("alpha-beta", lambda: perfect, 1, 11)
    yield correct("minimax", lambda: new("minimax"), 1)
    yield correct("flat-mc:10", lambda: new("flat-mc:10"), 100)
    yield correct("uct:100 that never grows (as published)", lambda: new("uct-flat:100"), 200, 5.9)
    yield correct(
        "uct:100 expanding at 10 visits (as intended)",
        lambda: lambda state: uct.best_move(state, 100, rng, expand_at=TUTORIAL_EXPANSION),
        200,
    )
    yield correct("uct:100", lambda: new("uct:100"), 200)
    yield correct(
        "uct:100 exploring less (c = 1)", lambda: lambda state: uct.best_move(state, 100, rng, c=1.0), 200
    )
    yield correct("uct:1000", lambda: new("uct:1000"), 20)
    # The tutorial's numbers are those of the player who moves first.
    opponents = {
        "random": {"flat-mc:10": 0.985, "uct-flat:100": 1.0},
        "alpha-beta": {"flat-mc:10": 0.365, "uct-flat:100": 0.46},
    }
    for opponent, theirs in opponents.items():
        for name in ("flat-mc:10", "uct-flat:100", "uct:100"):
            for side, place in enumerate(("first", "second")):
                score = match(new(name), new(opponent), TicTacToe, games, side=side)
                claim = f"{name} moving {place} - {opponent}"
                yield points(claim, score, None if side else theirs.get(name))


def tictactoe_network(setup: AgentSetup, games: int, rng: Random) -> Iterator[Measurement]:
    """Measures the players with the trained network."""
    # The tutorial has one search, PUCT with 20 evaluations, and one opponent.
    theirs = {
        "puct:20": 10,
        "puct:20 moving first - uct-flat:100": 0.91,
        "puct:20 moving second - uct-flat:100": 0.425,
    }
    for name in ("puct:20", "gumbel:20"):
        agent = make_agent(name, setup, rng)
        yield correct(name, lambda agent=agent: agent, 1, theirs.get(name))  # type: ignore[misc]
        for opponent in ("uct-flat:100", "uct:100"):
            for side, place in enumerate(("first", "second")):
                score = match(agent, make_agent(opponent, rng=rng), TicTacToe, games, side=side)
                claim = f"{name} moving {place} - {opponent}"
                yield points(claim, score, theirs.get(claim))
        score = paired_match(agent, make_agent("alpha-beta"), TicTacToe, 2)
        yield points(f"{name} - alpha-beta", score)


def tutorial_search(agent: Agent, games: int, rng: Random) -> Iterator[Measurement]:
    """Measures the AlphaZero tutorial's own search, as the tutorial does."""
    name = "the tutorial's search"
    yield correct(name, lambda: agent, 1, 10)
    for side, (place, theirs) in enumerate((("first", 0.91), ("second", 0.425))):
        score = match(agent, make_agent("uct-flat:100", rng=rng), TicTacToe, games, side=side)
        yield points(f"{name} moving {place} - uct-flat:100", score, theirs)


def greedy_opponent(rng: Random) -> Agent:
    """Returns the opponent of the reversi tutorial: most discs after two plies, one move in ten at random."""
    return make_agent("greedy", AgentSetup(heuristic=disc_lead), rng)


def reversi_rules_of_thumb(games: int, rng: Random) -> Iterator[Measurement]:
    """Measures whether taking many discs beats random moves in reversi.

    These games are fast, so there are ten times as many as elsewhere.
    """
    random = make_agent("random", rng=rng)
    players = {
        f"most discs after {depth} plies": make_agent(
            f"depth-limited:{depth}", AgentSetup(heuristic=disc_lead)
        )
        for depth in (1, 2, 3)
    }
    players["the tutorial's opponent"] = greedy_opponent(rng)
    fewest = AgentSetup(heuristic=lambda state: -disc_lead(state))
    players["fewest discs after 2 plies"] = make_agent("depth-limited:2", fewest)
    for name, player in players.items():
        for side, place in enumerate(("first", "second")):
            score = match(player, random, Reversi, 10 * games, side=side)
            yield points(f"{name}, moving {place} - random", score)


def match_of_openings(
    agent: Agent, opponent: Agent, new_game: Callable[[], State], games: int, plies: int, rng: Random
) -> Score:
    """Returns the agent's score; each pair of games starts from one random opening, once from each side.

    Without the opening, two deterministic players would repeat one game.
    """
    total: Score | None = None
    for _ in range(games // 2):
        opening = new_game()
        for _ in range(plies):
            opening.push(random_move(opening, rng))

        def start(opening: State = opening) -> State:
            return opening.copy()

        pair = match(agent, opponent, start, 1) + match(agent, opponent, start, 1, side=1)
        total = pair if total is None else total + pair
    assert total is not None
    return total


def value_network(learner: "ValueLearner", name: str, games: int, rng: Random) -> Iterator[Measurement]:
    """Measures the value learner of the reversi tutorial; the detail has the discs."""
    random = make_agent("random", rng=rng)
    opponents = {"the tutorial's opponent": (greedy_opponent(rng), 0.81), "random": (random, 0.75)}
    for opponent, (agent, theirs) in opponents.items():
        for side, place in enumerate(("first", "second")):
            score = learner.match(agent, games, side)
            claim = f"{name}, moving {place} - {opponent}"
            yield points(claim, score, None if side else theirs)


def reversi_networks(agent: Agent, value_player: Agent, games: int, rng: Random) -> Iterator[Measurement]:
    """Measures AlphaZero's network against the player with the value network and the others."""
    score = match_of_openings(agent, value_player, Reversi, games, 6, rng)
    yield points("AlphaZero, puct:100 - value network (6 random plies, both sides)", score)
    from_start = match(agent, with_epsilon(value_player, 0.1, rng), Reversi, games // 2) + match(
        agent, with_epsilon(value_player, 0.1, rng), Reversi, games // 2, side=1
    )
    yield points("AlphaZero, puct:100 - value network with 1 random move in 10", from_start)
    opponents = {"the tutorial's opponent": greedy_opponent(rng), "random": make_agent("random", rng=rng)}
    for name, opponent in opponents.items():
        yield points(f"AlphaZero, puct:100 - {name}", paired_match(agent, opponent, Reversi, games))
