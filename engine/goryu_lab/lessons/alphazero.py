"""AlphaZero: a network and a search that teach each other.

The search is stronger than the network that guides it. So the search plays against itself, the network learns
the search's visit counts (the improved policy of a Gumbel search) and the results of the games, the better
network guides the next search, and so on. A new network becomes champion when it beats the old one in a
match, as in AlphaGo Zero; AlphaZero plays no match.

Weakness: it needs very many games, because it starts from nothing: AlphaZero played 24 million in shogi.
Sources: D. Silver et al., "A general reinforcement learning algorithm that masters chess, shogi,
and Go through self-play", Science, 2018, and the pseudocode in its supplement (the numbers are in
`alphazero_config.py`); "Mastering the game of Go without human knowledge", Nature, 2017.

This module knows no game; a `Learner` does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from goryu.games.state import Move, State
from goryu.implementation import Puct
from goryu.players.agents.agents import Agent
from goryu.players.agents.arena import Score, paired_match, play_game, result
from goryu.search.boltzmann import boltzmann_choice
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.gumbel import Gumbel
from goryu.search.puct_tree import search as search_tree
from goryu_lab.lessons import published_search
from goryu_lab.lessons.alphazero_config import AlphaZeroConfig, puct_config

P = TypeVar("P")

Progress = Callable[[str, int, int], None]
"""Receives a task, how much of it is done, and how much there is in total."""

SELF_PLAY, TRAINING, MATCH = "self-play: games", "training: steps", "match: games"
"""The tasks of a cycle; the games of self-play are counted over all cycles."""


@dataclass(frozen=True, slots=True)
class Example(Generic[P]):
    """One position of self-play.

    position: the learner's encoding. policy: (move, probability) pairs that sum to 1.
    value: the result of the game for the side to move there.
    """

    position: P
    policy: tuple[tuple[Move, float], ...]
    value: float


class Learner(Protocol[P]):
    """A network that learns one game."""

    def new_game(self) -> State: ...

    def encode(self, state: State) -> P:
        """Returns what training needs of a position, and little more."""
        ...

    def evaluator(self) -> Evaluator:
        """Returns an evaluator with the current weights; later training does not change it."""
        ...

    def train(
        self,
        games: Sequence[Sequence[Example[P]]],
        config: AlphaZeroConfig,
        rng: Random,
        on_step: Callable[[int], None] = lambda step: None,
    ) -> tuple[float, float]:
        """Runs the gradient steps of one cycle; returns the mean losses of policy and value.

        on_step: called after each step with the number of steps so far.
        """
        ...

    def state_dict(self) -> dict[str, Any]:
        """Returns a copy of everything that training changes."""
        ...

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        ...


@dataclass(frozen=True, slots=True)
class Cycle:
    """The results of one cycle; `score` is the challenger's against the champion (None: no match).

    number: of the cycle, from 1. games: in all cycles so far. positions: in the window of the training.
    """

    number: int
    games: int
    positions: int
    policy_loss: float
    value_loss: float
    score: Score | None
    is_promoted: bool


class AlphaZero(Generic[P]):
    """The loop; `champion` is the evaluator that plays, at first the untrained network.

    last: the final state of the newest game of self-play.
    """

    def __init__(self, learner: Learner[P], config: AlphaZeroConfig, rng: Random) -> None:
        self.learner = learner
        self.config = config
        self.rng = rng
        self.champion = learner.evaluator()
        self.games: list[list[Example[P]]] = []
        self.cycles = 0  # Finished ones.
        self.played = 0  # Games of the current cycle.
        self.last: State | None = None
        self._champion_state = learner.state_dict()

    def run(self, progress: Progress = lambda task, done, total: None) -> Iterator[Cycle]:
        """Runs the remaining cycles one by one; an interrupted cycle continues after its last game."""
        config = self.config
        while self.cycles < config.cycles:
            while self.played < config.games_per_cycle:
                self.games.append(self.self_play())
                self.played += 1
                progress(SELF_PLAY, self.games_played, config.cycles * config.games_per_cycle)
            self._trim_window()
            positions = sum(map(len, self.games))
            losses = self._train(config.for_window(positions), progress)
            challenger = self.learner.evaluator()
            score = self.compare(challenger, progress) if config.evaluation_games else None
            is_promoted = score is None or score.points > config.promotion
            if is_promoted:
                self.champion = challenger
                self._champion_state = self.learner.state_dict()
            self.cycles, self.played = self.cycles + 1, 0
            yield Cycle(self.cycles, self.games_played, positions, *losses, score, is_promoted)

    def _train(self, config: AlphaZeroConfig, progress: Progress) -> tuple[float, float]:
        return self.learner.train(
            self.games, config, self.rng, lambda step: progress(TRAINING, step, config.steps_per_cycle)
        )

    @property
    def games_played(self) -> int:
        """The games of self-play in all cycles."""
        return self.cycles * self.config.games_per_cycle + self.played

    def state_dict(self) -> dict[str, Any]:
        """Returns what an interrupted run needs to resume: networks, games and the random number generator.

        Valid between two games and between two cycles.
        """
        return {
            "cycles": self.cycles,
            "played": self.played,
            "learner": self.learner.state_dict(),
            "champion": self._champion_state,
            "games": [[(e.position, e.policy, e.value) for e in game] for game in self.games],
            "rng": self.rng.getstate(),
        }

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self.cycles, self.played = saved["cycles"], saved["played"]
        self._champion_state = saved["champion"]
        self.learner.load_state_dict(saved["champion"])
        self.champion = self.learner.evaluator()
        self.learner.load_state_dict(saved["learner"])
        self.games = [[Example(*example) for example in game] for game in saved["games"]]
        self.rng.setstate(saved["rng"])

    def self_play(self) -> list[Example[P]]:
        """Plays one game of the champion against itself."""
        self.last = self.learner.new_game()
        return self_play(self.last, self.learner.encode, self.champion, self.config, self.rng)

    def compare(self, challenger: Evaluator, progress: Progress = lambda task, done, total: None) -> Score:
        """Returns the challenger's score against the champion."""
        new, old = (self.sampling_agent(evaluator) for evaluator in (challenger, self.champion))
        games, started = self.config.evaluation_games, count()

        def new_game() -> State:
            progress(MATCH, next(started), games)
            return self.learner.new_game()

        score = paired_match(new, old, new_game, games, max_plies=self.config.max_plies)
        progress(MATCH, games, games)
        return score

    def sampling_agent(self, evaluator: Evaluator) -> Agent:
        """Returns a player without noise that draws its first moves; otherwise all games would be equal."""
        return lambda state: choose_move(state, evaluator, self.config, self.rng, is_learning=False)[0]

    def _trim_window(self) -> None:
        """Drops the oldest games until the rest fits the window."""
        self.games = self.games[-self.config.window :]
        if limit := self.config.window_positions:
            held, kept = 0, 0
            for game in reversed(self.games):
                held += len(game)
                if held > limit:
                    break
                kept += 1
            self.games = self.games[-max(1, kept) :]


