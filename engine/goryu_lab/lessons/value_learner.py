"""The learner of the reversi tutorial: a value network that learns from the ends of its own games.

The learner searches two plies, and its network evaluates the leaves. After a game every position in which it
had to move gets a target: the final disc difference, multiplied by `discount` for each own turn that was to
come, because early positions predict the end poorly. There is no bootstrapping and there are no search
statistics (Monte Carlo targets: R. S. Sutton, A. G. Barto, "Reinforcement Learning", 2nd ed., 2018, chapter
5).

Weakness: the network learns how games go against these opponents. Against others its values are guesses, so a
mixture of opponents makes a better player.

Many games run in parallel, so that one network call evaluates all their leaves.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any, cast

import numpy as np
import torch
from torch.nn import functional as F

from goryu.evaluators.board_network import encode
from goryu.games.state import Move
from goryu.implementation import Reversi
from goryu.players.agents.agents import Agent
from goryu.players.agents.arena import Score
from goryu.players.agents.presets import disc_lead
from goryu.search.depth_limited import leaf_states, move_from_leaves
from goryu.search.random_move import random_move
from goryu_lab.lessons import published_lesson
from goryu_lab.lessons.networks import ValueNet, forward_values, symmetric
from goryu_lab.lessons.value_config import ValueLearnerConfig


def corners_of(size: int) -> tuple[int, int, int, int]:
    """Returns the corners of a board of `size` x `size`."""
    return 0, size - 1, size * (size - 1), size * size - 1


Choose = Callable[[Sequence[Reversi]], list[Move]]
"""Chooses a move for each of many positions."""

Example = tuple[int, int, float]
"""Bitboards of the side to move and the opponent, and the target in [-1, +1]."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game of the learner. side: 0 if it moved first. opponent: its number. epsilon: random moves in it."""

    moves: tuple[Move, ...]
    side: int
    opponent: int
    epsilon: float


