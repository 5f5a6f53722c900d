"""The native search against the Python search: whole graphs, node by node and bit by bit."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.machinery import ExtensionFileLoader
from itertools import pairwise
from random import Random
from struct import pack
from threading import Thread, current_thread, main_thread
from time import sleep
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from boards import played
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.network.model_files import ModelError, models_folder
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.reversi import Reversi
from goryu.games.shogi import Board, EnteringKingRule, Rules, move_from_usi
from goryu.games.state import Move, Outcome, State
from goryu.games.tictactoe import TicTacToe
from goryu.search.evaluator import Evaluation
from goryu.search.graph import selection
from goryu.search.graph.config import Formula, PuctConfig
from goryu.search.graph.node import half
from goryu.search.graph.proof import MateSolver, Solver, no_solver
from goryu.search.graph.puct import Puct
from goryu.search.mates import mate
from goryu.search.result import SearchResult, SearchStats
from playing import never
from present import present

SHUFFLE = "4k4/9/9/9/9/9/9/R8/4K4 b - 1"
"""Few moves matter, so that paths repeat and merge often."""

CHECKS = "l3k4/3R5/2p1p4/9/9/9/4PP3/4K4/L8 b RG2b3s4n 1"
"""Mates and escapes everywhere."""

BATTLE = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"

NARROW = PuctConfig(Formula(c_init=1.0), Formula(c_init=1.2, fpu_reduction=0.1))
"""Less exploration than usual, so that the graph is deep."""

FULL = PuctConfig(batch_size=8, capacity=60, draw_value=-0.25, final_move="visits")

DEEP = PuctConfig(Formula(c_init=1.0))


@pytest.fixture(autouse=True)
def _is_compiled(native: ModuleType) -> None:
    """Comparing Python with Python would prove nothing."""
    assert native.__spec__ is not None
    assert isinstance(native.__spec__.loader, ExtensionFileLoader)


THREATENED = "p1s2g1nl/kn+R2s3/lp5p1/2pBp1p2/1n1p5/2P1P4/2SR2PPb/2G1G1SL1/1N4K2 w GL2P5p 1"
"""After 54 of White's 60 moves Black mates in five."""


class Pair:
    """One search on both implementations, compared after each step."""

    def __init__(
        self, native: ModuleType, make: Callable[[Any], State], config: PuctConfig, solver: Solver = no_solver
    ) -> None:
        """make: returns the game, given a namespace with Board, Reversi and TicTacToe."""
        self.puct = Puct(HashedEvaluator(), config, solver)
        self.twin = native.Puct(HashedEvaluator(), config, solver)
        self.state, self.native_state = make(PythonGames), make(NativeGames(native))

    def play(self, moves: Sequence[Move]) -> None:
        for move in moves:
            self.state.push(move)
            self.native_state.push(move)

    def search(self, playouts: int, root_moves: Sequence[Move] | None = None) -> SearchResult:
        limits: Any = {"max_playouts": playouts, "root_moves": root_moves}
        result = self.puct.search(self.state, never, **limits)
        assert self.twin.search(self.native_state, never, **limits) == result
        assert self.twin.result(3) == self.puct.result(3)
        assert_same_graph(self.twin, self.puct)
        return result


class PythonGames:
    Board, Reversi, TicTacToe = Board, Reversi, TicTacToe


class NativeGames:
    def __init__(self, native: ModuleType) -> None:
        self.Board, self.Reversi, self.TicTacToe = native.Board, native.Reversi, TicTacToe


def facts(node: Any) -> dict[str, Any]:
    """Everything about a node, floats as their bits."""
    return {
        **{name: getattr(node, name) for name in ("key", "ply", "total_visits", "raw_visits", "tried")},
        **{name: getattr(node, name) for name in ("in_flight", "proof", "distance", "is_complete")},
        **{name: list(getattr(node, name)) for name in ("moves", "priors", "visits", "pending", "proofs")},
        **{name: float(getattr(node, name)).hex() for name in ("value", "variance", "tried_prior")},
        **{name: float(getattr(node, name)).hex() for name in ("raw_value", "raw_variance")},
        "values": [value.hex() for value in node.values],
        "children": [child.key if child is not None else None for child in node.children],
        "repetitions": {
            i: (end.visits, end.value_sum.hex(), end.square_sum.hex()) for i, end in node.repetitions.items()
        },
    }


