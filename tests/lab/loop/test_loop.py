"""Self-play, training and matches at the same time, with a stub in place of a network."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goryu.base.errors import InputError
from goryu.evaluators.uniform import UniformEvaluator
from goryu.search.evaluator import Evaluator
from goryu_lab.loop.config import LoopConfig
from goryu_lab.loop.folder import LoopFolder
from goryu_lab.loop.gate import Gate, GateConfig
from goryu_lab.loop.loop import LoopEvent, finite_elo, run_loop
from goryu_lab.loop.players import PlayersJob, PlayTask
from goryu_lab.loop.window import WindowRule, newest, positions_needed
from goryu_lab.match.match_statistics import MatchStatistics
from goryu_lab.records.json_lines import JsonLines, read_lines
from goryu_lab.work.seam import LocalFile, Task
from goryu_lab.work.threads import ThreadPool
from paths import ROOT
from rehearsal_game import RehearsalGame


def katago_shuffle(rows: int, min_rows: int, expand_per_row: float, exponent: float) -> int:
    """Returns the size of the window as KataGo's python/shuffle.py computes it, for a run of `rows`."""
    offset = min_rows
    grown = (rows - min_rows + offset) ** exponent - offset**exponent
    return int(grown / (exponent * offset ** (exponent - 1)) * expand_per_row + min_rows)


def test_the_window_has_the_size_of_katagos_shuffler() -> None:
    for rows in [250_000, 300_000, 1_000_000, 20_000_000, 241_000_000]:
        for growth, exponent in [(0.4, 0.75), (0.4, 0.65)]:
            rule = WindowRule(250_000, growth, exponent)
            assert rule.size(rows) == pytest.approx(katago_shuffle(rows, 250_000, growth, exponent), abs=1)


def test_a_window_is_the_last_whole_files() -> None:
    rng = Random(1)
    for _ in range(200):
        sizes = [rng.randrange(50) for _ in range(rng.randrange(12))]
        wanted = rng.randrange(1, 300)
        count = newest(sizes, wanted)
        last = sizes[len(sizes) - count :]
        assert sum(last) >= wanted or count == len(sizes)
        assert sum(last[1:]) < wanted


def test_the_training_never_outruns_its_share_of_games() -> None:
    for number in range(1, 50):
        needed = positions_needed(number, 1000, 4.0, 600)
        assert number * 1000 <= 4.0 * needed
        assert needed == 600 or number * 1000 > 4.0 * (needed - 1)


def test_the_order_in_which_pairs_arrive_does_not_change_a_verdict() -> None:
    rng = Random(2)
    for _ in range(5):
        points = {n: (float(rng.random() < 0.7), float(rng.random() < 0.6)) for n in range(40)}
        verdicts = set()
        for _ in range(5):
            gate = Gate(GateConfig(match_limit=80), 1, 0)
            for number in rng.sample(sorted(points), len(points)):
                gate.add(number, points[number])
            assert gate.verdict is not None
            verdicts.add((gate.verdict.is_promoted, gate.verdict.statistics.pentanomial))
        assert len(verdicts) == 1


def test_a_match_that_is_all_draws_promotes_nobody() -> None:
    gate = Gate(GateConfig(match_limit=60), 1, 0)
    while (pair := gate.next_pair()) is not None:
        gate.add(pair, (0.5, 0.5))
    assert gate.verdict is not None
    assert not gate.verdict.is_promoted


@pytest.mark.parametrize("points, is_promoted", [((1.0, 0.5), True), ((0.5, 0.0), False)])
def test_a_clear_match_ends_before_its_limit(points: tuple[float, float], is_promoted: bool) -> None:
    gate = Gate(GateConfig(match_limit=1000), 1, 0)
    while (pair := gate.next_pair()) is not None:
        gate.add(pair, points)
    assert gate.verdict is not None
    assert (gate.verdict.is_promoted, gate.verdict.by) == (is_promoted, "sprt")
    assert gate.verdict.statistics.pairs < 500
    assert not gate.add(499, points)  # It comes too late.


@pytest.mark.parametrize("wins", range(8, 18))
def test_a_match_at_its_limit_goes_to_the_likelier_hypothesis(wins: int) -> None:
    """24.9 Elo is half way between the hypotheses, 0 and 50: 0.536 points a game."""
    gate = Gate(GateConfig(match_limit=40), 1, 0)
    for number in range(20):
        gate.add(number, (0.5, 1.0 if number * wins % 20 < wins else 0.0))
    assert gate.verdict is not None
    assert gate.verdict.by == "limit"
    assert gate.verdict.is_promoted == (gate.verdict.statistics.score > 0.536)