class ValueLearner:
    """Plays, remembers the last games and trains its network on them.

    finished: the games of the last step.
    """

    def __init__(self, config: ValueLearnerConfig, opponents: Sequence[Agent], seed: int) -> None:
        """opponents: each game is played against one of them, in turn."""
        self.config = config
        self.opponents = opponents
        self.rng = Random(seed)
        torch.manual_seed(seed)
        new_net = published_lesson.PublishedValueNet if config.as_published else ValueNet
        self.net: torch.nn.Module = new_net(config.filters, config.hidden, config.size, config.layers)
        self.optimizer = torch.optim.Adam(self.net.parameters(), config.learning_rate)
        self.games: list[list[Example]] = []
        self.finished: list[PlayedGame] = []
        self.played = 0
        self._best_points = -1.0
        self._best_weights: dict[str, torch.Tensor] | None = None

    @property
    def epsilon(self) -> float:
        """The current share of random moves."""
        return self.config.epsilon * self.config.epsilon_decay ** (self.played // self.config.epsilon_every)

    def state_dict(self) -> dict[str, Any]:
        """Returns a copy of what an interrupted run needs, without the opponents' random numbers."""
        return {
            "net": deepcopy(self.net.state_dict()),
            "optimizer": deepcopy(self.optimizer.state_dict()),
            "games": self.games[:],
            "played": self.played,
            "rng": self.rng.getstate(),
            "best": (self._best_points, self._best_weights),
        }

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.net.load_state_dict(saved["net"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.games, self.played = saved["games"], saved["played"]
        self.rng.setstate(saved["rng"])
        self._best_points, self._best_weights = saved["best"]

    def step(self) -> float:
        """Plays `games_together` games, updates the network and returns the mean loss of the update."""
        count = min(self.config.games_together, self.config.games - self.played)
        states = [Reversi(self.config.size) for _ in range(count)]
        numbers = range(self.played, self.played + count)
        sides = [number % 2 if self.config.both_sides else 0 for number in numbers]
        opponents = [self.opponents[number % len(self.opponents)] for number in numbers]
        seen = play_games(states, sides, self._choose, opponents)
        for state, side, positions in zip(states, sides, seen, strict=True):
            self.games.append(self._examples(state, side, positions))
        self.finished = [
            PlayedGame(tuple(state.move_stack), side, number % len(self.opponents), self.epsilon)
            for state, side, number in zip(states, sides, numbers, strict=True)
        ]
        self.games = self.games[-self.config.window :]
        self.played += count
        return self._train()

    def choose(self, states: Sequence[Reversi]) -> list[Move]:
        """Returns the learner's best moves."""
        if self.config.as_published:
            return published_lesson.best_moves(states, self.values) if states else []
        return choose_moves(states, self.config.depth, self.net)

    def values(self, boards: Sequence[tuple[int, int]]) -> list[float]:
        """Returns the network's values of positions (own, opponent) for the side to move."""
        return forward_values(self.net, encode(boards, self.config.size))

    def game(self, opponent: int) -> PlayedGame:
        """Plays a game as the first player without random moves. opponent: its number."""
        state = Reversi(self.config.size)
        play_games([state], [0], self.choose, [self.opponents[opponent]])
        return PlayedGame(tuple(state.move_stack), 0, opponent, 0.0)

    def _choose(self, states: Sequence[Reversi]) -> list[Move]:
        is_random = [self.rng.random() < self.epsilon for _ in states]
        best = iter(self.choose([state for state, r in zip(states, is_random, strict=True) if not r]))
        return [random_move(s, self.rng) if r else next(best) for s, r in zip(states, is_random, strict=True)]

    def _examples(self, final: Reversi, side: int, positions: Sequence[tuple[int, int]]) -> list[Example]:
        config = self.config
        corners = sum((final.own >> c & 1) - (final.opponent >> c & 1) for c in corners_of(config.size))
        lead = disc_lead(final) + config.corner_bonus * corners / config.squares
        discs = max(-1.0, min(lead, 1.0)) * (1 if final.turn == side else -1)
        discs = discs or config.draw_target / config.squares
        targets = (discs * self.config.discount**k for k in range(len(positions)))
        return [(*position, target) for position, target in zip(reversed(positions), targets, strict=True)]

    def _train(self) -> float:
        self.net.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate * self._rate_left()
        examples = [example for game in self.games for example in game]
        planes = encode([(own, opponent) for own, opponent, _ in examples], self.config.size)
        targets = np.array([target for *_, target in examples], dtype=np.float32)
        total = 0.0
        for _ in range(self.config.updates):
            every = range(len(examples))
            chosen = self.rng.choices(every, k=self.config.batch) if self.config.batch else list(every)
            batch = planes[chosen]
            if self.config.symmetries:
                batch = symmetric(batch, self.rng.randrange(4), self.rng.random() < 0.5)
            values = self.net(torch.from_numpy(batch))
            loss = F.mse_loss(values, torch.from_numpy(targets[chosen]))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / self.config.updates

    def _rate_left(self) -> float:
        """Returns the share of the learning rate, which falls linearly: late changes mostly follow noise."""
        final = self.config.final_rate
        return final + (1.0 - final) * (1.0 - self.played / self.config.games)

    def compete(self, games: int) -> float:
        """Keeps the network if it is the best so far; returns its mean points against the opponents.

        Against an opponent who seldom varies, one line of play decides half of the games and can change with
        every update. So the last network may not be the best; `restore_best` restores the best one.
        """
        scores = [self.match(opponent, games).points for opponent in dict.fromkeys(self.opponents)]
        points = sum(scores) / len(scores)
        if points > self._best_points:
            self._best_points = points
            self._best_weights = deepcopy(self.net.state_dict())
        return points

    def restore_best(self) -> None:
        """Restores the best network that has competed, if there is one."""
        if self._best_weights is not None:
            self.net.load_state_dict(self._best_weights)

    def match(self, opponent: Agent, games: int, side: int = 0) -> Score:
        """Returns the score of the learner without random moves; the margin is in discs."""
        states = [Reversi(self.config.size) for _ in range(games)]
        play_games(states, [side] * games, self.choose, [opponent] * games)
        discs = [s.disc_difference() * (1 if s.turn == side else -1) for s in states]
        wins, losses = sum(d > 0 for d in discs), sum(d < 0 for d in discs)
        return Score(wins, games - wins - losses, losses, sum(discs) / games)


def choose_moves(states: Sequence[Reversi], depth: int, net: torch.nn.Module) -> list[Move]:
    """Returns the best move at `depth` plies in each position, evaluating all their leaves in one call."""
    leaves = cast(list[Reversi], [leaf for state in states for leaf in leaf_states(state, depth)])
    boards = [(leaf.own, leaf.opponent) for leaf in leaves]
    values = iter(forward_values(net, encode(boards, states[0].size)) if boards else ())
    return [move_from_leaves(state, depth, values)[0] for state in states]


def play_games(
    states: Sequence[Reversi], sides: Sequence[int], choose: Choose, opponents: Sequence[Agent]
) -> list[list[tuple[int, int]]]:
    """Plays every state to its end; in game i `choose` has the side `sides[i]` and `opponents[i]` the other.

    Returns for each game the bitboards of the positions in which `choose` had to move.
    """
    seen: list[list[tuple[int, int]]] = [[] for _ in states]
    open_games = list(range(len(states)))
    while open_games:
        own = [i for i in open_games if states[i].turn == sides[i]]
        moves = iter(choose([states[i] for i in own]) if own else ())
        for i in open_games:
            state = states[i]
            if state.turn == sides[i]:
                seen[i].append((state.own, state.opponent))
                state.push(next(moves))
            else:
                state.push(opponents[i](state))
        open_games = [i for i in open_games if states[i].outcome() is None]
    return seen