def assert_same_graph(twin: Any, puct: Puct) -> None:
    assert len(twin.table) == len(puct.table)
    assert twin.table.memory.bytes_used == puct.table.memory.bytes_used
    expected = {node.key: node for node in puct.table}
    for node in twin.table:
        assert facts(node) == facts(expected[node.key])


def play_a_game(pair: Pair, rng: Random, searches: int, playouts: int) -> None:
    """Searches, plays on along the main line or elsewhere, and searches again."""
    for _ in range(searches):
        legal = pair.state.legal_moves()
        wanted = rng.sample(legal, min(3, len(legal))) if rng.random() < 0.2 else None
        result = pair.search(rng.randint(1, playouts), wanted)
        line = list(result.moves[0].pv[:2])
        pair.play(line if rng.random() < 0.7 else [rng.choice(legal)])
        if pair.state.outcome() is not None or not pair.state.legal_moves():
            break


GAMES: dict[str, Callable[[Any], State]] = {
    "tic-tac-toe": lambda games: games.TicTacToe(),
    "reversi": lambda games: games.Reversi(),
    "reversi 4x4": lambda games: games.Reversi(4),
    "shogi": lambda games: games.Board(),
    "shogi, shuffle": lambda games: games.Board(SHUFFLE),
    "shogi, checks": lambda games: games.Board(CHECKS),
    "shogi, battle": lambda games: games.Board(BATTLE, Rules(all_moves=False, max_ply=12)),
}


@pytest.mark.parametrize(
    ("game", "config", "solver", "searches", "playouts"),
    [
        *((game, PuctConfig(batch_size=size), no_solver, 3, 80) for game in GAMES for size in (1, 8)),
        ("shogi, checks", replace(DEEP, batch_size=4), MateSolver(40), 2, 60),
        ("shogi, battle", replace(DEEP, batch_size=4), MateSolver(8), 2, 60),
        ("shogi, checks", DEEP, MateSolver(0, 8), 2, 200),  # Second looks.
        ("shogi, battle", replace(DEEP, batch_size=4), MateSolver(0, 8), 2, 200),
        *((game, FULL, no_solver, 4, 150) for game in ("tic-tac-toe", "reversi 4x4", "shogi, checks")),
        ("shogi, shuffle", FULL, no_solver, 4, 150),
    ],
)
def test_the_graphs_of_a_game_are_equal(
    native: ModuleType, game: str, config: PuctConfig, solver: Solver, searches: int, playouts: int
) -> None:
    play_a_game(Pair(native, GAMES[game], config, solver), Random(f"{game}"), searches, playouts)


@pytest.mark.parametrize("batch_size", [1, 4, 16])
def test_mates_found_by_second_looks_are_equal(native: ModuleType, batch_size: int) -> None:
    config = replace(DEEP, batch_size=batch_size)
    result = Pair(native, lambda games: games.Board(THREATENED), config, MateSolver(0, 8)).search(400)
    assert sum(move.mate is not None for move in result.moves) > 2


def test_a_solver_in_python_is_asked_again(native: ModuleType) -> None:
    asked: dict[str, list[tuple[int, int]]] = {"python": [], "native": []}

    def solver_of(name: str) -> Solver:
        def solver(state: State, visits: int) -> tuple[Move, ...]:
            asked[name].append((state.key, visits))
            return ()

        return solver

    config = PuctConfig(Formula(c_init=0.5), batch_size=4)
    Puct(HashedEvaluator(), config, solver_of("python")).search(Reversi(), never, max_playouts=300)
    native.Puct(HashedEvaluator(), config, solver_of("native")).search(Reversi(), never, max_playouts=300)
    assert asked["native"] == asked["python"]
    assert max(visits for _, visits in asked["native"]) >= 32


@pytest.mark.parametrize("game", ["shogi, checks", "shogi, battle"])
def test_the_graphs_are_equal_when_mates_are_entered(native: ModuleType, game: str) -> None:
    pair = Pair(native, GAMES[game], PuctConfig(batch_size=2))
    entered = 0
    for _ in range(2):
        line = pair.search(40).moves[0].pv
        for i in range(len(line) + 1):
            board, twin = pair.state.copy(), pair.native_state.copy()
            for move in line[:i]:
                board.push(move)
                twin.push(move)
            assert isinstance(board, Board)
            found = mate.solve(board, 300).moves
            if found:
                is_entered = pair.puct.add_mate(board, found)
                assert pair.twin.add_mate(twin, found) == is_entered
                assert_same_graph(pair.twin, pair.puct)
                entered += is_entered
        assert pair.twin.stats() == pair.puct.stats()
        pair.play(pair.search(40).moves[0].pv[:1])
        if pair.state.outcome() is not None:
            break
    assert entered > 0


