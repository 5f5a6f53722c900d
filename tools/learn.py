"""Teaches the small games' networks and measures every algorithm on them.

    python tools/learn.py tictactoe
    python tools/learn.py reversi --json reversi.json --plot reversi.png

Trains from nothing, prints the tutorials' tables with our numbers beside theirs, and writes the networks
to the folder. Needs the extra [train]; --plot also needs matplotlib.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

AS_PUBLISHED = "as in the tutorial"


@dataclass
class Report:
    """Everything that a run found out. strength: (games of training, points, of what) for the plot."""

    game: str
    seed: int
    games: int
    measurements: list[Any] = field(default_factory=list)
    training: dict[str, dict[str, float]] = field(default_factory=dict)
    strength: list[tuple[int, float, str]] = field(default_factory=list)

    def as_json(self) -> str:
        tables: dict[str, dict[str, float]] = {"correctness": {}, "points": {}}
        for measurement in self.measurements:
            tables[measurement.table][measurement.name] = round(measurement.value, 4)
        document = {
            "game": self.game,
            "seed": self.seed,
            "games": self.games,
            **tables,
            "measurements": [asdict(measurement) for measurement in self.measurements],
            "training": self.training,
            "strength": self.strength,
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    options = parse_arguments()
    import torch  # Takes seconds to import: --help should not wait for it.

    torch.set_num_threads(options.threads)
    console = Console(emoji=False)  # Or ":100" becomes a picture.
    report = Report(options.game, options.seed, options.games)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    ) as bar:
        learn = {"tictactoe": learn_tictactoe, "reversi": learn_reversi}[options.game]
        for measurement in learn(options, report, bar):
            report.measurements.append(measurement)
            bar.console.print(f"{measurement.name}: {measurement.value:.3f} ± {measurement.error:.3f}")
    print_table(console, report)
    if options.json:
        options.json.write_text(report.as_json(), encoding="utf-8")
    if options.plot:
        plot(report, options.plot)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game", choices=("tictactoe", "reversi"))
    parser.add_argument("--folder", type=Path, default=Path("runs/learn"), help="where the networks go")
    parser.add_argument("--games", type=int, default=100, help="games of a match (default: 100)")
    parser.add_argument("--cycles", type=int, help="cycles of AlphaZero's loop")
    parser.add_argument("--value-games", type=int, help="games of the reversi value learner")
    parser.add_argument("--value-only", action="store_true", help="reversi: leave AlphaZero's loop out")
    parser.add_argument("--threads", type=int, default=2, help="threads of PyTorch (default: 2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw strength against training")
    return parser.parse_args()


def learn_tictactoe(options: argparse.Namespace, report: Report, bar: Progress) -> Iterator[Any]:
    from goryu.evaluators.board_network import BOARD_GAMES
    from goryu.learning import comparisons
    from goryu.learning.alphazero_config import TICTACTOE, puct_config
    from goryu.learning.board_learner import BoardLearner
    from goryu.learning.correctness import correctness
    from goryu.players.agents import Knowledge, make_agent

    rng = Random(options.seed)
    config = replace(TICTACTOE, cycles=options.cycles or TICTACTOE.cycles)
    learner = BoardLearner(BOARD_GAMES["tictactoe"], blocks=1, channels=32, seed=options.seed)

    def knowledge(evaluator: Any) -> Knowledge:
        return Knowledge(evaluator=evaluator, puct=puct_config(config), gumbel=config.gumbel)

    def strength(evaluator: Any) -> tuple[float, str]:
        return correctness(
            make_agent("puct:20", knowledge(evaluator))
        ) / 11, "correct replies of puct:20, share of 11"

    champion = run_alphazero(learner, config, rng, options.folder / "tictactoe.onnx", strength, report, bar)
    yield from comparisons.tictactoe_network(knowledge(champion), options.games, rng)
    yield from comparisons.tictactoe_basics(options.games, rng)


def learn_reversi(options: argparse.Namespace, report: Report, bar: Progress) -> Iterator[Any]:
    from goryu.evaluators.board_network import BOARD_GAMES, load
    from goryu.implementation import Reversi
    from goryu.learning import comparisons
    from goryu.learning.alphazero_config import REVERSI, puct_config
    from goryu.learning.board_learner import BoardLearner
    from goryu.learning.board_net import export
    from goryu.learning.value_learner import TUTORIAL, ValueLearnerConfig
    from goryu.players.agents import Knowledge, make_agent

    rng = Random(options.seed)
    game = replace(BOARD_GAMES["reversi"], new=Reversi)
    yield from comparisons.reversi_rules_of_thumb(options.games, rng)
    settings = {AS_PUBLISHED: TUTORIAL, "ours": ValueLearnerConfig()}
    learner = None
    for name, value_config in settings.items():
        value_config = replace(value_config, games=options.value_games or value_config.games)
        learner = run_value_learner(value_config, name, options, report, bar)
        yield from comparisons.value_network(learner, name, options.games, rng)
    assert learner is not None
    options.folder.mkdir(parents=True, exist_ok=True)
    value_model = options.folder / "reversi-value.onnx"
    export(learner.net, game, value_model)
    if options.value_only:
        return
    value_player = make_agent("value:2", Knowledge(values=load(value_model, game)))
    config = replace(REVERSI, cycles=options.cycles or REVERSI.cycles)

    def puct(evaluator: Any, playouts: int) -> Any:
        return make_agent(f"puct:{playouts}", Knowledge(evaluator=evaluator, puct=puct_config(config)))

    def strength(evaluator: Any) -> tuple[float, str]:
        score = comparisons.match_of_openings(puct(evaluator, 20), value_player, 10, 6, Random(1))
        return score.points, "points of puct:20 against the value network"

    board_learner = BoardLearner(game, blocks=2, channels=32, seed=options.seed)
    champion = run_alphazero(
        board_learner, config, rng, options.folder / "reversi.onnx", strength, report, bar
    )
    yield from comparisons.reversi_networks(puct(champion, 100), value_player, options.games, rng)


def run_alphazero(
    learner: Any,
    config: Any,
    rng: Random,
    path: Path,
    strength: Callable[[Any], tuple[float, str]],
    report: Report,
    bar: Progress,
) -> Any:
    """Runs the loop, writes each champion to `path` and returns the last one."""
    from goryu.learning.alphazero import AlphaZero
    from goryu.learning.board_net import export

    path.parent.mkdir(parents=True, exist_ok=True)
    loop = AlphaZero(learner, config, rng)
    clock = Clock()
    task = bar.add_task("AlphaZero: games", total=config.cycles * config.games_per_cycle)
    for cycle in loop.run(lambda: bar.advance(task)):
        if cycle.is_promoted:
            export(learner.net, learner.game, path)
        points, what = strength(loop.champion)
        report.strength.append((cycle.games, points, what))
        match = f"challenger {cycle.score}" if cycle.score else "no match"
        bar.console.print(
            f"cycle {cycle.number}: losses {cycle.policy_loss:.3f} {cycle.value_loss:.3f}; {match}; "
            f"{'promoted' if cycle.is_promoted else 'kept'}; {what}: {points:.3f}"
        )
    report.training["alphazero"] = clock.read()
    return loop.champion


def run_value_learner(
    config: Any, name: str, options: argparse.Namespace, report: Report, bar: Progress
) -> Any:
    """Runs the reversi tutorial's learner and returns it."""
    from goryu.learning.comparisons import greedy_opponent
    from goryu.learning.value_learner import ValueLearner
    from goryu.players.agents import make_agent

    rng = Random(options.seed)
    greedy, random = greedy_opponent(rng), make_agent("random", rng=rng)
    # A mixture of opponents is one of the tutorial's exercises; the tutorial itself has one.
    opponents = [greedy] if name == AS_PUBLISHED else [greedy, greedy, greedy, random]
    learner = ValueLearner(config, opponents, options.seed)
    clock = Clock()
    task = bar.add_task(f"value network, {name}: games", total=config.games)
    tenth = config.games // 10
    next_match = tenth
    while learner.played < config.games:
        learner.step()
        bar.update(task, completed=learner.played)
        if learner.played >= next_match:
            next_match += tenth // 2 if learner.played >= config.games // 2 else tenth
            points = learner.compete(20 if name == AS_PUBLISHED else 100)
            report.strength.append((learner.played, points, f"value network {name}"))
    if name != AS_PUBLISHED:
        learner.restore_best()
    report.training[f"value network {name}"] = clock.read()
    return learner


