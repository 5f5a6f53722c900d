"""What `goryu analysis` bears: its speed beside that of a bare search, and a thousand queries with faults.

python tools/experiments/analysis_load.py rate            # playouts for a second of processor time
python tools/experiments/analysis_load.py load            # 1,000 queries, some cancelled, some wrong
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import median

from goryu.analysis.engine import AnalysisEngine
from goryu.analysis.searchers import Searchers
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.kept_graph import graph_settings
from goryu.players.set_up.loading import load_evaluator
from goryu.search.graph.config import PuctConfig
from goryu_lab.benchmark.throughput import MIDDLE_GAME, Seconds, search_run

MOVES = "7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 2e2d 2c2d 2h2d P*2c 2d2h 8e8f 8g8f 8b8f P*8g 8f8b"

BAD = (
    "nonsense",
    '{"id": 7}',
    '{"id": "%s", "moves": ["7g7e"]}',
    '{"id": "%s", "sfen": "9/9/9 b - 1"}',
    '{"id": "%s", "playouts": 0}',
    '{"id": "%s", "colour": "red"}',
    '{"id": "%s", "options": {"C_init": "high"}}',
)


def measure_rate(rounds: int, playouts: int, queries: int) -> None:
    """Prints the rates of a bare search and of the engine, measured in turn, and their ratios."""
    config = EngineConfig(evaluator=EvaluatorConfig(backend="cpu", threads=1))
    plain = replace(config, mate=replace(config.mate, leaf_nodes=0, nodes_per_visit=0, root_nodes=0))
    ratios: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, each in (("without mate search", plain), ("as the engine plays", config)):
            loaded = load_evaluator(each.evaluator, print)
            settings = graph_settings(each, 0, loaded.batch_size, 1)
            evaluator = loaded.evaluator
            bare = search_run(MIDDLE_GAME, evaluator, settings.config, playouts, solver=settings.solver)
            bench = search_run(MIDDLE_GAME, evaluator, PuctConfig(batch_size=1), playouts)
            answers: list[str] = []
            engine = AnalysisEngine(
                partial(Searchers, loaded, each, 1),
                partial(_same, each),
                answers.append,
                playouts=playouts,
                most_waiting=100,
            )
            with Seconds() as seconds:
                for number in range(queries):
                    engine.receive(json.dumps({"id": str(number), "sfen": MIDDLE_GAME}))
                engine.finish()
            made = sum(json.loads(answer)["playouts"] for answer in answers)
            rate, bare_rate = made / seconds.cpu, bare.playouts / bare.seconds.cpu
            bench_rate = bench.playouts / bench.seconds.cpu
            print(f"{name}: engine {rate:.0f}, bare search {bare_rate:.0f}, goryu bench {bench_rate:.0f}")
            ratios.setdefault(f"{name}, over the same search", []).append(rate / bare_rate)
            ratios.setdefault(f"{name}, over goryu bench", []).append(rate / bench_rate)
    for name, found in ratios.items():
        print(f"{name}: {median(found):.3f} ({min(found):.3f} .. {max(found):.3f})")


def _same(config: EngineConfig, _options: object) -> EngineConfig:
    return config


def measure_load(queries: int, playouts: int) -> None:
    """Sends queries, cancels and faults; prints what came back, and the memory of the process over time."""
    rng = Random(1)
    process = subprocess.Popen(
        [sys.executable, "-m", "goryu", "analysis", "--playouts", str(playouts)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    wanted: Counter[str] = Counter()
    final: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    megabytes: list[int] = []

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answer = json.loads(line)
            if "action" in answer or answer.get("is_during_search"):
                kinds["action" if "action" in answer else "report"] += 1
                continue
            kinds[
                "error" if "error" in answer else "cancelled" if answer["is_cancelled"] else "analysis"
            ] += 1
            final[str(answer["id"])] += 1
            if sum(final.values()) % (queries // 10) == 0:
                megabytes.append(resident_megabytes(process.pid))

    reader = threading.Thread(target=read)
    reader.start()
    began = time.monotonic()
    moves = MOVES.split()
    for number in range(queries):
        name = str(number)
        if rng.random() < 0.1:
            text = rng.choice(BAD)
            wanted[name if "%s" in text else "None"] += 1
            line = text.replace("%s", name)
        else:
            turn = rng.randint(0, len(moves))
            turns = list(range(turn, min(turn + rng.randint(1, 3), len(moves) + 1)))
            wanted[name] += len(turns)
            query = {"id": name, "moves": moves, "analyze_turns": turns, "priority": rng.randint(0, 2)}
            if rng.random() < 0.1:
                query |= {"playouts": 10_000_000, "report_every_ms": 50}  # Only a cancel ends it.
                threading.Timer(rng.random(), terminate, (process, name)).start()
            line = json.dumps(query)
        send(process, line)
    for timer in threading.enumerate():
        if isinstance(timer, threading.Timer):
            timer.join()
    send(process, '{"id": "all", "action": "version"}')
    process.stdin.close()
    reader.join()
    print(f"status {process.wait()}, {time.monotonic() - began:.0f} s, answers: {dict(kinds)}")
    print(f"one final answer for everything asked: {wanted == final}; memory in MB: {megabytes}")


_writing = threading.Lock()


def send(process: "subprocess.Popen[bytes]", line: str) -> None:
    """Writes a line to the engine, from any thread."""
    assert process.stdin is not None
    with _writing:
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()


def terminate(process: "subprocess.Popen[bytes]", name: str) -> None:
    """Cancels a query."""
    send(process, json.dumps({"id": f"end {name}", "action": "terminate", "terminate_id": name}))


def resident_megabytes(pid: int) -> int:
    """Returns the memory of a process, on Linux."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 >> 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("rate", "load"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=0)
    parser.add_argument("--playouts", type=int, default=400)
    args = parser.parse_args()
    if args.what == "rate":
        measure_rate(args.rounds, args.playouts, args.queries or 20)
    else:
        measure_load(args.queries or 1000, args.playouts)


if __name__ == "__main__":
    main()