@pytest.mark.parametrize("first_recurrence", [True, False])
def test_the_graphs_are_equal_where_paths_repeat(native: ModuleType, first_recurrence: bool) -> None:
    rules = Rules(EnteringKingRule.TryRule, max_ply=40, first_recurrence=first_recurrence)
    config = PuctConfig(Formula(c_init=0.6), draw_value=0.1)
    pair = Pair(native, lambda games: games.Board(SHUFFLE, rules), config)
    for _ in range(3):
        pair.play([present(pair.search(400).move)])
    has_repetitions = any(node.repetitions for node in pair.puct.table)
    assert has_repetitions or not first_recurrence, "the search has met repetitions"


def random_pair(native: ModuleType, rng: Random) -> Pair:
    """A pair on a random position of a random game with a random config."""
    config = PuctConfig(
        formula=rng.choice([Formula(c_init=0.8), Formula(fpu_reduction=0.0), NARROW.formula]),
        batch_size=rng.choice([1, 2, 8, 33]),
        capacity=rng.choice([40, 200, 100_000]),
        capacity_bytes=rng.choice([10_000, 60_000, 1 << 60]),
        draw_value=rng.choice([0.0, 0.3, -0.2]),
        final_move=rng.choice(["lcb", "visits"]),
    )
    solver = MateSolver(rng.choice([0, 8, 40]), rng.choice([0, 1, 4]))
    pair = Pair(native, GAMES[rng.choice(list(GAMES))], config, solver)
    for _ in range(rng.randint(0, 30)):
        pair.play([rng.choice(pair.state.legal_moves())])
        if pair.state.outcome() is not None:
            pair.state.pop()
            pair.native_state.pop()
            break
    return pair


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 24), marks=pytest.mark.slow)], ids=str)
def test_the_graphs_from_random_positions_are_equal(native: ModuleType, seeds: range) -> None:
    for seed in seeds:
        rng = Random(seed)
        play_a_game(random_pair(native, rng), rng, searches=3, playouts=150)


@pytest.mark.parametrize("batch_size", [1, 8])
@pytest.mark.parametrize("game", ["shogi, checks", "shogi, shuffle", "reversi 4x4"])
def test_the_graphs_are_equal_when_evaluations_are_limited(
    native: ModuleType, game: str, batch_size: int
) -> None:
    pair = Pair(native, GAMES[game], PuctConfig(batch_size=batch_size))
    for evaluations in (40, 0, 61):
        limits: Any = {"max_playouts": 500, "max_evaluations": evaluations}
        result = pair.puct.search(pair.state, never, **limits)
        assert pair.twin.search(pair.native_state, never, **limits) == result
        assert result.stats.evaluations == evaluations
        assert_same_graph(pair.twin, pair.puct)


def test_several_threads_make_exactly_the_evaluations_that_they_may(native: ModuleType) -> None:
    twin = native.Puct(Sleeping(), PuctConfig(batch_size=4), MateSolver(2), 3)
    for evaluations in (300, 7):
        stats = twin.search(native.Board(), never, max_evaluations=evaluations).stats
        assert stats.evaluations == evaluations


@pytest.mark.parametrize("game", ["shogi, checks", "reversi", "tic-tac-toe"])
def test_python_states_and_evaluators_give_the_same_graph(native: ModuleType, game: str) -> None:
    """The four ways to run: rules and evaluator each in Python or native."""

    class Subclass(HashedEvaluator):
        """Not exactly the stub, so it is called instead of imitated."""

    config, solver = PuctConfig(batch_size=4), MateSolver(10)
    puct = Puct(HashedEvaluator(), config, solver)
    expected = puct.search(GAMES[game](PythonGames), never, max_playouts=80)
    for games in (PythonGames, NativeGames(native)):
        for evaluator in (HashedEvaluator(), Subclass()):
            twin = native.Puct(evaluator, config, solver)
            assert twin.search(GAMES[game](games), never, max_playouts=80) == expected
            assert_same_graph(twin, puct)


GROWN = PuctConfig(Formula(c_init=1.0), Formula(c_init=0.7, fpu_reduction=0.1), batch_size=4)


