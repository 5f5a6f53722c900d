"""Runs AlphaZero's pseudocode on a small game: actors play while a trainer trains.

    goryu alphazero tictactoe
    goryu alphazero tictactoe --actors 2 --playouts 0.1 --untried reduced
    goryu alphazero reversi --folder runs/pseudocode

The numbers are the published ones for chess times a factor each; `--show` prints them and does nothing else.
Networks go to FOLDER/networks/STEP.onnx, at every checkpoint. You can interrupt the run at any time; the same
command resumes after its last checkpoint. At the end the network plays the tests of the AlphaZero tutorials.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

from goryu.base.files import held_folder
from goryu.commands.common import UsageError, new_parser, positive, program, seed
from goryu.commands.progress_display import ProgressDisplay
from goryu.learning.tutorials.pseudocode_config import (
    SMALL_GAMES,
    PseudocodeConfig,
    factor_fields,
    factors_of,
    scaled,
)

BLOCKS = {"tictactoe": 1, "reversi": 2}
CHANNELS = 32
RESUME = "the same command resumes after its last checkpoint"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu alphazero", make_parser(), run, arguments, extra="train", interrupted=RESUME)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("game", choices=tuple(SMALL_GAMES))
    parser.add_argument("--folder", type=Path, help="of networks and state (default runs/pseudocode/GAME)")
    parser.add_argument("--show", action="store_true", help="print the numbers of the run, and end")
    parser.add_argument(
        "--actors", type=positive, default=1, metavar="N", help="processes that play (default 1)"
    )
    parser.add_argument(
        "--untried", choices=("lost", "reduced"), default="lost",
        help="value of an untried move: a loss, as published (default), or our first play urgency",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, default=1, help="of the network and of all games (default 1)")
    parser.add_argument(
        "--matches", type=positive, default=100, metavar="N",
        help="games of each match at the end (default 100)",
    )  # fmt: skip
    group = parser.add_argument_group("factors of the published numbers (default: those of the small game)")
    for item in factor_fields():
        group.add_argument(f"--{item.name}", type=float, metavar="X", help=item.metadata["help"])
    return parser


def run(args: argparse.Namespace) -> None:
    """Trains to the end, or from the last checkpoint on, and measures the network."""
    given = {item.name: getattr(args, item.name) for item in factor_fields()}
    changed = {name: value for name, value in given.items() if value is not None}
    config = scaled(factors_of(args.game, changed), args.untried)
    if args.show:
        show(config)
        return
    folder = args.folder or Path("runs/pseudocode") / args.game
    with held_folder(folder):
        train(args, config, folder)


def show(config: PseudocodeConfig) -> None:
    """Prints the numbers of a run."""
    numbers = {**asdict(config.alphazero), **asdict(config)}
    for name in ("alphazero", "cycles", "games_per_cycle", "steps_per_cycle", "search", "gumbel",
                 "evaluation_games", "promotion", "window_positions"):  # fmt: skip
        del numbers[name]
    for name, value in numbers.items():
        print(f"{name:20} {_shown(value)}")


def _shown(value: object) -> str:
    """Returns a number or the steps of the learning rate as text.

    >>> _shown(0.02 * 0.1 * 10), _shown(((0, 0.2), (100, 0.02)))
    ('0.02', '0.2, from step 100 on 0.02')
    """
    if isinstance(value, tuple):
        return ", ".join(f"from step {step} on {rate:g}" if step else f"{rate:g}" for step, rate in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def train(args: argparse.Namespace, config: PseudocodeConfig, folder: Path) -> None:
    """Runs actors and trainer."""
    import torch  # Takes seconds.

    from goryu.evaluators.board_network import BOARD_GAMES
    from goryu.learning.checkpoints import atomic_save
    from goryu.learning.tutorials.board_learner import BoardLearner
    from goryu.learning.tutorials.pseudocode import Actors, NetworkStorage, Trainer

    torch.set_num_threads(1)  # The other cores are for the actors.
    game, state = BOARD_GAMES[args.game], folder / "trainer.pt"
    learner = BoardLearner(game, BLOCKS[args.game], CHANNELS, args.seed)
    storage = NetworkStorage(folder / "networks", game)
    trainer = Trainer(learner, storage, config, Random(args.seed))
    options = {"config": repr(config), "game": args.game, "seed": args.seed}
    if state.is_file():
        saved = torch.load(state, weights_only=True)
        if saved["options"] != options:
            raise UsageError(f"{state}: a run with other options; give the same ones, or another --folder")
        trainer.load_state_dict(saved["trainer"])
    with ProgressDisplay() as display:
        if trainer.step:
            display.print(f"resuming after step {trainer.step}")
        seed = args.seed + 1000 * trainer.step  # A resumed run plays other games.
        with Actors(args.actors, args.game, storage.folder, config.alphazero, seed) as actors:
            for point in trainer.run(actors, display.update):
                atomic_save(state, {"options": options, "trainer": trainer.state_dict()})
                display.print(
                    f"step {point.step}: {point.games} games, {point.positions} positions, losses "
                    f"{point.policy_loss:.3f} {point.value_loss:.3f}, actors {point.lag:.0f} steps behind"
                )
    measure(args, config, folder)


def measure(args: argparse.Namespace, config: PseudocodeConfig, folder: Path) -> None:
    """Prints how the last network plays, next to the numbers of the AlphaZero tutorials."""
    from rich.console import Console
    from rich.table import Table

    from goryu.evaluators.board_network import BOARD_GAMES
    from goryu.learning.tutorials import experiments
    from goryu.learning.tutorials.alphazero_config import puct_config
    from goryu.learning.tutorials.pseudocode import NetworkStorage
    from goryu.players.agents.agents import AgentSetup, make_agent
    from goryu.players.agents.arena import paired_match

    game, rng = BOARD_GAMES[args.game], Random(args.seed)
    _, network = NetworkStorage(folder / "networks", game).newest()
    setup = AgentSetup(evaluator=network, puct=puct_config(config.alphazero))
    table = Table(title=f"{args.game}, untried moves {args.untried}")
    for heading in ("", "tutorial", "ours", "±", ""):
        table.add_column(heading)
    if args.game == "tictactoe":
        found = list(experiments.tictactoe_network(setup, args.matches, rng))
    else:
        agent, opponents = make_agent("puct:20", setup), {"random": make_agent("random", rng=rng)}
        opponents["the tutorial's opponent"] = experiments.greedy_opponent(rng)
        found = [
            experiments.points(f"puct:20 - {name}", paired_match(agent, other, game.new, args.matches))
            for name, other in opponents.items()
        ]
    for m in found:
        theirs = "" if m.theirs is None else f"{m.theirs:g}"
        table.add_row(m.name, theirs, f"{m.value:.3f}", f"{m.error:.3f}", m.detail)
    Console(emoji=False).print(table)


if __name__ == "__main__":
    raise SystemExit(main())
