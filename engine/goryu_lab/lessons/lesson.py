"""The lesson of the reversi tutorial, with numbers that the reader chooses.

The learner is `value_learner.py`. A lesson plays its games, writes every one of them to `games.jsonl`, and
every few games a checkpoint: the network as ONNX, a game that it plays without random moves
(`checkpoint-games.jsonl`), and the state from which an interrupted lesson resumes.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, cast

from goryu.base.errors import InputError
from goryu.evaluators.board_network import BoardGame
from goryu.games.state import State
from goryu.implementation import Reversi
from goryu.players.agents.agents import AGENTS, Agent, AgentSetup, make_agent, parse_name, with_epsilon
from goryu.players.agents.arena import Score
from goryu.players.agents.catalogue import ALGORITHMS
from goryu.players.agents.presets import disc_lead
from goryu_lab.lessons import published_lesson
from goryu_lab.lessons.lesson_games import (
    CHECKPOINT_GAMES,
    GAMES,
    RUNNING,
    LessonGame,
    lesson_game,
    read_games,
    running_win_rates,
    write_games,
)
from goryu_lab.lessons.networks import export
from goryu_lab.lessons.run import ResumableRun, TrainingClock
from goryu_lab.lessons.value_config import ValueLearnerConfig
from goryu_lab.lessons.value_learner import PlayedGame, ValueLearner, corners_of

STAGE = "lesson"
MOVES = 65
"""The move numbers of reversi: 64 squares and a pass."""

CORNER_DISCS = 8.0
"""Extra discs that the corner player counts for a corner."""


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


def opponent(name: str, rng: Random, *, as_published: bool = False) -> Agent:
    """Returns an opponent by its name: varied, corners, or an algorithm such as greedy:0.3 or uct:50.

    as_published: greedy counts discs at the end of a game, too, instead of preferring a win.

    Raises InputError if there is none of this name.
    """
    if name in OPPONENTS:
        return OPPONENTS[name](rng)
    word = name.partition(":")[0]
    if word not in AGENTS or ALGORITHMS[word].uses == "network":
        known = [*OPPONENTS, *(known for known in AGENTS if ALGORITHMS[known].uses != "network")]
        raise InputError(f"opponent {name!r}: expected one of {', '.join(known)}")
    if as_published and word == "greedy":
        return published_lesson.greedy(rng, float(parse_name(name)[1]))
    return make_agent(name, AgentSetup(heuristic=disc_lead), rng)


class Lesson:
    """A lesson in the folder of a run; it goes on from its last checkpoint."""

    def __init__(self, run: ResumableRun, config: ValueLearnerConfig, opponents: Sequence[str]) -> None:
        """Raises InputError for an opponent that does not exist, ReportError for a damaged state."""
        self.config = config
        self.opponents = list(opponents)
        self._rng = Random(run.seed)
        agents = {name: self.opponent(name, self._rng) for name in dict.fromkeys(opponents)}
        self.learner = ValueLearner(config, [agents[name] for name in opponents], run.seed)
        self.games: list[LessonGame] = []
        self.checkpoint_games: list[LessonGame] = []
        self._run = run
        saved = run.load(STAGE, self._restore)
        self._clock = TrainingClock(saved and saved["clock"])

    def run(self, every: int, checkpoint: Callable[[Sequence[LessonGame], float], None]) -> None:
        """Plays the remaining games.

        every: games between two checkpoints. checkpoint: gets the games since the last one and the mean loss.
        """
        while self.learner.played < self.config.games:
            before, losses = self.learner.played, list[float]()
            stop = min(before + every, self.config.games)
            while self.learner.played < stop:
                first = self.learner.played + 1
                losses.append(self.learner.step())
                self.games += [
                    self._game(number, game) for number, game in enumerate(self.learner.finished, first)
                ]
            self.checkpoint_games.append(self._game(self.learner.played, self.learner.game(0)))
            self._save()
            checkpoint(self.games[before:], sum(losses) / len(losses))

    def opponent(self, name: str, rng: Random) -> Agent:
        """Returns an opponent that fits the config."""
        return opponent(name, rng, as_published=self.config.as_published)

    def match(self, name: str, games: int, side: int, rng: Random) -> Score:
        """Returns the score of the learner without random moves against an opponent."""
        return self.learner.match(self.opponent(name, rng), games, side)

    def _game(self, number: int, played: PlayedGame) -> LessonGame:
        opponent, size = self.opponents[played.opponent], self.config.size
        return lesson_game(played.moves, number, size, opponent, played.side, played.epsilon)

    def _save(self) -> None:
        """Writes a checkpoint. The state comes last: after a kill the lesson repeats the games since it."""
        folder = self._run.folder
        name = "reversi" if self.config.size == 8 else f"reversi{self.config.size}"
        game = BoardGame(name, self.config.size, MOVES, Reversi)
        export(self.learner.net, game, folder / f"network-{self.learner.played:05}.onnx")
        write_games(folder / GAMES, self.games)
        write_games(folder / CHECKPOINT_GAMES, self.checkpoint_games)
        state = {"learner": self.learner.state_dict(), "opponents": self._rng.getstate()}
        points = running_win_rates(self.games)[-1]
        self._run.save(STAGE, state, self._clock, (self.learner.played, points, f"the last {RUNNING} games"))

    def _restore(self, saved: dict[str, Any]) -> None:
        self.learner.load_state_dict(saved["learner"])
        self._rng.setstate(saved["opponents"])
        self.games = read_games(self._run.folder / GAMES)[: self.learner.played]
        tests = read_games(self._run.folder / CHECKPOINT_GAMES)
        self.checkpoint_games = [game for game in tests if game.number <= self.learner.played]