@pytest.fixture(scope="module", params=[GROWN, NARROW], ids=["default", "narrow"])
def grown(native: ModuleType, request: pytest.FixtureRequest) -> tuple[Any, Puct]:
    pair = Pair(native, lambda games: games.Board(CHECKS), request.param)
    pair.search(300)
    return pair.twin, pair.puct


def test_the_formula_gives_the_same_numbers_and_choices(grown: tuple[Any, Puct]) -> None:
    twin, puct = grown
    views = {node.key: node for node in twin.table}
    for node in puct.table:
        if not node.moves:
            continue
        view = views[node.key]
        for is_root in (False, True):
            formula = puct.config.root_formula if is_root else puct.config.formula
            certain = {i for i in range(node.tried) if is_root and (node.proofs[i] or i in node.repetitions)}
            assert twin.select(view, is_root) == selection.select(node, formula, certain)
            assert twin.untried_value(view, is_root) == selection.untried_value(node, formula)
        for i in range(node.tried):
            if node.visits[i]:
                assert view.edge_value(i) == node.edge_value(i)


def test_exploration_is_equal_for_small_and_huge_visit_counts(grown: tuple[Any, Puct]) -> None:
    twin, puct = grown
    rng = Random(3)
    for visits in [*range(1, 3000), *(rng.randrange(1, 1 << 32) for _ in range(3000))]:
        for is_root in (False, True):
            formula = puct.config.root_formula if is_root else puct.config.formula
            assert twin.exploration(visits, is_root) == selection.exploration(visits, formula)


def test_halves_are_rounded_as_struct_rounds_them(native: ModuleType) -> None:
    rng = Random(1)
    between = [(half(h) + half(h + step)) / 2 for h in (0.3, 2e-5, 6e-8) for step in (2e-4, 6e-8)]
    for x in [
        0.0, 1.0, 2.0**-14, 2.0**-24, 2.0**-25, 65504.0, *between,
        *(rng.random() ** 9 for _ in range(20_000)),
    ]:  # fmt: skip
        assert pack("d", native.half(x)) == pack("d", half(x)), x.hex()


@pytest.mark.parametrize("sfen", [None, BATTLE])
def test_the_table_holds_little_more_memory_than_it_counts(native: ModuleType, sfen: str | None) -> None:
    twin = native.Puct(HashedEvaluator(), PuctConfig(batch_size=16, capacity_bytes=2 << 20))
    for playouts in (5_000, 30_000, 30_000):
        twin.search(native.Board(sfen) if sfen else native.Board(), never, max_playouts=playouts)
        nodes = list(twin.table)
        counted = sum(72 + 4 * len(node.moves) + 16 * node.tried for node in nodes)
        assert twin.table.memory.bytes_used == counted + 128 * sum(len(node.repetitions) for node in nodes)
        assert twin.table.memory.bytes_used <= 2.1 * 2**20
        assert twin.table.memory.bytes_held <= 1.25 * (2 << 20)
    assert sum(move.visits for move in twin.result().moves) == 65_000


class Failing:
    """Evaluates like the hashed stub until it breaks."""

    def __init__(self, calls: int, error: Callable[[int], Any]) -> None:
        self.calls, self.error = calls, error

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        self.calls -= 1
        evaluations = HashedEvaluator().evaluate(states)
        return evaluations if self.calls >= 0 else self.error(len(evaluations))


def raise_error(count: int) -> Any:
    raise RuntimeError("the device is gone")