class Clock:
    """Seconds of the wall clock and of the processor since it was made."""

    def __init__(self) -> None:
        self._wall, self._processor = time.monotonic(), time.process_time()

    def read(self) -> dict[str, float]:
        wall, processor = time.monotonic() - self._wall, time.process_time() - self._processor
        return {"seconds": round(wall, 1), "cpu_seconds": round(processor, 1)}


def print_table(console: Console, report: Report) -> None:
    """Prints the measurements beside the tutorials' numbers."""
    table = Table(title=f"{report.game}, seed {report.seed}")
    for heading in ("", "theirs", "ours", "±", ""):
        table.add_column(heading)
    for m in report.measurements:
        theirs = "" if m.theirs is None else f"{m.theirs:g}"
        table.add_row(m.name, theirs, f"{m.value:.3f}", f"{m.error:.3f}", m.detail)
    console.print(table)
    for what, seconds in report.training.items():
        console.print(f"{what}: {seconds['seconds']} s, {seconds['cpu_seconds']} s of processor time")


def plot(report: Report, path: Path) -> None:
    """Draws strength against games of training."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for what in unique(label for *_, label in report.strength):
        curve = [(games, points) for games, points, label in report.strength if label == what]
        axes.plot(*zip(*curve, strict=True), marker="o", label=what)
    axes.set(xlabel="games of training", ylabel="points a game", ylim=(0, 1.02), title=report.game)
    axes.legend()
    figure.savefig(path)


def unique(labels: Iterable[str]) -> list[str]:
    """Returns the labels without repetition, in order."""
    return list(dict.fromkeys(labels))


if __name__ == "__main__":
    main()
