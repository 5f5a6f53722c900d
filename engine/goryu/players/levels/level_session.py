"""One search of a level below full strength, and its choice among the moves."""

from dataclasses import replace

from goryu.implementation import Puct
from goryu.players.kept_graph import GraphSettings
from goryu.players.levels.level_moves import Evaluate, choose_level_move
from goryu.players.levels.levels import Level, at_level, limits_at_level
from goryu.players.puct_session import PuctSession
from goryu.players.search_session import Task

LEVEL_BATCH = LEVEL_THREADS = 1
"""Positions per call of the evaluator, and threads of the search."""


def task_at_level(task: Task, level: Level) -> Task:
    """Returns the task of a level's session: with the level's config and limits."""
    request = task.request
    config, limits = at_level(request.config, level), limits_at_level(request.limits, level)
    return replace(task, request=replace(request, config=config, limits=limits))


def settings_at_level(settings: GraphSettings) -> GraphSettings:
    """Returns the settings of the graph of a level: its search is the same on every machine."""
    config = replace(settings.config, batch_size=LEVEL_BATCH)
    return replace(settings, config=config, threads=LEVEL_THREADS)


class LevelSession(PuctSession):
    """Searches a task by `task_at_level`; evaluate: values positions for the choice of the move."""

    def __init__(self, puct: Puct, task: Task, level: Level, evaluate: Evaluate) -> None:
        super().__init__(puct, task)
        self._longest_mate = level.mate_plies
        board, temperature = self._request.board, self._config.evaluator.temperature
        # No method of the session: it would hold itself, and the network, until a garbage collection.
        self._choose = lambda result: choose_level_move(board, result, level, temperature, evaluate, task.rng)

    def _root_mate_nodes(self) -> int:
        return self._config.mate.root_nodes  # The nodes of a level limit its search only.