BROKEN: dict[str, tuple[Callable[[int], Any], type[Exception]]] = {
    "raises": (raise_error, RuntimeError),
    "too few": (lambda count: [], ValueError),
    "no policy": (lambda count: [Evaluation([], 0.0)] * count, ValueError),
    "not a number": (lambda count: [Evaluation([float("nan")], 0.0)] * count, ValueError),
    "nonsense": (lambda count: [None] * count, AttributeError),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_an_evaluator_that_fails_leaves_nothing_in_flight(native: ModuleType, kind: str) -> None:
    twin = native.Puct(Failing(30, BROKEN[kind][0]), PuctConfig(batch_size=8))
    with pytest.raises(BROKEN[kind][1]):
        twin.search(native.Board(), never, max_playouts=2000)
    assert_settled(twin)
    twin.evaluator = HashedEvaluator()
    assert twin.search(native.Board(), never, max_playouts=100).stats.playouts == 100
    assert_settled(twin)


def assert_settled(twin: Any) -> None:
    for node in twin.table:
        assert node.in_flight == 0
        assert not any(node.pending)
        assert node.total_visits == node.raw_visits + sum(node.visits)


class Tripping(TicTacToe):
    """Fails at a certain move, wherever it is met, and at any that is not legal."""

    def push(self, move: Move) -> None:
        assert move in self.legal_moves()
        super().push(move)

    def repetition(self) -> Outcome | None:
        if self.ply == 3 and self.move_stack[-1] == 5:
            raise RuntimeError("tripped")
        return None


@pytest.mark.parametrize("is_native", [False, True])
def test_a_state_that_fails_leaves_nothing_in_flight_and_a_result(
    native: ModuleType, is_native: bool
) -> None:
    puct: Any = (native.Puct if is_native else Puct)(HashedEvaluator(), PuctConfig(batch_size=8))
    with pytest.raises(RuntimeError, match="tripped"):
        puct.search(Tripping(), never, max_playouts=2000)
    assert len(puct.table) > 10
    assert_settled(puct)
    assert len(puct.result(9).moves) == 9


def test_an_evaluation_that_fails_at_the_root_leaves_an_empty_search(native: ModuleType) -> None:
    twin = native.Puct(Failing(0, raise_error))
    with pytest.raises(RuntimeError):
        twin.search(native.Board(), never, max_playouts=10)
    assert (twin.root, twin.result().moves) == (None, ())


def test_a_stopper_may_read_the_search_and_may_fail(native: ModuleType) -> None:
    twin = native.Puct(HashedEvaluator(), PuctConfig(batch_size=4))
    seen: list[int] = []

    def stop(stats: SearchStats) -> bool:
        seen.append(twin.result(2).stats.playouts)
        if stats.playouts > 50:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        twin.search(native.Board(), stop)
    assert seen == sorted(seen)
    assert_settled(twin)


class Sleeping(HashedEvaluator):
    """Takes its time, so that other threads get to gather."""

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        sleep(0.0002)
        return super().evaluate(states)


@pytest.mark.parametrize(
    ("game", "threads"), [("shogi, checks", 4), ("shogi, shuffle", 2), ("tic-tac-toe", 2)]
)
def test_several_threads_keep_the_graph_whole(native: ModuleType, game: str, threads: int) -> None:
    for games in (PythonGames, NativeGames(native)):
        for evaluator in (HashedEvaluator(), Sleeping()):
            config = PuctConfig(batch_size=4, capacity=60)
            twin, state = native.Puct(evaluator, config, MateSolver(2, 2), threads), GAMES[game](games)
            for _ in range(2):
                result = twin.search(state, never, max_playouts=80)
                assert result.stats.playouts == 80 or result.stats.is_exhausted
                assert_settled(twin)
                state.push(result.moves[0].move)
                if state.outcome() is not None:
                    break


def test_an_evaluator_that_fails_on_another_thread_ends_the_search(native: ModuleType) -> None:
    class FailsElsewhere(Sleeping):
        def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
            if current_thread() is not main_thread() and states[0].ply > 2:
                raise RuntimeError("the device is gone")
            return super().evaluate(states)

    twin = native.Puct(FailsElsewhere(), PuctConfig(batch_size=4), threads=3)
    with pytest.raises(RuntimeError, match="the device is gone"):
        twin.search(native.Board(), never)
    assert_settled(twin)


def test_no_thread_goes_on_when_another_cannot_be_started(
    native: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Thread] = []
    start = Thread.start

    def start_two(thread: Thread) -> None:
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(Thread, "start", start_two)
    twin = native.Puct(HashedEvaluator(), PuctConfig(batch_size=4), threads=5)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        twin.search(native.Board(), never)
    assert not any(thread.is_alive() for thread in started)
    assert_settled(twin)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not let us choose a core")
def test_an_idle_helper_leaves_the_lock_to_the_thread_that_checks_the_clock(native: ModuleType) -> None:
    looks = 0

    def look(stats: SearchStats) -> bool:
        nonlocal looks
        looks += 1
        return False

    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        twin = native.Puct(HashedEvaluator(), PuctConfig(batch_size=4), threads=2)
        board = played(native.Board("8k/9/9/8P/9/9/9/9/K6R1 b - 1"), "9i9h 1a1b")
        # White's only reply repeats, so that every playout but one is free.
        twin.search(board, look, max_playouts=100_000, root_moves=[move_from_usi("9h9i")])
    finally:
        os.sched_setaffinity(0, cores)
    assert looks > 4_000  # Of 10,000 batches.


def test_the_result_can_be_read_while_several_threads_search(native: ModuleType) -> None:
    twin = native.Puct(HashedEvaluator(), PuctConfig(batch_size=4), MateSolver(5), 3)
    twin.search(Board(CHECKS), lambda stats: twin.result(3).stats.playouts >= 150)
    assert_settled(twin)


def test_a_network_gives_the_same_graph_by_the_fast_path(native: ModuleType) -> None:
    """Planes and policies made natively (in place or not), from native boards by Python, all in Python."""
    model = models_folder() / "goryu-5x64.onnx"

    class Asked(NetworkEvaluator):
        """Not exactly a network evaluator, so its `evaluate` is called."""

    quick, unbound, asked = (
        kind(model, backend="onnxruntime", batch_size=4, temperature=1.3)
        for kind in (NetworkEvaluator, NetworkEvaluator, Asked)
    )
    assert quick.bind(quick.new_inputs(4)) is not None
    vars(unbound)["bind"] = lambda inputs: None
    config = PuctConfig(batch_size=4)
    puct = Puct(asked, config)
    expected = puct.search(Board(CHECKS), never, max_playouts=100)
    for evaluator in (asked, unbound, quick):
        twin = native.Puct(evaluator, config)
        assert twin.search(native.Board(CHECKS), never, max_playouts=100) == expected
        assert_same_graph(twin, puct)


def test_a_search_without_python_stops_to_ask_after_few_evaluations(native: ModuleType) -> None:
    network = NetworkEvaluator(models_folder() / "goryu-5x64.onnx", backend="onnxruntime", batch_size=4)
    if not network.kernel:
        pytest.skip("no kernel for this processor")
    seen: list[int] = []

    def note(stats: SearchStats) -> bool:
        seen.append(stats.evaluations)
        return False

    native.Puct(network, PuctConfig(batch_size=4)).search(native.Board(), note, max_evaluations=600)
    steps = [after - before for before, after in pairwise(seen)]
    assert max(steps) < 8 + 4, "eight, and what a batch adds"


@pytest.mark.parametrize("output", ["output_value", "output_policy"])
def test_an_answer_that_is_not_a_number_ends_the_search_and_leaves_nothing_in_flight(
    native: ModuleType, output: str
) -> None:
    network = NetworkEvaluator(models_folder() / "goryu-5x64.onnx", backend="onnxruntime", batch_size=4)
    bind, calls = network.bind, 0

    def bind_to_one_that_fails(inputs: Any) -> Any:
        bound = present(bind(inputs))
        answers = bound.outputs[output]
        run = bound.run

        def fail_at_the_tenth(count: int) -> None:
            nonlocal calls
            run(count)
            calls += 1
            if calls == 10:
                answers[count - 1] = np.nan

        vars(bound)["run"] = fail_at_the_tenth
        return bound

    vars(network)["bind"] = bind_to_one_that_fails
    puct = native.Puct(network, PuctConfig(batch_size=4))
    with pytest.raises(ModelError, match="not a number"):
        puct.search(native.Board(), never, max_playouts=100)
    assert_settled(puct)
    assert puct.search(native.Board(), never, max_playouts=100).stats.playouts == 100


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (PuctConfig(batch_size=0), "expected a batch size"),
        (PuctConfig(capacity=0), "expected room for nodes"),
        (PuctConfig(capacity_bytes=0), "expected room for nodes"),
    ],
)
def test_a_search_without_room_is_refused(native: ModuleType, config: PuctConfig, message: str) -> None:
    for search in (Puct, native.Puct):
        with pytest.raises(ValueError, match=message):
            search(HashedEvaluator(), config)


def test_a_mate_without_moves_is_refused(native: ModuleType) -> None:
    for search, board in ((Puct, Board()), (native.Puct, native.Board())):
        puct = search(HashedEvaluator())
        puct.search(board, never, max_playouts=1)
        with pytest.raises(ValueError, match="expected the moves of a mate"):
            puct.add_mate(board, [])


def test_a_search_needs_a_thread_and_takes_batches_up_to_a_limit(native: ModuleType) -> None:
    with pytest.raises(ValueError, match="at least 1 thread"):
        native.Puct(HashedEvaluator(), threads=0)
    with pytest.raises(ValueError, match=r"\[1, 4096\]"):
        native.Puct(HashedEvaluator(), PuctConfig(batch_size=4097))
