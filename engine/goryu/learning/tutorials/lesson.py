"""Runs the lesson of the reversi tutorial with numbers that the reader chooses.

The learner is `value_learner.py`. A lesson plays its games, writes every one of them to `games.jsonl`, and
every few games a checkpoint: the network as ONNX and the state from which an interrupted lesson resumes.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import torch

from goryu.base.errors import InputError
from goryu.evaluators.board_network import BoardGame
from goryu.implementation import Reversi
from goryu.learning.checkpoints import atomic_save
from goryu.learning.training.export import expecting
from goryu.learning.tutorials.exercises import OPPONENTS
from goryu.learning.tutorials.lesson_config import LessonConfig
from goryu.learning.tutorials.lesson_games import GAMES, LessonGame, read_games, write_games
from goryu.learning.tutorials.networks import export
from goryu.learning.tutorials.value_learner import PlayedGame, ValueLearner, ValueLearnerConfig
from goryu.players.agents.agents import AGENTS, Agent, AgentSetup, make_agent
from goryu.players.agents.arena import Score
from goryu.players.agents.presets import disc_lead

STATE = "lesson.pt"
MOVES = 65
"""The move numbers of reversi: 64 squares and a pass."""


def learner_config(config: LessonConfig) -> ValueLearnerConfig:
    """Returns the config of the learner; raises InputError for numbers with which nothing can be learnt."""
    config.check()
    return ValueLearnerConfig(
        games=config.games,
        games_together=config.games_together,
        depth=config.depth,
        discount=config.discount,
        epsilon=config.epsilon,
        epsilon_decay=config.epsilon_decay,
        epsilon_every=config.epsilon_every,
        learns_both_sides=config.both_sides,
        window=config.window,
        updates=config.updates,
        batch=config.batch,
        learning_rate=config.learning_rate,
        final_rate=1.0,
        uses_symmetries=config.symmetries,
        channels=config.filters,
        hidden=config.hidden,
        layers=config.layers,
        size=config.size,
    )


def opponent(name: str, rng: Random) -> Agent:
    """Returns an opponent by its name: greedy, varied, corners, random, or an algorithm such as uct:50.

    Raises InputError if there is none of this name.
    """
    if name in OPPONENTS:
        return OPPONENTS[name](rng)
    word = name.partition(":")[0]
    if word not in AGENTS or AGENTS[word].uses == "network":
        known = [*OPPONENTS, *(known for known in AGENTS if AGENTS[known].uses != "network")]
        raise InputError(f"opponent {name!r}: expected one of {', '.join(dict.fromkeys(known))}")
    return make_agent(name, AgentSetup(heuristic=disc_lead), rng)


class Lesson:
    """A lesson in a folder; it goes on from its last checkpoint."""

    def __init__(self, folder: Path, config: LessonConfig, opponents: Sequence[str]) -> None:
        """Raises InputError if the folder has a lesson with other numbers, or a damaged one."""
        self.folder = folder
        self.config = config
        self.opponents = list(opponents)
        self._rng = Random(config.seed)
        agents = {name: opponent(name, self._rng) for name in dict.fromkeys(opponents)}
        self.learner = ValueLearner(learner_config(config), [agents[name] for name in opponents], config.seed)
        self.agents = agents
        self.games: list[LessonGame] = []
        self._resume()

    def run(self, checkpoint: Callable[[Sequence[LessonGame], float], None]) -> None:
        """Plays the remaining games. checkpoint: gets the games since the last one and the mean loss."""
        while self.learner.played < self.config.games:
            before, losses = self.learner.played, list[float]()
            stop = min(before + self.config.checkpoint_every, self.config.games)
            while self.learner.played < stop:
                first = self.learner.played + 1
                losses.append(self.learner.step())
                self.games += [
                    self._game(number, game) for number, game in enumerate(self.learner.finished, first)
                ]
            self._save()
            checkpoint(self.games[before:], sum(losses) / len(losses))

    def match(self, name: str, games: int, side: int) -> Score:
        """Returns the score of the learner without random moves against one of the opponents."""
        return self.learner.match(self.agents[name], games, side)

    def _game(self, number: int, played: PlayedGame) -> LessonGame:
        state = Reversi(self.config.size)
        names = []
        for move in played.moves:
            names.append(state.move_name(move))
            state.push(move)
        discs = state.disc_difference() * (1 if state.turn == played.side else -1)
        return LessonGame(
            number,
            self.config.size,
            self.opponents[played.opponent],
            played.side,
            round(played.epsilon, 6),
            discs,
            tuple(names),
        )

    def _save(self) -> None:
        """Writes a checkpoint. The state comes last: after a kill the lesson repeats the games since it."""
        path = self.folder / f"network-{self.learner.played:05}.onnx"
        name = "reversi" if self.config.size == 8 else f"reversi{self.config.size}"
        export(self.learner.net, BoardGame(name, self.config.size, MOVES, Reversi), path)
        write_games(self.folder / GAMES, self.games)
        state = {"learner": self.learner.state_dict(), "opponents": self._rng.getstate()}
        atomic_save(self.folder / STATE, {**state, "options": self._options()})

    def _options(self) -> dict[str, Any]:
        return {**asdict(self.config), "opponents": self.opponents}

    def _resume(self) -> None:
        path = self.folder / STATE
        if not path.is_file():
            return
        with expecting(path, "the state of an earlier lesson"):
            saved = torch.load(path, weights_only=True)
            options = saved["options"]
        mine = self._options()
        if different := [name for name in mine if mine[name] != options.get(name)]:
            name = different[0]
            raise InputError(
                f"{self.folder} has a lesson with other numbers ({name}: {options.get(name)}, "
                f"received {mine[name]}); give the same, another --folder, or --fresh"
            )
        self.learner.load_state_dict(saved["learner"])
        self._rng.setstate(saved["opponents"])
        self.games = read_games(self.folder / GAMES)[: self.learner.played]
