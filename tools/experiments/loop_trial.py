"""Shows that the asynchronous loop learns a small game on a Ray cluster, also while its nodes die.

    python3 tools/dev.py loop-trial tictactoe --folder runs/trial
    python3 tools/dev.py loop-trial tictactoe --folder runs/trial-dying --kill-every 20 --against runs/trial
    python3 tools/dev.py loop-trial reversi6 --folder runs/trial-6x6 --kill-every 20 --kill-driver-every 60

It makes a cluster of a head without cores and two nodes of one core on this computer, and gives the command
`goryu selfplay loop --cluster` to it. With --kill-every a random node dies as in a power failure, at random
times; another one joins at once. With --kill-driver-every the command itself is killed (SIGKILL) and given
again. At the end the champion plays the network that the run began with, and in tic-tac-toe it answers the
eleven positions of the AlphaZero tutorial. Needs Linux and the extras train and cluster.
"""

import argparse
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goryu.commands.common import above_zero, new_parser, positive, program

if TYPE_CHECKING:
    from goryu.players.agents.agents import AgentSetup
    from goryu_lab.loop.board_games import BoardLoopGame

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("loop_trial.py", make_parser(), run, arguments, extra="cluster")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("game", choices=("tictactoe", "reversi6"), help="what it learns")
    parser.add_argument("--folder", type=Path, required=True, help="folder of the loop")
    parser.add_argument("--cycles", type=positive, metavar="N", help="candidates (default: the game's)")
    parser.add_argument("--nodes", type=positive, default=2, metavar="N", help="of one core (default 2)")
    parser.add_argument(
        "--kill-every", type=above_zero, metavar="S", help="mean time between two deaths of nodes"
    )
    parser.add_argument(
        "--kill-driver-every", type=above_zero, metavar="S", help="mean time between two deaths of the driver"
    )
    parser.add_argument(
        "--games", type=positive, default=200, metavar="N", help="of the last match (default 200)"
    )
    parser.add_argument(
        "--against", type=Path, metavar="FOLDER", help="also play the champion of another run's folder"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the loop and of the deaths (default 0)")
    return parser


def run(args: argparse.Namespace) -> None:
    """Runs the loop to its end and measures the champion."""
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # For the nodes.
    rng = random.Random(args.seed)
    started_s = time.monotonic()
    with cluster(args.nodes) as nodes:
        node_deaths, driver_deaths = drive(args, nodes, rng)
    minutes = (time.monotonic() - started_s) / 60
    print(f"{minutes:.1f} minutes, {node_deaths} nodes and {driver_deaths} drivers killed")
    measure(args)


@contextmanager
def cluster(count: int) -> Iterator[Any]:
    """Starts a cluster of nodes of one core each, and ends it."""
    from ray.cluster_utils import Cluster

    nodes: Any = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
    try:
        for _ in range(count):
            nodes.add_node(**NODE)
        yield nodes
    finally:
        nodes.shutdown()


def drive(args: argparse.Namespace, nodes: Any, rng: random.Random) -> tuple[int, int]:
    """Gives the command until it ends by itself; returns how many nodes and how many drivers were killed."""
    command = [
        sys.executable, "-m", "goryu", "selfplay", "loop", "--game", args.game, "--folder", str(args.folder),
        "--cluster", nodes.address, "--seed", str(args.seed),
    ]  # fmt: skip
    command += ["--cycles", str(args.cycles)] if args.cycles else []
    print(" ".join(command[2:]), flush=True)
    node_deaths, driver_deaths = Deaths(args.kill_every, rng), Deaths(args.kill_driver_every, rng)
    driver = subprocess.Popen(command)
    try:
        while (status := driver.poll()) is None or status == -signal.SIGKILL:
            if status is not None:
                driver = subprocess.Popen(command)
            if node_deaths.is_due():
                nodes.remove_node(rng.choice(sorted(nodes.worker_nodes, key=str)), allow_graceful=False)
                nodes.add_node(**NODE)  # Ray wants to be asked by the main thread.
            if driver_deaths.is_due():
                print("the driver is killed", flush=True)
                driver.kill()
                driver.wait()
            time.sleep(0.1)
    finally:
        driver.kill()
        driver.wait()
    if status:
        raise SystemExit(status)
    return node_deaths.count, driver_deaths.count


class Deaths:
    """Random times with a mean distance, or none. count: those that have passed."""

    def __init__(self, every_s: float | None, rng: random.Random) -> None:
        self.count = 0
        self._every_s = every_s
        self._rng = rng
        self._next_s = self._drawn()

    def is_due(self) -> bool:
        """Returns True once for each time that has come."""
        if time.monotonic() < self._next_s:
            return False
        self.count += 1
        self._next_s = self._drawn()
        return True

    def _drawn(self) -> float:
        return time.monotonic() + self._rng.expovariate(1 / self._every_s) if self._every_s else math.inf


def measure(args: argparse.Namespace) -> None:
    """Prints how many games there are, and how the champion plays."""
    from goryu.players.agents.agents import make_agent
    from goryu_lab.lessons import experiments
    from goryu_lab.loop.board_games import LOOPS
    from goryu_lab.loop.folder import LoopFolder

    game, _ = LOOPS[args.game]
    with closing(LoopFolder(args.folder, game)) as folder:
        files = sorted((args.folder / "games").iterdir())
        numbers = [game.number_of(played) for file in files for played in game.read(file)]
        gaps = max(numbers) + 1 - len(set(numbers))
        print(
            f"{len(numbers)} games, {folder.positions} positions; {len(numbers) - len(set(numbers))} twice, "
            f"{gaps} of the numbers up to {max(numbers)} were in progress at the end"
        )
        print(f"champion: candidate {folder.champion} of {folder.trained}, after {folder.seconds:.0f} s")
        first, champion = (folder.network(number) for number in (0, folder.champion))
    if args.game == "tictactoe":
        for name in ("puct:20", "gumbel:20"):
            for network in (first, champion):
                replies = experiments.correctness(make_agent(name, setup(game, network)))
                print(f"{name} with candidate {network.parent.name}: {replies} of 11 positions")
    opponents = {"candidate 0": first}
    if args.against:
        with closing(LoopFolder(args.against, game)) as other:
            opponents[f"the champion of {args.against}"] = other.network(other.champion)
    name = f"puct:{game.config.playouts}"
    for opponent, network in opponents.items():
        ours, theirs = (make_agent(name, setup(game, path)) for path in (champion, network))
        score = experiments.match_of_openings(
            ours, theirs, game.board.new, args.games, game.opening[1] - 1, random.Random(1)
        )
        print(f"{name}, champion against {opponent}: {score}")


def setup(game: "BoardLoopGame", network: Path) -> "AgentSetup":
    """Returns what agents need to play with a network."""
    from goryu.players.agents.agents import AgentSetup
    from goryu_lab.lessons.alphazero_config import puct_config

    evaluator = game.open(network, game.config.playouts)
    return AgentSetup(evaluator=evaluator, puct=puct_config(game.config), gumbel=game.config.gumbel)


if __name__ == "__main__":
    raise SystemExit(main())
