"""Measures what a Ray cluster costs: against processes of this computer, and for the driver of a large one.

    python tools/experiments/cluster.py overhead --model models/goryu-5x64.onnx --rounds 5
    python tools/experiments/cluster.py scale --games-file runs/self.games --cores 10000 --game-seconds 3

`overhead` lets two processes and two Ray workers of this computer play the same games in turn. It counts from
the first game that is finished to the last, and the processor time of all processes of each run, Ray's own
included: on a busy computer only that is comparable.

`scale` measures the driver of a cluster of many cores. A few actors return games of a file without playing
them, all together as many a second as those cores would play, by the same number of calls; the driver writes
them to a file. In turn they send each result as it is, which the driver compresses, and blocks, as self-play
does. It also measures the driver's lists for that many workers. Nothing here shows that the network
between the computers carries the bytes, which are printed, or that Ray starts that many actors.
"""

import argparse
import os
import pickle
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from math import inf
from pathlib import Path
from statistics import median

from pretended_games import PretendedGames

from goryu.commands.common import UsageError, above_zero, new_parser, positive, program
from goryu_lab.match.openings import Opening
from goryu_lab.records.game_block import GameBlock
from goryu_lab.records.game_records import GameRecord, GameWriter, encode_block, read_games
from goryu_lab.records.summary import GameSummary
from goryu_lab.self_play.config import SelfPlayConfig
from goryu_lab.work.cluster import ClusterConfig, ClusterPool
from goryu_lab.work.driver import Workforce, run_bundles
from goryu_lab.work.processes import ProcessPool
from goryu_lab.work.seam import Done, Event, Job, Joined, LocalFile, Results, Task


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("cluster.py", make_parser(), lambda args: args.verb(args), arguments, extra="cluster")


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
    scale.add_argument("--games-file", type=Path, required=True, metavar="FILE", help="true results")
    scale.add_argument("--cores", type=positive, default=10_000, metavar="N", help="(default 10000)")
    scale.add_argument(
        "--game-seconds", type=above_zero, required=True, metavar="S", help="of one core for one game"
    )
    scale.add_argument("--workers", type=positive, default=16, metavar="N", help="true ones (default 16)")
    scale.add_argument("--seconds", type=above_zero, default=10.0, metavar="S", help="a run (default 10)")
    scale.add_argument("--rounds", type=positive, default=3, metavar="N", help="of both (default 3)")
    return parser