def test_a_match_whose_limit_was_lowered_ends() -> None:
    """The first pair ends last, when more than the limit have been played."""
    gate = Gate(GateConfig(match_limit=10), 1, 0)
    for number in (1, 2, 3, 4, 5, 6, 7, 0):
        gate.add(number, (1.0, 0.0))
    assert gate.verdict is not None
    assert (gate.verdict.by, gate.verdict.statistics.pairs) == ("limit", 5)


def test_a_match_won_by_all_points_has_a_finite_elo() -> None:
    elo, error = finite_elo(MatchStatistics((0, 0, 0, 0, 20)))
    assert 400 < elo < 1000
    assert 0 < error < 1000


def test_half_a_line_at_the_end_of_a_file_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a":1}\n{"a":')
    assert list(read_lines(path)) == [{"a": 1}]
    lines = JsonLines(path)
    lines.write([{"a": 2}, {"a": 3}])
    lines.close()
    assert [value["a"] for value in read_lines(path)] == [1, 2, 3]


CONFIG = LoopConfig(5, 2.0, WindowRule(100), GateConfig(match_limit=20), at_once=3)


def run(folder: Path, game: RehearsalGame | None = None, config: LoopConfig = CONFIG) -> Iterator[LoopEvent]:
    return run_loop(game or RehearsalGame(), config, folder, lambda: ThreadPool(2), lambda: ThreadPool(1))


def games_of(folder: Path) -> list[Any]:
    return [game for path in sorted((folder / "games").iterdir()) for game in read_lines(path)]


def check(folder: Path, config: LoopConfig = CONFIG) -> None:
    """Checks that no game is missing or there twice, and that every window is what the rule says."""
    numbers = sorted(game["number"] for game in games_of(folder))
    in_progress = 2 * 2 * config.at_once
    assert len(set(numbers)) == len(numbers)
    assert numbers[-1] < len(numbers) + in_progress
    sizes = [
        sum(len(game["moves"]) for game in read_lines(path)) for path in sorted((folder / "games").iterdir())
    ]
    for number in range(1, config.cycles + 1):
        plan = json.loads((folder / "candidates" / f"{number:04}" / "plan.json").read_text())
        played = sum(sizes[:number])
        assert played >= positions_needed(
            number, RehearsalGame().samples, config.reuse, config.window.window_start
        )
        count = newest(sizes[:number], config.window.size(played))
        assert plan["files"] == list(range(number - count + 1, number + 1))


def test_the_loop_trains_tests_and_promotes(tmp_path: Path) -> None:
    events = list(run(tmp_path, RehearsalGame(worse=frozenset({2, 4}))))
    check(tmp_path)
    trained = [event.candidate for event in events if event.event == "trained"]
    assert trained == [1, 2, 3, 4, 5]
    verdicts = {event.candidate: event.entry for event in events if event.event == "verdict"}
    assert sorted(verdicts) == [1, 2, 3, 4, 5]
    tested = {number: entry for number, entry in verdicts.items() if "champion" in entry}
    assert 5 in tested
    champion = 0
    for number, entry in tested.items():
        assert entry["champion"] == champion
        assert entry["promoted"] == (number not in (2, 4))
        champion = number if entry["promoted"] else champion
    assert champion == 5
    log = list(read_lines(tmp_path / "log.jsonl"))
    assert [(entry["event"], entry["candidate"]) for entry in log] == [
        (event.event, event.candidate) for event in events
    ]
    networks = [game["network"] for game in games_of(tmp_path)]
    assert networks[0] == 0
    assert set(networks) <= {0, *(number for number, entry in verdicts.items() if entry["promoted"])}

    def no_pool() -> ThreadPool:
        raise AssertionError("a worker was asked for")

    again = run_loop(RehearsalGame(worse=frozenset({2, 4})), CONFIG, tmp_path, no_pool, no_pool)
    assert list(again) == events, "a run that is over only tells what happened"


def test_a_longer_run_continues_a_shorter_one(tmp_path: Path) -> None:
    short = list(run(tmp_path, config=replace(CONFIG, cycles=2)))
    before = games_of(tmp_path)
    both = list(run(tmp_path))
    assert both[: len(short)] == short
    assert games_of(tmp_path)[: len(before)] == before
    check(tmp_path)


def test_without_a_match_every_candidate_is_promoted(tmp_path: Path) -> None:
    events = list(run(tmp_path, config=replace(CONFIG, gate=GateConfig(match_limit=0))))
    verdicts = [event for event in events if event.event == "verdict"]
    assert [event.candidate for event in verdicts if event.entry["promoted"]][-1] == 5
    assert all("elo" not in event.entry for event in verdicts)