def self_play(
    state: State, encode: Callable[[State], P], evaluator: Evaluator, config: AlphaZeroConfig, rng: Random
) -> list[Example[P]]:
    """Plays a game of the evaluator against itself on `state`; returns its encoded positions."""
    seen: list[tuple[int, P, tuple[tuple[Move, float], ...]]] = []

    def choose(state: State) -> Move:
        move, policy = choose_move(state, evaluator, config, rng, is_learning=True)
        seen.append((state.turn, encode(state), policy))
        return move

    value = result(play_game(choose, choose, state, config.max_plies))
    return [Example(p, policy, value if turn == 0 else -value) for turn, p, policy in seen]


def choose_move(
    state: State, evaluator: Evaluator, config: AlphaZeroConfig, rng: Random, *, is_learning: bool
) -> tuple[Move, tuple[tuple[Move, float], ...]]:
    """Returns the move to play and the policy to learn, as (move, probability) pairs.

    is_learning: add the root noise of self-play.
    """
    if config.search == "published":
        return published_search.choose_move(state, evaluator, config, rng, is_learning=is_learning)
    if config.search == "tree":
        return _choose_from_tree(state, evaluator, config, rng)
    if config.search == "gumbel":
        draws = is_learning or state.ply < config.sampling_plies
        answer = Gumbel(evaluator, config.gumbel).search(state, config.playouts, rng if draws else None)
        return answer.move, tuple(zip(answer.moves, answer.policy, strict=True))
    if is_learning:
        evaluator = RootNoise(evaluator, state.key, config.noise_alpha, config.noise_fraction, rng)
    found = Puct(evaluator, puct_config(config)).search(state, lambda _: False, max_playouts=config.playouts)
    best = found.moves[0]
    if config.learns_proofs and best.mate is not None and best.mate > 0:
        return best.move, ((best.move, 1.0),)  # Play and learn a proven win.
    weights = [float(move.visits) for move in found.moves]
    if config.learns_proofs and best.is_certain:
        # The search stopped visiting such moves, so visits mean nothing: the priors decide between equals.
        is_equal = [move.is_certain and move.value == best.value for move in found.moves]
        weights = [move.prior * equal for move, equal in zip(found.moves, is_equal, strict=True)]
    total = sum(weights)
    if total == 0.0:
        weights[0] = total = 1.0
    drawn = boltzmann_choice(weights, config.temperature, rng) if state.ply < config.sampling_plies else 0
    policy = tuple((move.move, weight / total) for move, weight in zip(found.moves, weights, strict=True))
    return found.moves[drawn].move, policy


def _choose_from_tree(
    state: State, evaluator: Evaluator, config: AlphaZeroConfig, rng: Random
) -> tuple[Move, tuple[tuple[Move, float], ...]]:
    playouts, c = config.playouts - 1, 2.0 * config.c_init  # The values span [-1, +1].
    root = search_tree(state, evaluator, playouts, c, untried_is_zero=True)
    weights = [float(visits) for visits in root.visits]
    is_drawn = state.ply < config.sampling_plies
    i = boltzmann_choice(weights, config.temperature, rng) if is_drawn else weights.index(max(weights))
    return root.moves[i], tuple(zip(root.moves, [w / playouts for w in weights], strict=True))


class RootNoise:
    """Mixes Dirichlet noise into the policy of the root, so that self-play sometimes tries every move."""

    def __init__(
        self, evaluator: Evaluator, root_key: int, alpha: float, fraction: float, rng: Random
    ) -> None:
        self.evaluator = evaluator
        self.root_key = root_key
        self.alpha = alpha
        self.fraction = fraction
        self.rng = rng

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        evaluations = self.evaluator.evaluate(states)
        return [
            self._mix(evaluation) if state.key == self.root_key else evaluation
            for state, evaluation in zip(states, evaluations, strict=True)
        ]

    def _mix(self, evaluation: Evaluation) -> Evaluation:
        # A Dirichlet draw is a vector of Gamma draws divided by their sum.
        gammas = [self.rng.gammavariate(self.alpha, 1.0) + 1e-12 for _ in evaluation.policy]
        total = sum(gammas)
        mixed = [
            (1.0 - self.fraction) * prior + self.fraction * gamma / total
            for prior, gamma in zip(evaluation.policy, gammas, strict=True)
        ]
        return Evaluation(mixed, evaluation.value)