def _overhead(args: argparse.Namespace) -> None:
    from goryu_lab.self_play import workers

    config = SelfPlayConfig(max_plies=args.max_plies)
    work = workers.PlayWork("overhead", config, (Opening(),), 1, args.games)

    def play(cluster: ClusterConfig | None) -> tuple[float, float, list[GameRecord]]:
        marks: list[tuple[int, float, dict[int, float]]] = []
        last = 0

        def report(summary: GameSummary) -> None:
            nonlocal last
            if summary.games and (not last or summary.games == args.games > last):
                marks.append((summary.games, time.monotonic(), processor_times()))
            last = summary.games

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "self.games"
            pool = partial(ClusterPool, cluster) if cluster else partial(ProcessPool, args.workers)
            workers.run(workers.GamesJob(work, args.model, args.at_once), work, path, pool, report)
            games = sorted(read_games(path), key=lambda game: game.number or 0)
        (first, start_s, before), (_, end_s, after) = marks
        wall_s = end_s - start_s
        cpu_s = sum(used - before.get(process, 0.0) for process, used in after.items())
        return (args.games - first) / wall_s, cpu_s / (args.games - first), games

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
    rate = args.cores / args.game_seconds
    print(f"{args.cores} cores at {args.game_seconds:g} s a game: {rate:.0f} games/s for the driver")
    size = sum(len(pickle.dumps(game)) for game in games) / len(games)
    print(f"a game takes {size:.0f} bytes as it is")
    for together in (1, 8, 64):
        content, seconds = blocks(games, together)
        print(f"in blocks of {together}: {content:.0f} bytes, {1e6 * seconds:.0f} us to compress it")
    for round_ in range(args.rounds):
        for name, is_bundled in (("one by one", False), ("in blocks", True)):
            job = PretendedGames(args.games_file.resolve(), args.workers / rate, is_bundled)
            seen = drive(args.workers, args.seconds, job)
            print(
                f"round {round_ + 1}, results {name}: {seen.rate:.0f} games/s, {1e6 * seen.cpu_s:.0f} us of "
                f"the driver for each; {seen.calls:.0f} calls/s, {seen.size:.0f} bytes a game in the file; "
                f"one core of the driver takes {1 / seen.cpu_s:.0f} games/s"
            )
    print(
        f"the driver's lists with {args.cores} workers, without Ray: {1e6 * bookkeeping(args.cores):.0f} us "
        "for each game"
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """What a driver has done: games and calls a second, processor time and bytes of the file for a game."""

    rate: float
    calls: float
    cpu_s: float
    size: float


def drive(workers: int, seconds: float, job: PretendedGames) -> Seen:
    """Runs the driver with true actors for some seconds; it writes the games to a file that is deleted."""
    pool = ClusterPool(ClusterConfig("local", workers, worker_cpus=0.01))
    if not job.is_bundled:
        pool.calls_per_s = inf
    joined = 0

    def watch(workforce: Workforce) -> None:
        nonlocal joined
        joined = workforce.nodes.total()

    done = calls = 0
    before: tuple[int, int, float, float] | None = None
    tasks = ((number, None) for number in count())
    with tempfile.TemporaryDirectory() as folder, GameWriter(Path(folder) / "x.games") as writer:
        with closing(run_bundles(pool, job, tasks, watch=watch)) as finished:
            for bundles in finished:
                records = []
                contents = []
                for bundle in bundles:
                    if isinstance(bundle, GameBlock):
                        contents.append(bundle.content)
                    else:
                        records += [game for _, game in bundle.results()]
                    done += len(bundle.numbers)
                writer.append(contents)
                writer.write(records)
                calls += len(bundles)
                if before is None and joined == workers:
                    before = done, calls, time.monotonic(), time.process_time()
                if before and time.monotonic() > before[2] + seconds:
                    break
            assert before is not None
            now = done, calls, time.monotonic(), time.process_time()
            games, some_calls, wall_s, cpu_s = (b - a for a, b in zip(before, now, strict=True))
        size = (Path(folder) / "x.games").stat().st_size / done
    return Seen(games / wall_s, some_calls / wall_s, cpu_s / games, size)


def bookkeeping(workers: int) -> float:
    """Returns the driver's processor time for a game, with workers that exist only in a list."""
    pool = ListedWorkers(workers)
    done, start_s = 0, 0.0
    for bundles in run_bundles(pool, PretendedGames(Path(), 0.0, False, 32), ((i, None) for i in count())):
        start_s = start_s or time.process_time()
        done += sum(len(bundle.numbers) for bundle in bundles)
        if done >= 30 * workers:
            break
    return (time.process_time() - start_s) / done


class ListedWorkers:
    """A pool that answers at once: in turn, each of its workers has done eight of its tasks."""

    copies_late_tasks = True
    hold_s = 0.0

    def __init__(self, size: int) -> None:
        self.size = size
        self._turn = deque(range(size))
        self._given: list[list[int]] = [[] for _ in range(size)]
        self._is_started = False

    def start(self, job: Job) -> None:
        """Does nothing."""

    def ship(self, path: Path) -> LocalFile:
        return LocalFile(path)

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        self._given[worker] += [number for number, _ in tasks]

    def events(self) -> list[Event]:
        if not self._is_started:
            self._is_started = True
            return [Joined(worker, f"computer {worker // 64}") for worker in self._turn]
        worker = self._turn[0]
        self._turn.rotate(-1)
        numbers, self._given[worker] = self._given[worker][:8], self._given[worker][8:]
        return [Done(worker, Results([(number, None) for number in numbers]))]

    def close(self, *, breaks_off: bool) -> None:
        """Does nothing."""


def blocks(games: Sequence[GameRecord], together: int) -> tuple[float, float]:
    """Returns the bytes of a game in blocks of some, and the time to compress it, the least of three."""
    parts = [games[start : start + together] for start in range(0, len(games), together)]
    size, times = 0, []
    for _ in range(3):
        start_s = time.process_time()
        size = sum(len(encode_block(part)) for part in parts)
        times.append(time.process_time() - start_s)
    return size / len(games), min(times) / len(games)


if __name__ == "__main__":
    raise SystemExit(main())