def test_an_error_of_the_training_ends_the_run(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Breaking(RehearsalGame):
        def train(self, number: int, *rest: Any) -> dict[str, float]:
            if number == 2:
                raise RuntimeError("no memory for the batch")
            return super().train(number, *rest)

    with pytest.raises(RuntimeError, match="no memory for the batch"):
        list(run(tmp_path, Breaking()))
    list(run(tmp_path))
    check(tmp_path)


def test_the_folder_of_another_loop_is_refused(tmp_path: Path) -> None:
    list(run(tmp_path, config=replace(CONFIG, cycles=1)))
    with pytest.raises(InputError, match="expected other's loop"):
        list(run(tmp_path, RehearsalGame(name="other")))


def test_a_damaged_file_of_a_run_is_named(tmp_path: Path) -> None:
    list(run(tmp_path))
    names: tuple[str, ...] = ("loop.json", "log.jsonl", "clock.json", "games/0001.jsonl")
    names += ("candidates/0001/trained.json", "candidates/0001/verdict.json")
    for name in names:
        content = (tmp_path / name).read_bytes()
        for damage in (b"\xff\n", b"[" * 10_000 + b"\n", b"{}\n", b"null\n"):
            if (name, damage) != ("candidates/0001/trained.json", b"{}\n"):  # It is only copied to the log.
                (tmp_path / name).write_bytes(damage)
                with pytest.raises(InputError, match="expected"):
                    LoopFolder(tmp_path, RehearsalGame())
        (tmp_path / name).write_bytes(content)
    assert LoopFolder(tmp_path, RehearsalGame()).champion == 5


def test_a_worker_evaluates_the_positions_of_each_network_together(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []

    class Counting(RehearsalGame):
        def open(self, network: Path, batch_size: int, worker: int = 0) -> Evaluator:
            number = int(network.read_text())

            class Counted(UniformEvaluator):
                def evaluate(self, states: Sequence[Any]) -> list[Any]:
                    calls.append((number, len(states)))
                    return super().evaluate(states)

            return Counted()

    class Inbox:
        index, is_closed = 0, False

        def __init__(self) -> None:
            self.tasks: list[Task] = []
            for network in (3, 4):
                (tmp_path / str(network)).write_text(str(network))
                place = LocalFile(tmp_path / str(network))
                self.tasks += [(10 * network + i, PlayTask(i, network, place)) for i in range(4)]

        def take(self, *, wait: bool) -> Task | None:
            return self.tasks.pop() if self.tasks else None

        def on_close(self, call: Any) -> None: ...

    results = dict(PlayersJob(Counting(), 8).work(Inbox()))
    assert sorted(results) == [30, 31, 32, 33, 40, 41, 42, 43]
    assert calls[:2] == [(4, 4), (3, 4)]
    assert results[30]["moves"] == results[40]["moves"]


DRIVER = """
import sys
from pathlib import Path
from goryu_lab.loop.gate import GateConfig
from goryu_lab.loop.loop import LoopConfig, run_loop
from goryu_lab.loop.window import WindowRule
from goryu_lab.work.processes import ProcessPool

sys.path.append(sys.argv[2])
from rehearsal_game import RehearsalGame

if __name__ == "__main__":
    game = RehearsalGame(frozenset({2}), 0.05)
    config = LoopConfig(5, 2.0, WindowRule(100), GateConfig(match_limit=20), at_once=3)
    list(run_loop(game, config, Path(sys.argv[1]), lambda: ProcessPool(2), lambda: ProcessPool(1)))
"""


@pytest.mark.slow
def test_a_driver_that_is_killed_again_and_again_ends_with_every_game_once(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    folder = tmp_path / "loop"
    rng = Random(3)
    kills, grown = 0, False
    while True:
        driver = subprocess.Popen(
            [sys.executable, str(script), str(folder), str(ROOT / "tests" / "helpers")],
            stderr=subprocess.PIPE,
        )
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        wanted = size + rng.randrange(200, 4000)
        while driver.poll() is None and kills < 12:
            with suppress(FileNotFoundError):  # The driver renames files meanwhile.
                grown = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) > wanted
            if grown:
                driver.send_signal(signal.SIGKILL)
            time.sleep(0.002)
        _, errors = driver.communicate()
        if driver.returncode == 0:
            break
        assert driver.returncode == -signal.SIGKILL, errors.decode()
        kills += 1
    assert kills
    check(folder)
    log = list(read_lines(folder / "log.jsonl"))
    names = [(entry["event"], entry["candidate"]) for entry in log]
    assert len(set(names)) == len(names) == 10
    assert LoopFolder(folder, RehearsalGame()).champion == 5
