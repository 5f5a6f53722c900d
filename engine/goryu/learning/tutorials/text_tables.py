"""The tables of the texts that Goryu grew from, measured again: wins at small games, and a session.

No network is trained: tic-tac-toe and reversi play with the shipped networks. The lessons of the reversi
tutorial are read from their folders.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

from goryu.base.errors import InputError
from goryu.evaluators.board_network import BOARD_GAMES, load
from goryu.evaluators.network.model_files import models_folder, shipped_model
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Reversi
from goryu.learning.tutorials import experiments
from goryu.learning.tutorials.alphazero_config import TICTACTOE, puct_config
from goryu.learning.tutorials.lesson_games import CHECKPOINT_GAMES, GAMES, LessonGame, read_games
from goryu.learning.tutorials.report import Measurement
from goryu.learning.tutorials.value_config import PUBLISHED
from goryu.players.agents.agents import AgentSetup, make_agent
from goryu.players.agents.arena import match, mean_and_error
from goryu.players.agents.presets import disc_lead

TOLD = {
    "minimax moving first - random",
    "random moving first - minimax",
    "alpha-beta moving first - random",
    "alpha-beta moving first - minimax",
    "greedy moving first - random",
}
"""What the texts tell in words or ask: their numbers are ours only."""

LESSON = {
    "training games not lost": 745 / 1500,
    "the last 300 of them": 179 / 300,
    "games without random moves not lost": 22 / 50,
    "points against the tutorial's opponent": 0.81,
    "discs ahead against the tutorial's opponent": 17.2,
    "points against random moves": 0.75,
    "discs ahead against random moves": 20.8,
}
"""The notebook's numbers; the first three are counted in its strip and its list of rewards."""

AS_PUBLISHED = {**asdict(PUBLISHED), "opponents": ["greedy"]}
"""The options of a lesson whose numbers may stand beside the notebook's."""


def tictactoe(games: int, rng: Random) -> Iterator[Measurement]:
    """Yields the numbers of OJIMA's three articles, and matches that they show as single games."""
    network = load(models_folder() / "tictactoe.onnx", BOARD_GAMES["tictactoe"])
    setup = AgentSetup(evaluator=network, puct=puct_config(TICTACTOE), gumbel=TICTACTOE.gumbel)
    yield from experiments.tictactoe_network(setup, games, rng)
    yield from experiments.tictactoe_basics(games, rng)
    players = {name: make_agent(name, rng=rng) for name in ("random", "flat-mc:10", "uct-flat:100")}
    players |= {name: experiments.remembering(make_agent(name)) for name in ("minimax", "alpha-beta")}
    for first, second in (
        ("random", "random"),
        ("minimax", "random"),
        ("random", "minimax"),
        ("alpha-beta", "random"),
        ("random", "alpha-beta"),
        ("alpha-beta", "minimax"),
        ("flat-mc:10", "uct-flat:100"),
        ("uct-flat:100", "flat-mc:10"),
    ):
        score = match(players[first], players[second], TicTacToe, games)
        yield experiments.points(f"{first} moving first - {second}", score)


def reversi(games: int, lessons: Sequence[Path], rng: Random) -> Iterator[Measurement]:
    """Yields the notebook's numbers: trainings as published, our network, and its opponent against random."""
    yield from trainings(lessons)
    network = load(models_folder() / "reversi-value.onnx", BOARD_GAMES["reversi"])
    ours = make_agent("value:2", AgentSetup(values=network))
    greedy = make_agent("greedy", AgentSetup(heuristic=disc_lead), rng)
    random = make_agent("random", rng=rng)
    for name, player, opponent, theirs in (
        ("our network moving {place} - greedy", ours, greedy, 0.81),
        ("our network moving {place} - random", ours, random, 0.75),
        ("greedy moving {place} - random", greedy, random, None),
    ):
        for side, place in enumerate(("first", "second")):
            score = match(player, opponent, Reversi, games, side=side, margin=lambda s: 64 * disc_lead(s))
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
        tests = read_games(folder / CHECKPOINT_GAMES)
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        options = {name: report[name] for name in AS_PUBLISHED}
        measured = {one["name"]: one for one in report["measurements"]}
        numbers = {
            "training games not lost": _not_lost(games),
            "the last 300 of them": _not_lost(games[-300:]),
            "games without random moves not lost": _not_lost(tests),
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


SESSIONS = {
    1.0: {"7g7f": 0.68336, "2g2f": 0.18533, "visits": 195, "cp": 75},
    2.0: {"7g7f": 0.29091, "2g2f": 0.15150, "visits": 293, "cp": 143},
    100.0: {"7g7f": 0.03528, "2g2f": 0.03482, "visits": 269, "cp": 117},
}
"""Temperature -> the numbers of the article's session with MCTS_player at the start of a game."""


def mcts_player() -> Iterator[Measurement]:
    """Yields the numbers of MCTS_player's session, with the shipped network and the preset of its name."""
    for temperature, theirs in SESSIONS.items():
        ours = session(temperature)
        for name, shown in (
            ("7g7f", "policy of 7g7f"),
            ("2g2f", "policy of 2g2f"),
            ("visits", "visits of the root"),
            ("cp", "score in centipawns"),
        ):
            yield Measurement(
                "session", f"temperature {temperature:g}: {shown}", ours[name], 0.0, theirs[name]
            )


def session(temperature: float) -> dict[str, float]:
    """Returns the numbers of a `go` from the start of a game."""
    command = [sys.executable, "-m", "goryu", "usi", "--preset", "mcts-player"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        engine.stdin.write(
            f"setoption name modelfile value {shipped_model()}\n"
            f"setoption name temperature value {round(100 * temperature)}\n"
            "setoption name Seed value 1\nisready\nposition startpos\ngo\n"
        )
        engine.stdin.flush()
        found: dict[str, float] = {}
        for line in engine.stdout:
            if row := re.search(r":(\S+) +move_count: *(\d+) nn_rate:(\S+)", line):
                found[row[1]] = float(row[3])
                found["visits"] = found.get("visits", 0.0) + int(row[2])
            if score := re.search(r" score cp (-?\d+)", line):
                found["cp"] = float(score[1])
            if line.startswith("bestmove"):
                break
        engine.stdin.write("quit\n")
        engine.stdin.flush()
    return found


SECTIONS: dict[str, Callable[[int, Sequence[Path], Random], Iterator[Measurement]]] = {
    "Tic-tac-toe: OJIMA's three articles": lambda games, lessons, rng: tictactoe(games, rng),
    "Reversi: enakai00's notebook": reversi,
    "Shogi: the session with MCTS_player": lambda games, lessons, rng: mcts_player(),
}
"""The tables by their titles."""
