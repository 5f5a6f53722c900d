"""Measures what a Ray cluster costs: against processes of this computer, and for the driver of a large one.

    python tools/cluster.py overhead --model models/goryu-5x64-int8.onnx --rounds 5
    python tools/cluster.py scale --games-file runs/self.games --game-seconds 20

`overhead` lets two processes and two Ray workers of this computer play the same games in turn. It counts from
the first game that is finished to the last, and the processor time of all processes of each run, Ray's own
included: on a busy computer only that is comparable.

`scale` starts workers that sleep and answer with as many bytes as a game has, and measures the driver's
processor time for a result. It also measures what reading a result and writing it to the file of games take.
The sum says how many results a second one driver can take, and with the time of a game, how many cores it can
keep busy. Nothing here shows that a network between computers carries that; the bytes are printed.
"""

import argparse
import os
import pickle
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median

from goryu.learning.records.game_records import GameRecord, GameWriter, read_games
from goryu.learning.records.summary import GameSummary
from goryu.learning.self_play.config import SelfPlayConfig
from goryu.match.openings import Opening
from goryu.programs.common import UsageError, above_zero, new_parser, positive, program
from goryu.work.cluster import ClusterConfig, ClusterPool
from goryu.work.driver import Workforce, run_tasks
from goryu.work.rehearsal import Rehearsal


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("cluster", make_parser(), lambda args: args.verb(args), arguments, extra="cluster")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    verbs = parser.add_subparsers(required=True)
    overhead = verbs.add_parser("overhead", help="compare two processes with two Ray workers")
    overhead.set_defaults(verb=_overhead)
    overhead.add_argument("--model", type=Path, required=True, metavar="FILE.onnx", help="the network")
    overhead.add_argument("--rounds", type=positive, default=3, metavar="N", help="of each (default 3)")
    overhead.add_argument("--games", type=positive, default=60, metavar="N", help="in each (default 60)")
    overhead.add_argument("--workers", type=positive, default=2, metavar="N", help="of each (default 2)")
    overhead.add_argument("--at-once", type=positive, default=8, metavar="N", help="games (default 8)")
    overhead.add_argument("--max-plies", type=positive, default=120, metavar="N", help="(default 120)")
    scale = verbs.add_parser("scale", help="measure the driver with workers that only pretend to work")
    scale.set_defaults(verb=_scale)
    scale.add_argument(
        "--workers", type=positive, nargs="+", default=[4, 16, 32], metavar="N", help="(default 4 16 32)"
    )
    scale.add_argument("--tasks", type=positive, default=3000, metavar="N", help="a run (default 3000)")
    scale.add_argument("--at-once", type=positive, default=1, metavar="N", help="a worker (default 1)")
    scale.add_argument("--games-file", type=Path, required=True, metavar="FILE", help="true results")
    scale.add_argument(
        "--game-seconds", type=above_zero, required=True, metavar="S", help="of one core for one game"
    )
    return parser


def _overhead(args: argparse.Namespace) -> None:
    from goryu.learning.self_play import workers

    config = SelfPlayConfig(max_plies=args.max_plies)
    work = workers.PlayWork("overhead", config, (Opening(),), 1, args.games)

    def play(cluster: ClusterConfig | None) -> tuple[float, float, list[GameRecord]]:
        marks: list[tuple[float, dict[int, float]]] = []
        last = 0

        def report(summary: GameSummary) -> None:
            nonlocal last
            if summary.games in (1, args.games) and summary.games != last:
                marks.append((time.monotonic(), processor_times()))
            last = summary.games

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "self.games"
            workers.run(
                work, args.model, path, processes=args.workers, cluster=cluster, at_once=args.at_once,
                report=report,
            )  # fmt: skip
            games = sorted(read_games(path), key=lambda game: game.number or 0)
        (start_s, before), (end_s, after) = marks
        wall_s = end_s - start_s
        cpu_s = sum(used - before.get(process, 0.0) for process, used in after.items())
        return (args.games - 1) / wall_s, cpu_s / (args.games - 1), games

    ratios = []
    for _ in range(args.rounds):
        here, there = play(None), play(ClusterConfig("local", args.workers))
        if here[2] != there[2]:
            raise UsageError("the two played different games: expected the same")
        ratios.append((there[0] / here[0], here[1] / there[1]))
        print(
            f"processes: {here[0]:.2f} games/s, {here[1]:.3f} s of processor a game; "
            f"Ray: {there[0]:.2f} games/s, {there[1]:.3f} s"
        )
    rates, costs = zip(*ratios, strict=True)
    by_clock, by_processor = median(rates), median(costs)
    print(f"Ray's rate: {by_clock:.3f} of the processes' by the clock, {by_processor:.3f} by processor time")


