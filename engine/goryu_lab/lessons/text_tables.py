"""The tables of the texts that Goryu grew from, measured again.

No network is trained: tic-tac-toe and reversi play with the shipped networks. The lessons of the reversi
tutorial are read from their folders.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

from goryu.base.errors import InputError
from goryu.evaluators.board_network import BOARD_GAMES, load
from goryu.evaluators.network.model_files import models_folder
from goryu.implementation import Reversi
from goryu.players.agents.agents import AgentSetup, make_agent
from goryu.players.agents.arena import match, mean_and_error
from goryu.players.agents.presets import disc_lead
from goryu_lab.lessons import experiments
from goryu_lab.lessons.alphazero_config import TICTACTOE, puct_config
from goryu_lab.lessons.lesson_games import GAMES, LessonGame, read_games
from goryu_lab.lessons.report import Measurement
from goryu_lab.lessons.value_config import PUBLISHED

LESSON = {
    "training games not lost": 745 / 1500,
    "the last 300 of them": 179 / 300,
    "points against the tutorial's opponent": 0.81,
    "discs ahead against the tutorial's opponent": 17.2,
    "points against random moves": 0.75,
    "discs ahead against random moves": 20.8,
}
"""The notebook's numbers; the first two are counted in its strip."""

AS_PUBLISHED = {**asdict(PUBLISHED), "opponents": ["greedy"]}
"""The options of a lesson whose numbers may stand beside the notebook's."""


def tictactoe(games: int, rng: Random) -> Iterator[Measurement]:
    """Yields the numbers of OJIMA's three articles."""
    network = load(models_folder() / "tictactoe.onnx", BOARD_GAMES["tictactoe"])
    setup = AgentSetup(evaluator=network, puct=puct_config(TICTACTOE), gumbel=TICTACTOE.gumbel)
    yield from experiments.tictactoe_network(setup, games, rng)
    yield from experiments.tictactoe_basics(games, rng)


def reversi(games: int, lessons: Sequence[Path], rng: Random) -> Iterator[Measurement]:
    """Yields the notebook's numbers: trainings as published, and our network."""
    yield from trainings(lessons)
    network = load(models_folder() / "reversi-value.onnx", BOARD_GAMES["reversi"])
    ours = make_agent("value:2", AgentSetup(values=network))
    greedy = make_agent("greedy", AgentSetup(heuristic=disc_lead), rng)
    random = make_agent("random", rng=rng)
    for name, opponent, theirs in (
        ("our network moving {place} - greedy", greedy, 0.81),
        ("our network moving {place} - random", random, 0.75),
    ):
        for side, place in enumerate(("first", "second")):
            score = match(ours, opponent, Reversi, games, side=side, margin=lambda s: 64 * disc_lead(s))
            yield experiments.points(name.format(place=place), score, None if side else theirs)


def trainings(folders: Sequence[Path]) -> Iterator[Measurement]:
    """Yields the numbers of lessons as published.

    The error of one lesson is that of its games; the error of several is that of their mean.

    Raises InputError for a folder without a finished lesson as published.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for folder in folders:
        for name, number in _numbers_of(folder).items():
            found.setdefault(name, []).append(number)
    for name, numbers in found.items():
        mean, error = mean_and_error([value for value, _ in numbers])
        count = f"{len(folders)} trainings" if len(folders) > 1 else "1 training"
        error = numbers[0][1] if len(numbers) == 1 else error
        yield Measurement("points", f"trained as published: {name}", mean, error, LESSON[name], count)


def _numbers_of(folder: Path) -> dict[str, tuple[float, float]]:
    """Returns the numbers of `LESSON`, each with the error of its games; 0 where that is not known."""
    try:
        games = read_games(folder / GAMES)
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        options = {name: report[name] for name in AS_PUBLISHED}
        measured = {one["name"]: one for one in report["measurements"]}
        numbers = {
            "training games not lost": _not_lost(games),
            "the last 300 of them": _not_lost(games[-300:]),
        }
        for opponent, shown in (("greedy", "the tutorial's opponent"), ("random", "random moves")):
            match = measured[f"without random moves, moving first - {opponent}"]
            numbers[f"points against {shown}"] = match["value"], match["error"]
            margin = re.search(r"mean margin ([-+][\d.]+)", match["detail"])
            numbers[f"discs ahead against {shown}"] = float(margin[1]) if margin else 0.0, 0.0
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(f"{folder}: expected a finished lesson ({problem!r})") from None
    if options != AS_PUBLISHED:
        raise InputError(f"{folder}: expected a lesson with --as-published and no other numbers")
    return numbers


def _not_lost(games: Sequence[LessonGame]) -> tuple[float, float]:
    """Returns the share of games that the learner did not lose, which the notebook shows as +."""
    return mean_and_error([float(game.discs >= 0) for game in games])


SECTIONS: dict[str, Callable[[int, Sequence[Path], Random], Iterator[Measurement]]] = {
    "Tic-tac-toe: OJIMA's three articles": lambda games, lessons, rng: tictactoe(games, rng),
    "Reversi: enakai00's notebook": reversi,
}
"""The tables by their titles."""
