"""Every value of the option Algorithm in sessions of a real process, as a GUI plays them.

The rules for all sessions (`conftest.py`) hold here too, with cshogi as the referee.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from goryu.players.agents.usi_traits import USI_TRAITS

if TYPE_CHECKING:
    from tests.acceptance.conftest import Engine, Pool

NUMBERS = {
    "gumbel": r"info depth \d+ seldepth \d+ time \d+ nodes \d+ nps \d+ score \S+ -?\d+ pv .*",
    "uct": r"info depth \d+ seldepth \d+ time \d+ nodes \d+ nps \d+ hashfull \d+ score \S+ -?\d+ pv .*",
    "flat-mc": r"info depth 1 time \d+ nodes \d+ nps \d+ score \S+ -?\d+ pv \S+",
    "alpha-beta": r"info depth \d+ time \d+ nodes \d+ nps \d+ score \S+ -?\d+ pv .*",
    "value": r"info depth 1 time \d+ nodes \d+ nps \d+ score \S+ -?\d+ pv \S+",
    "policy": r"info time \d+ nodes 1 nps \d+ score cp -?\d+ pv \S+",
    "mcts-player": r"info depth \d+ seldepth \d+ time \d+ nodes \d+ nps \d+ hashfull \d+ score cp .*",
    "random": r"info time \d+ pv \S+",
}
"""The info line of each algorithm has the numbers that it knows, and no others."""

COLUMNS = {
    "gumbel": r"move_count: *\d+ nn_rate:0\.\d{5} win_rate:(0\.\d{5}|untried)",
    "uct": r"move_count: *\d+ win_rate:([01]\.\d{5}|untried)",
    "flat-mc": r"move_count: *\d+ win_rate:([01]\.\d{5}|untried)",
    "alpha-beta": r"win_rate:0\.\d{5}",
    "value": r"win_rate:0\.\d{5}",
    "mcts-player": r"move_count: *\d+ nn_rate:[01]\.\d{5} win_rate:([01]\.\d{5}|untried)",
    "policy": r"nn_rate:0\.\d{5}",
}
"""The table of moves of each algorithm."""

every_algorithm = pytest.mark.parametrize("name", USI_TRAITS)
every_other = pytest.mark.parametrize("name", NUMBERS)


@pytest.fixture(scope="module")
def mode() -> tuple[str, str]:
    """As built: which implementation of the rules the engine has makes no difference here."""
    return "", "unread"


@every_other
def test_info_lines_say_what_the_algorithm_knows(ready: Engine, name: str) -> None:
    ready.send(f"setoption name Algorithm value {name}\nposition startpos moves 7g7f\ngo byoyomi 100")
    ready.expect(NUMBERS[name])
    while (line := str(ready.next_line())).startswith("info"):
        assert re.fullmatch(NUMBERS[name], line)
    assert line.startswith("bestmove ")


@every_algorithm
def test_an_open_search_answers_once_and_only_after_stop(ready: Engine, name: str) -> None:
    ready.send(f"setoption name Algorithm value {name}\nposition startpos moves 7g7f\ngo infinite")
    ready.expect_silence(0.2)
    ready.send("stop")
    ready.expect_within("bestmove .*", 0.0, 0.3)
    ready.expect_silence(0.05, but_info=False)


@every_algorithm
def test_every_limit_ends_the_search(ready: Engine, name: str) -> None:
    ready.send(f"setoption name Algorithm value {name}\nposition startpos moves 7g7f 3c3d")
    # The Python implementation needs a second for the 31 games that reach the second ply.
    depth_s = 5.0 if name == "uct" else 2.0
    for limit, most_s in (
        *(("nodes 25", 2.0), ("depth 2", depth_s), ("movetime 50", 2.0), ("rtime 20", 2.0)),
        ("btime 0 wtime 0 byoyomi 100", 0.3),
    ):
        ready.send(f"go {limit}")
        ready.expect_within("bestmove .*", 0.0, most_s)


@pytest.mark.parametrize("name", ["gumbel", "random"])
def test_go_mate_is_answered_by_the_mate_search(ready: Engine, name: str) -> None:
    ready.send(f"setoption name Algorithm value {name}\nposition sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1")
    ready.send("go mate 1000")
    ready.expect("checkmate G\\*5b")


@pytest.mark.parametrize(
    "name, nodes", [("alpha-beta", 2000), ("uct", 12), ("flat-mc", 12), ("value", 100), ("gumbel", 40)]
)
def test_several_lines_have_falling_scores(ready: Engine, name: str, nodes: int) -> None:
    ready.send(f"setoption name Algorithm value {name}\nsetoption name MultiPV value 3")
    ready.send(f"setoption name PvInterval value 0\nposition startpos moves 7g7f 3c3d\ngo nodes {nodes}")
    lines: dict[int, str] = {}
    while (line := ready.next_line()) is not None and not line.startswith("bestmove"):
        if found := re.match(r"info multipv (\d)", line):
            lines[int(found[1])] = line
    assert sorted(lines) == [1, 2, 3]
    scores = [int(line.split(" score cp ")[1].split()[0]) for line in lines.values()]
    assert scores[1] >= scores[2]


@pytest.mark.parametrize("name, order", [(name, "visits") for name in NUMBERS] + [("uct", "moves")])
def test_the_table_of_moves_is_that_of_the_book(ready: Engine, name: str, order: str) -> None:
    ready.send(f"setoption name Algorithm value {name}\nsetoption name DebugMessage value true")
    ready.send(f"setoption name DebugMessage_Order value {order}\nposition startpos")
    ready.send(f"go nodes {100 if name == 'value' else 12}")
    numbers, counts = [], []
    while (line := ready.next_line()) is not None and not line.startswith("bestmove"):
        if found := re.fullmatch(r"info string +(\d+):(\S+) +(.*)", line):
            assert re.fullmatch(COLUMNS[name], found[3])
            numbers.append(int(found[1]))
            counts.append(int(count[1]) if (count := re.search(r"move_count: *(\d+)", line)) else 0)
    assert len(numbers) == {"alpha-beta": 1, "random": 0}.get(name, 30)
    assert sorted(numbers) == [*range(len(numbers))]
    assert (numbers if order == "moves" else [-count for count in counts]) == sorted(
        numbers if order == "moves" else [-count for count in counts]
    )


def test_the_algorithm_may_change_between_moves(ready: Engine) -> None:
    ready.send("position startpos")
    for name in (*USI_TRAITS, "puct"):
        ready.send(f"setoption name Algorithm value {name}\ngo nodes 30")
        ready.expect("bestmove .*")
        ready.send("tree 1")
        ready.expect(r"info string \S+ .*pv .*")


def test_the_graph_of_an_algorithm_without_one_is_refused(ready: Engine) -> None:
    ready.send("setoption name Algorithm value uct\nposition startpos\ngo nodes 5")
    ready.expect("bestmove .*")
    ready.send("tree /nonexistent/x.json")
    ready.expect("info string tree: Algorithm uct has no graph; only puct has one")


def test_the_command_line_chooses_the_algorithm(pool: Pool) -> None:
    with pool.start([sys.executable, "-m", "goryu", "usi", "--algorithm", "alpha-beta"]) as engine:
        engine.algorithm = "alpha-beta"
        engine.prelude()
        assert engine.offered[0].endswith(" alpha-beta")
        offered = "option name Algorithm type combo default alpha-beta "
        assert any(line.startswith(offered) for line in engine.offered)
        engine.reset()  # A GUI sends every default back.
        engine.algorithm = "alpha-beta"
        engine.send("getoption Algorithm")
        engine.expect("info string Algorithm = alpha-beta")
        engine.send("position startpos\ngo depth 2")
        engine.expect(NUMBERS["alpha-beta"])
        engine.expect("bestmove .*")