def processor_times() -> dict[int, float]:
    """Returns the processor time of this process and each of its living descendants in seconds (Linux)."""
    parents: dict[int, int] = {}
    times: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            values = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # It has just ended.
            continue
        parents[int(folder.name)] = int(values[1])
        times[int(folder.name)] = (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")

    def is_ours(process: int) -> bool:
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return {process: used for process, used in times.items() if is_ours(process)}


def _scale(args: argparse.Namespace) -> None:
    games = list(islice(read_games(args.games_file), 500))
    if not games:
        raise UsageError(f"{args.games_file}: expected games")
    size = round(sum(len(pickle.dumps(game)) for game in games) / len(games))
    print(f"a game takes {size} bytes on its way to the driver (mean of {len(games)})")
    seam_s = 0.0
    for workers in args.workers:
        job = Rehearsal(0.001 * workers, size, args.at_once)
        seam_s, rate = drive(workers, args.tasks, job)
        print(f"{workers} workers: {rate:.0f} results/s, {1e6 * seam_s:.0f} us of the driver for each")
    read_s = cpu_time(lambda: [pickle.loads(pickle.dumps(game)) for game in games]) / len(games)
    print(f"reading a result: {1e6 * read_s:.0f} us")
    for together in (1, 10, 100):
        write_s = cpu_time(partial(write, games, together)) / len(games)
        most = 1 / (seam_s + read_s + write_s)
        print(
            f"writing games, {together} in a block: {1e6 * write_s:.0f} us each; one driver takes {most:.0f} "
            f"games/s ({most * size / 1e6:.1f} MB/s), the work of {most * args.game_seconds:.0f} cores at "
            f"{args.game_seconds:g} s a game"
        )


def drive(workers: int, tasks: int, job: Rehearsal) -> tuple[float, float]:
    """Returns the driver's processor time for a result, and the results a second, of all workers together."""
    pool = ClusterPool(ClusterConfig("local", workers, cpus=0.01))
    joined = 0

    def watch(workforce: Workforce) -> None:
        nonlocal joined
        joined = sum(workforce.nodes.values())

    done = first = 0
    started_s = started_cpu_s = 0.0

    with closing(run_tasks(pool, job, ((number, None) for number in count()), watch=watch)) as finished:
        for results in finished:
            done += len(results)
            if not first and joined == workers:
                first, started_s, started_cpu_s = done, time.monotonic(), time.process_time()
            if first and done >= first + tasks:
                break
        wall_s, cpu_s = time.monotonic() - started_s, time.process_time() - started_cpu_s
    return cpu_s / (done - first), (done - first) / wall_s


def cpu_time(call: Callable[[], object]) -> float:
    """Returns the processor time of a call, the least of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def write(games: Sequence[GameRecord], together: int) -> None:
    """Writes games in blocks to a file that is deleted."""
    with tempfile.TemporaryDirectory() as folder, GameWriter(Path(folder) / "x.games") as writer:
        for start in range(0, len(games), together):
            writer.write(games[start : start + together])


if __name__ == "__main__":
    raise SystemExit(main())
