"""The player: books, changing rules, its graph, fallbacks, limits."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from threading import Timer
from time import perf_counter
from typing import Any
from unittest.mock import Mock

import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.shogi import START_SFEN, move_from_usi, move_to_usi
from goryu.games.state import State
from goryu.implementation import IMPLEMENTATION, Board, Puct, make_puct
from goryu.players.agents import presets
from goryu.players.agents.level_agent import ShogiPlayer
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig, EvaluatorConfig, Value, with_fields
from goryu.players.kept_graph import MEMORY_FACTOR
from goryu.players.levels.levels import LEVELS
from goryu.players.player import Player
from goryu.players.request import Answer, SearchControl
from goryu.players.set_up import evaluator_slot
from goryu.players.set_up.evaluator_slot import EvaluatorSlot
from goryu.players.set_up.loading import LoadedEvaluator, LoadingError, load_evaluator, load_network
from goryu.players.set_up.memory import automatic_hash_bytes
from goryu.players.set_up.model_path import model_path, read_model_options
from goryu.players.set_up.threads import usable_threads
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.mates.mate import MateVerdict
from goryu.search.result import SearchResult
from goryu.usi.option_values import OptionValues
from goryu_lab.benchmark.random_network import write_random_network
from playing import loaded, request_of, search, searched, ticking
from present import present

QUICK = with_fields(
    EngineConfig(EvaluatorConfig("hashed", threads=1)), {"search.capacity_bytes": 64 << 20, "seed": 1}
)
BOOK = f"""\
#YANEURAOU-DB2016 1.00
sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/6P2/PPPPPP1PP/1B5R1/LNSGKGSNL w - 2
3c3d 9g9f 12 20 1
sfen {START_SFEN}
3g3f 3c3d 60 20 1
"""

MATE_IN_7 = "l+P1gk2nl/6s2/1pp1gp1p1/p5p1p/9/P2+b1P2P/2P3PP1/5S1S1/L+r2PK1NL w RBNP2gsn2p 1"

IN_CAMP = "1K1+R1+R3/PPPPPPPPP/1S1B1B3/9/9/9/9/9/4k4 b G 100"
"""Black may declare."""


def stops_after(playouts: int, control: SearchControl) -> Callable[[SearchResult, float], None]:
    """Returns what a search reports to, and what ends it after so many playouts."""

    def report(result: SearchResult, _ms: float) -> None:
        if result.stats.playouts >= playouts:
            control.stop()

    return report


def move_of(answer: Answer) -> str:
    return "none" if answer.move is None else move_to_usi(answer.move)


@pytest.fixture
def with_book(tmp_path: Path) -> EngineConfig:
    (tmp_path / "定跡 book.db").write_text(BOOK)
    return with_fields(QUICK, {"book_file.path": "定跡 book.db", "book_file.folder": str(tmp_path)})


def test_the_book_move_is_played_and_reported(with_book: EngineConfig) -> None:
    player, messages = loaded(with_book)
    assert any("book.db" in message for message in messages)
    answer = search(player, with_book)
    assert (move_of(answer), answer.info_string) == ("3g3f", "book: 60 cp, depth 20, count 1")
    assert [move_to_usi(move) for move in present(answer.result).moves[0].pv] == ["3g3f", "3c3d", "9g9f"]
    assert answer.ponder is not None


@pytest.mark.parametrize(
    "change",
    [
        {"book_file.is_wanted": False},
        {"book.max_ply": 0},
        {"book.ignore_rate": 1.0},
        {"book_file.path": "no_book"},
    ],
)
def test_the_options_can_turn_off_the_book(with_book: EngineConfig, change: dict[str, Value]) -> None:
    config = with_fields(with_book, change)
    player, _ = loaded(config)
    assert search(player, config).info_string == ""


def test_the_book_is_ignored_game_by_game(with_book: EngineConfig) -> None:
    config = with_fields(with_book, {"book.ignore_rate": 0.5})
    player, _ = loaded(config)
    games: list[bool] = []
    for _ in range(20):
        player.new_game()
        answers = {search(player, config).info_string != "" for _ in range(3)}
        assert len(answers) == 1
        games += answers
    assert set(games) == {True, False}


def test_analyses_and_searchmoves_do_not_use_the_book(with_book: EngineConfig) -> None:
    player, _ = loaded(with_book)
    control = SearchControl()
    control.stop()
    analysed = search(player, with_book, limits=Limits(infinite=True), control=control)
    assert analysed.info_string == ""
    chosen = request_of(with_book).board.legal_moves()[:1]
    limits = Limits(nodes=5, root_moves=tuple(chosen))
    assert search(player, with_book, limits=limits).move == chosen[0]


OWN_NETWORK = with_fields(
    EngineConfig(EvaluatorConfig(threads=1)), {"search.capacity_bytes": 64 << 20, "seed": 1}
)


@pytest.fixture
def _own_book(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GORYU_BOOK")


@pytest.mark.usefixtures("_own_book")
@pytest.mark.parametrize(
    "limits",
    [Limits(time_ms=(60_000.0, 60_000.0), byoyomi_ms=100.0), Limits(movetime_ms=20.0), Limits(rtime_ms=20.0)],
)
def test_goryus_own_book_answers_in_games_with_a_time_limit(limits: Limits) -> None:
    player, messages = loaded(OWN_NETWORK)
    assert any("book=" in message and "goryu.db" in message for message in messages)
    answer = search(player, OWN_NETWORK, limits=limits)
    assert answer.info_string.startswith("book: ")
    assert answer.move in Board().legal_moves()


@pytest.mark.usefixtures("_own_book")
@pytest.mark.parametrize(
    ("change", "limits"),
    [
        ({}, Limits(nodes=5)),
        ({}, Limits(depth=2)),
        ({"nodes": 5}, Limits(movetime_ms=20.0)),
        ({"depth": 2}, Limits(movetime_ms=20.0)),
        ({"level": 5}, Limits(movetime_ms=20.0)),
        ({"limits_strength": True}, Limits(movetime_ms=20.0)),
        ({"evaluator.kind": "hashed"}, Limits(movetime_ms=20.0)),
        ({"algorithm.name": "policy"}, Limits(movetime_ms=20.0)),
        ({"book_file.is_wanted": False}, Limits(movetime_ms=20.0)),
    ],
)
def test_goryus_own_book_makes_no_other_player_stronger(change: dict[str, Value], limits: Limits) -> None:
    config = with_fields(OWN_NETWORK, change)
    player, _ = loaded(config)
    assert search(player, config, limits=limits).info_string == ""


@pytest.mark.usefixtures("_own_book")
def test_at_a_terminal_level_ten_plays_from_the_book_and_level_nine_does_not() -> None:
    slot = EvaluatorSlot(load_evaluator(OWN_NETWORK.evaluator, print))
    for level in LEVELS[-2:]:
        agent = ShogiPlayer(slot, OWN_NETWORK, level)
        answer = agent.search(Board(), Limits(movetime_ms=20.0))
        assert (answer.info_string != "") == level.is_full_strength


@pytest.mark.usefixtures("_own_book")
def test_goryus_own_book_plays_with_the_networks_that_goryu_ships_and_downloads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "miniosl.onnx", tmp_path / "other.onnx"
    for each in (path, other):
        write_random_network(1, 8, each)
    monkeypatch.setattr("goryu.players.books.opening_book.downloaded_model", lambda: path)
    for module in ("model_path", "evaluator_slot"):
        name = f"goryu.players.set_up.{module}.default_model"
        monkeypatch.setattr(name, lambda: (path, "the strongest"))
    roundabout = f"{tmp_path}/../{tmp_path.name}/miniosl.onnx"
    replaced = str(tmp_path / "missing.onnx")  # A shipped network takes its place.
    used = ("", "goryu-5x64.onnx", str(path), roundabout, replaced)
    for model, is_used in (*((model, True) for model in used), (str(other), False)):
        config = with_fields(OWN_NETWORK, {"evaluator.model": model})
        player, messages = loaded(config)
        answer = search(player, config, limits=Limits(movetime_ms=20.0))
        assert (answer.info_string != "") == is_used
        assert any("book=" in message for message in messages) == is_used
        assert ("network: miniosl.onnx (the strongest)" in messages) == (not model)


def test_an_analysis_ends_before_visits_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goryu.players.graph_search.MOST_VISITS", 50)
    player, _ = loaded(QUICK)
    for _ in range(2):
        answer = search(player, QUICK, limits=Limits(infinite=True))
        result = present(player.result(600))
        assert answer.move is not None
        assert 48 <= sum(move.visits for move in result.moves) < 60


@pytest.mark.parametrize("content", ["", "rubbish", "#YANEURAOU-DB2016 1.00\n"])
def test_a_broken_book_is_reported_and_the_engine_plays(tmp_path: Path, content: str) -> None:
    (tmp_path / "book.db").write_text(content)
    config = with_fields(QUICK, {"book_file.path": str(tmp_path / "book.db")})
    player, messages = loaded(config)
    assert any(message.startswith("Error! ") and "without a book" in message for message in messages)
    assert move_of(search(player, config)) != "none"


@pytest.mark.parametrize("path", ["a" * 300, "a\0b", "~nobody/x", "~x"])
def test_an_impossible_path_is_reported_and_the_engine_plays(path: str) -> None:
    config = with_fields(
        QUICK,
        {"evaluator.kind": "network", "evaluator.model": path + ".onnx", "book_file.path": path + ".db"},
    )
    assert read_model_options(config.evaluator) == ("", "")
    player, messages = loaded(config)
    assert any(message.startswith("Error! ") and "without a book" in message for message in messages)
    assert any(message.startswith("Error! ") and "the shipped goryu-" in message for message in messages)
    assert move_of(search(player, config)) != "none"


@pytest.mark.parametrize("capacity", [100, 1_000_000])
def test_a_search_to_a_depth_ends_also_where_memory_is_too_small_for_it(capacity: int) -> None:
    config = with_fields(QUICK, {"search.capacity": capacity, "mate.root_nodes": 0})
    stats = searched(loaded(config)[0], config, limits=Limits(depth=8)).stats
    assert stats.max_depth >= 8 if capacity > 100 else stats.max_depth < 8


def test_a_search_for_nodes_ends_where_nothing_is_left_to_evaluate() -> None:
    """White's only reply repeats a position, so that every playout but one is free."""
    config = with_fields(QUICK, {"mate.root_nodes": 0})
    player, _ = loaded(config)
    sfen, limits = "8k/9/9/8P/9/9/9/9/K6R1 b - 1", Limits(nodes=100, root_moves=(move_from_usi("9h9i"),))
    result = searched(player, config, "9i9h", "1a1b", limits=limits, sfen=sfen)
    assert (result.stats.evaluations, result.stats.playouts) == (1, 1600)


@pytest.mark.parametrize("limits", [Limits(nodes=40), Limits(movetime_ms=500)])
def test_the_evaluation_of_the_root_is_not_taken_for_a_slow_batch(limits: Limits) -> None:
    """The answer to a later search would leave so much time unused."""
    now = [0.0]

    class SlowAtFirst(HashedEvaluator):
        def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
            now[0] += 0.3 if now[0] == 0.0 else 0.004
            return super().evaluate(states)

    config = with_fields(QUICK, {"mate.root_nodes": 0})
    player, _ = loaded(config, lambda: now[0])
    player.slot.loaded = replace(present(player.slot.loaded), evaluator=SlowAtFirst())
    assert search(player, config, limits=limits, started_s=0.0).move is not None
    assert 0.3 < now[0] < 0.5
    assert player._time._latency_ms == pytest.approx(4.0)


def test_a_graph_on_a_gpu_gets_more_memory() -> None:
    config = with_fields(QUICK, {"search.capacity_bytes": 0, "mate.root_nodes": 0})
    player, _ = loaded(config)
    sizes = []
    for evaluator in (HashedEvaluator(), OnGpu(HashedEvaluator())):
        player.slot.loaded = replace(present(player.slot.loaded), evaluator=evaluator)
        search(player, config)
        sizes.append(present(player._graph.puct).config.capacity_bytes)
    assert sizes[0] == int((1 << 30) / MEMORY_FACTOR[IMPLEMENTATION])
    assert sizes[1] == int(automatic_hash_bytes(uses_gpu=True) / MEMORY_FACTOR[IMPLEMENTATION])


def test_a_search_goes_on_when_its_memory_is_full() -> None:
    config = with_fields(QUICK, {"search.capacity_bytes": 1 << 20, "mate.root_nodes": 0})
    player, messages = loaded(config)
    result = searched(player, config, limits=Limits(nodes=50_000))
    assert result.stats.evaluations == 50_000
    assert sum(move.visits for move in result.moves) == result.stats.playouts
    assert len(messages) == 1, "nothing but the evaluator's name"


@pytest.mark.parametrize("backend", ["auto", "cuda"])
def test_device_minus_1_is_the_cpu(backend: str) -> None:
    """As `gpu_id -1` in python-dlshogi2."""
    options = OptionValues()
    options.set("gpu_id", "-1")
    options.set("Backend", backend)
    messages: list[str] = []
    network = load_network(options.config.evaluator, messages.append)
    assert network.backend in ("Winograd", "CPU")
    assert not messages, "no other backend was tried"


def test_without_any_network_material_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goryu.evaluators.network.model_files.models_folder", lambda: tmp_path)
    config = with_fields(QUICK, {"evaluator.kind": "network", "evaluator.model": "none.onnx"})
    player, messages = loaded(config)
    problems = [message for message in messages if message.startswith("Error! ")]
    assert len(problems) == 1
    assert "none.onnx" in problems[0]
    assert "the material evaluator instead" in problems[0]
    assert move_of(search(player, config)) != "none"


def test_an_unreadable_entry_is_reported_once_and_the_engine_plays(tmp_path: Path) -> None:
    (tmp_path / "book.db").write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START_SFEN}\nnonsense\n")
    config = with_fields(QUICK, {"book_file.path": str(tmp_path / "book.db")})
    player, messages = loaded(config)
    for _ in range(2):
        assert search(player, config).info_string == ""
    assert sum("nonsense" in message for message in messages) == 1


def test_a_graph_searched_under_other_rules_is_not_reused() -> None:
    player, _ = loaded(QUICK)
    for config in (
        QUICK,
        with_fields(QUICK, {"rules.moves_to_draw": 30}),
        with_fields(QUICK, {"rules.first_recurrence": False}),
    ):
        for inherited in (False, True):
            result = searched(player, config)
            assert (sum(move.visits for move in result.moves) > 30) == inherited


def test_a_position_that_other_moves_led_to_does_not_keep_their_repetitions() -> None:
    config = with_fields(QUICK, {"evaluator.kind": "material", "mate.root_nodes": 0})
    sfen, limits = "4k4/9/9/9/9/9/9/R8/4K4 b - 1", Limits(nodes=400)
    games = ("5i5h 5a5b 5h5i 5b5a", "5i6h 5a6b 6h5i 6b5a")

    def values(player: Player, moves: str) -> dict[str, float]:
        result = searched(player, config, *moves.split(), sfen=sfen, limits=limits)
        return {move_to_usi(move.move): move.value for move in result.moves}

    player, _ = loaded(config)
    for moves in games:
        assert values(player, moves)[moves.split()[0]] == 0.0


def test_stochastic_pondering_searches_for_the_opponent_and_answers_for_us() -> None:
    config = with_fields(
        QUICK, {"evaluator.kind": "material", "ponders_on_all_replies": True, "rules.draw_value_white": -0.2}
    )
    player, _ = loaded(config)
    sfen, control = "4k4/9/9/9/9/9/9/1r7/4K4 b - 1", SearchControl()
    request = request_of(config, "5i4i", sfen=sfen, limits=Limits(ponder=True))
    answer = player.search(request, control, stops_after(200, control))
    assert answer.move in request.board.legal_moves()
    assert present(answer.result).value > 0.2, "white has a rook more"
    assert present(player._graph.puct).config.draw_value == -config.rules.draw_value(1)


def test_a_stop_right_after_a_hit_is_answered_by_the_search() -> None:
    config = with_fields(QUICK, {"evaluator.kind": "material", "ponders_on_all_replies": True})
    control = SearchControl()
    control.ponderhit(Limits(nodes=1), perf_counter())
    control.stop()
    answer = search(loaded(config)[0], config, "7g7f", "9a9b", limits=Limits(ponder=True), control=control)
    assert answer.move == present(answer.result).moves[0].move


def test_after_a_hit_resignation_is_as_in_any_game() -> None:
    config = with_fields(QUICK, {"resign_value": 1.0})
    for is_hit in (True, False):
        player, _ = loaded(config)
        control = SearchControl()
        end = partial(control.ponderhit, Limits(nodes=1), perf_counter()) if is_hit else control.stop
        Timer(0.2, end).start()
        answer = search(player, config, limits=Limits(ponder=True), control=control)
        assert (answer.move is None) == is_hit


@pytest.mark.parametrize("percent, permille, resigns", [(0, 0, False), (100, 0, True), (0, 1000, True)])
def test_the_greater_threshold_of_resignation_counts(percent: int, permille: int, resigns: bool) -> None:
    options = OptionValues()
    options.set("Resign_Percent", str(percent))
    options.set("Resign_Threshold", str(permille))
    config = with_fields(QUICK, {"resign_value": options.config.resign_value})
    config = replace(config, resign_value_percent=options.config.resign_value_percent)
    player, _ = loaded(config)
    assert (search(player, config).move is None) == resigns


@pytest.mark.parametrize("limits, nodes", [(Limits(nodes=600), 0), (Limits(), 600)])
def test_a_search_for_nodes_may_end_when_no_other_move_can_catch_up(limits: Limits, nodes: int) -> None:
    sfen = "lnsgkgsnl/7b1/ppppppppp/9/4r4/4R4/PPPPPPPPP/1B7/LNSGKGSNL b - 1"  # It wins a rook.
    material = with_fields(QUICK, {"evaluator.kind": "material", "mate.root_nodes": 0, "mate.leaf_nodes": 0})
    config = with_fields(material, {"nodes": nodes, "search.final_move": "visits"})
    early, full = (
        searched(loaded(one)[0], one, sfen=sfen, limits=limits)
        for one in (with_fields(config, {"nodes_stop_early": stops_early}) for stops_early in (True, False))
    )
    assert early.move == full.move
    assert full.stats.evaluations == 600
    assert 0 < early.stats.evaluations < 600
    left = (600 - early.stats.evaluations) * early.stats.playouts / early.stats.evaluations
    assert present(early.stats.lead) > left


def test_under_the_try_rule_the_king_moves_and_nothing_is_declared() -> None:
    config = with_fields(QUICK, {"rules.entering_king": "TryRule"})
    answer = search(loaded(config)[0], config, sfen="9/4K4/9/9/9/9/9/9/k8 b - 1")
    assert (move_of(answer), answer.declares) == ("5b5a", False)


@pytest.mark.parametrize(
    "sfen, rule, mate",
    [
        ("1K1+R1+R3/PPPPPPPPP/1S1B1B3/9/9/9/9/9/4k4 w G 100", "CSARule27", -2),
        ("9/4K4/9/9/9/9/9/9/k8 w - 1", "TryRule", -2),
    ],
)
def test_declaring_takes_a_ply_of_its_own(sfen: str, rule: str, mate: int) -> None:
    """A side to move that loses is mated in an even number of plies."""
    config = with_fields(QUICK, {"rules.entering_king": rule})
    player, _ = loaded(config)
    result = searched(player, config, sfen=sfen, limits=Limits(nodes=300))
    assert result.moves[0].mate == mate


def test_a_declaration_is_analysed_and_played_at_once_at_the_hit() -> None:
    config = with_fields(QUICK, {"mate.root_nodes": 0, "mate.leaf_nodes": 0})
    player, _ = loaded(config)
    for limits in (Limits(infinite=True), Limits(ponder=True)):
        control, reports = SearchControl(), count(1)
        clocks = Limits(time_ms=(1e7, 1e7))
        end = partial(control.ponderhit, clocks, perf_counter()) if limits.ponder else control.stop
        report = Mock(side_effect=lambda *_, reports=reports, end=end: next(reports) == 2 and end())
        begun = perf_counter()
        assert search(player, config, sfen=IN_CAMP, limits=limits, control=control, report=report).declares
        assert report.call_count >= 2, "it waited for the end"
        assert perf_counter() - begun < 60.0


@pytest.mark.parametrize(
    ("change", "nodes", "is_found"),
    [
        ({}, 100_000, True),
        ({}, 1, False),
        ({"output.lines": 2}, 100_000, True),
        ({"mate.root_nodes": 1}, 100_000, False),
    ],
)
def test_the_search_for_a_mate_before_the_search_has_its_bounds(
    change: dict[str, Value], nodes: int, is_found: bool
) -> None:
    in_graph = {"mate.leaf_nodes": 0, "mate.nodes_per_visit": 0}
    config = with_fields(QUICK, {**in_graph, "mate.root_nodes": 100_000, **change})
    player, _ = loaded(config)
    control = SearchControl()
    if not is_found:
        Timer(0.3, control.stop).start()
    result = searched(player, config, sfen=MATE_IN_7, limits=Limits(nodes=nodes), control=control)
    assert (result.moves[0].mate == 7) == is_found


@pytest.mark.parametrize("chosen, is_found", [((), True), (("G*4g", "G*5h"), True), (("G*4g",), False)])
def test_an_analysis_searches_for_a_mate(chosen: tuple[str, ...], is_found: bool) -> None:
    config = with_fields(QUICK, {"mate.leaf_nodes": 0, "output.lines": 2})
    player, _ = loaded(config, ticking(1e-4))
    limits = Limits(infinite=True, root_moves=tuple(map(move_from_usi, chosen)))
    control = SearchControl()
    best, *_ = searched(
        player, config, sfen=MATE_IN_7, limits=limits, started_s=0.0, control=control,
        report=stops_after(50, control),
    ).moves  # fmt: skip
    assert (best.mate == 7) == is_found
    assert not is_found or len(best.pv) == 7, "the whole mate is shown"


def test_the_mate_that_is_played_is_shortened() -> None:
    sfen = "lnsgkgsnl/9/pppp1p1p1/4S3p/5BP2/2P2P1PB/P1NPr1+p1P/1+r2G4/L3PK1NL w 2Pgs 1"
    best = searched(loaded(QUICK)[0], QUICK, sfen=sfen, limits=Limits(movetime_ms=20_000)).moves[0]
    assert (best.mate, len(best.pv)) == (3, 3)


@pytest.mark.skipif(IMPLEMENTATION == "python", reason="takes minutes in Python")
def test_a_mate_search_ends_with_a_proof_in_little_memory() -> None:
    config = with_fields(QUICK, {"search.capacity_bytes": 1 << 20})
    request = request_of(config, sfen="l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1")
    mate = loaded(config)[0].solve_mate(request, SearchControl(), limit_ms=None)
    assert mate.verdict is MateVerdict.NO_MATE


@pytest.mark.parametrize(
    ("limits", "loads"),
    [(Limits(nodes=10_000), 2), (Limits(movetime_ms=300), 1), (Limits(movetime_ms=20_000), 2)],
)
def test_an_interrupted_search_that_cannot_go_on_answers_with_its_result_so_far(
    monkeypatch: pytest.MonkeyPatch, failing: Callable[[int, str], Evaluator], limits: Limits, loads: int
) -> None:
    evaluator = failing(60, "the GPU has gone")
    load = Mock(return_value=replace(load_evaluator(QUICK.evaluator, print), evaluator=evaluator))
    monkeypatch.setattr(evaluator_slot, "load_evaluator", load)
    player, messages = loaded(QUICK, lambda: 0.0)  # No time passes.
    answer = search(player, QUICK, limits=limits, started_s=0.0)
    assert load.call_count == loads
    problem = "Error! the GPU has gone"
    assert answer.info_string == (problem if loads == 1 else "")
    assert any(message.startswith(problem) for message in messages) == (loads == 2)
    result = present(answer.result)
    assert result.stats.playouts >= 60
    assert answer.move == result.move
    with pytest.raises(RuntimeError):
        search(player, QUICK, "7g7f", "9c9d")


@pytest.mark.parametrize("second", ["fails", "fails early", "is stopped"])
def test_the_search_that_got_further_answers(
    monkeypatch: pytest.MonkeyPatch, failing: Callable[[int, str], Evaluator], second: str
) -> None:
    whole = load_evaluator(QUICK.evaluator, print)
    control = SearchControl()

    def load_again() -> LoadedEvaluator:
        if second == "fails":
            raise MemoryError
        if second == "is stopped":
            control.stop()
        return replace(whole, evaluator=failing(5, "gone again")) if second == "fails early" else whole

    loads = iter([lambda: replace(whole, evaluator=failing(60, "the GPU has gone")), load_again])
    monkeypatch.setattr(evaluator_slot, "load_evaluator", lambda config, report: next(loads)())
    player, messages = loaded(QUICK)
    answer = search(player, QUICK, limits=Limits(nodes=10_000), control=control)
    assert "Error! the GPU has gone; loading the evaluator again" in messages
    result = present(answer.result)
    assert result.stats.playouts >= 60
    assert answer.move == result.move


def test_an_evaluator_that_has_failed_at_once_is_loaded_again(
    monkeypatch: pytest.MonkeyPatch, failing: Callable[[int, str], Evaluator]
) -> None:
    whole = load_evaluator(QUICK.evaluator, print)
    loads = iter([replace(whole, evaluator=failing(0, "the GPU has gone")), whole, whole])
    monkeypatch.setattr(evaluator_slot, "load_evaluator", lambda config, report: next(loads))
    player, _ = loaded(QUICK)
    answer = search(player, QUICK)
    assert answer.move == search(loaded(QUICK)[0], QUICK).move


class OnGpu:
    """An evaluator that says that it runs on a GPU."""

    backend = "CUDA"

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluate = evaluator.evaluate


def test_a_search_whose_gpu_is_lost_goes_on_on_the_cpu_and_the_next_game_has_the_gpu_again(
    monkeypatch: pytest.MonkeyPatch, failing: Callable[[int, str], Evaluator]
) -> None:
    whole = load_evaluator(QUICK.evaluator, print)
    devices = []

    def load(config: EvaluatorConfig, report: Callable[[str], None]) -> LoadedEvaluator:
        devices.append(config.device)
        lost = OnGpu(failing(60, "CUDA failure 2: out of memory ; GPU=0 ; hostname=h"))
        return replace(whole, config=config, evaluator=whole.evaluator if config.device == "-1" else lost)

    monkeypatch.setattr(evaluator_slot, "load_evaluator", load)
    config = with_fields(QUICK, {"evaluator.device": "0,1"})
    player, messages = loaded(config)
    answer = search(player, config, limits=Limits(nodes=200))
    assert not answer.info_string
    assert present(answer.result).stats.evaluations >= 200
    assert answer.move == search(loaded(QUICK)[0], QUICK, limits=Limits(nodes=200)).move
    assert "Error! CUDA failure 2: out of memory; loading the evaluator again" in messages
    assert search(player, config).result is not None
    assert devices[:2] == ["0,1", "-1"]
    player.load(config, messages.append)
    assert devices[-1] == "0,1"


def test_at_a_terminal_a_lost_gpu_is_told_once_and_the_cpu_plays_on(
    monkeypatch: pytest.MonkeyPatch, failing: Callable[..., Evaluator]
) -> None:
    whole = load_evaluator(QUICK.evaluator, print)
    lost = replace(whole, evaluator=OnGpu(failing(10, "the GPU has gone")))
    monkeypatch.setattr(presets, "load_evaluator", lambda config, log: lost)
    messages: list[str] = []
    setup = presets.shogi_setup(QUICK, messages.append)
    assert setup.at_level is not None
    for _ in range(2):  # The second stands for a hint, which has a player of its own.
        assert setup.at_level(LEVELS[-1])(Board()) in Board().legal_moves()
    assert messages[:2] == [
        "Error! the GPU has gone; loading the evaluator again",
        "the CPU takes the place of the GPU",
    ]
    assert sum("GPU" in message for message in messages) == 2


@pytest.mark.parametrize("error", [AssertionError, MemoryError, RuntimeError])
def test_an_error_that_is_not_of_the_gpu_leaves_the_search_on_it(
    monkeypatch: pytest.MonkeyPatch, failing: Callable[..., Evaluator], error: type[Exception]
) -> None:
    whole = load_evaluator(QUICK.evaluator, print)
    for calls in (60, 0):
        faulty = replace(whole, evaluator=OnGpu(failing(calls, "a bug", error)))
        load = Mock(return_value=faulty)
        monkeypatch.setattr(evaluator_slot, "load_evaluator", load)
        player, messages = loaded(QUICK)
        with nullcontext() if calls else pytest.raises(error):
            assert searched(player, QUICK, limits=Limits(nodes=10_000)).stats.playouts >= 60
        assert f"Error! {error.__name__}: a bug; searching again with an empty graph" in messages
        assert load.call_count == 1
        assert player.slot.loaded is faulty
        assert not faulty.lost.is_set()


def test_a_search_that_an_error_has_cut_short_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    player, messages = loaded(QUICK)
    evaluator, calls = present(player.slot.loaded).evaluator, count()

    class FailingOnce:
        def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
            if next(calls) == 30:
                raise MemoryError
            return evaluator.evaluate(states)

    monkeypatch.setattr(player.slot, "loaded", replace(present(player.slot.loaded), evaluator=FailingOnce()))
    answer = search(player, QUICK, limits=Limits(nodes=500))
    assert present(answer.result).stats.playouts >= 500
    assert "Error! MemoryError; searching again with an empty graph" in messages


@pytest.mark.parametrize("allows_fallback", [True, False])
@pytest.mark.parametrize(
    ("limits", "is_short"),
    [
        (Limits(movetime_ms=20_000), False),
        (Limits(movetime_ms=20_000, ponder=True), False),
        (Limits(movetime_ms=300, ponder=True), False),
        (Limits(movetime_ms=300), True),
    ],
)
def test_a_network_is_loaded_again_only_if_there_is_time_for_it(
    monkeypatch: pytest.MonkeyPatch,
    failing: Callable[[int, str], Evaluator],
    limits: Limits,
    is_short: bool,
    allows_fallback: bool,
) -> None:
    config = with_fields(QUICK, {"evaluator.allows_fallback": allows_fallback, "nodes": 200})
    whole = load_evaluator(config.evaluator, print)
    control, calls = SearchControl(), count()

    class Stopping(HashedEvaluator):
        def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
            if next(calls) == 100:
                control.stop()
            return super().evaluate(states)

    lost = replace(whole, evaluator=OnGpu(failing(60, "the GPU has gone")))
    loads = iter([lost, replace(whole, evaluator=Stopping())])
    monkeypatch.setattr(evaluator_slot, "load_evaluator", lambda config, report: next(loads))
    player, _ = loaded(config, lambda: 0.0)  # No time passes.
    answer = search(player, config, limits=limits, started_s=0.0, control=control)
    loads_again = not is_short and (allows_fallback or limits.ponder)
    assert (next(loads, None) is None) == loads_again
    assert bool(answer.info_string) != loads_again


def test_without_an_evaluator_every_request_gets_the_reason() -> None:
    player, _ = loaded(EngineConfig(EvaluatorConfig(model="/nowhere.onnx", allows_fallback=False)))
    assert "nowhere.onnx" in search(player, QUICK).info_string
    with pytest.raises(LoadingError, match="nowhere"):
        player.evaluate(Board())


@pytest.mark.parametrize(
    ("limits", "is_short"), [(Limits(movetime_ms=1000), False), (Limits(time_ms=(9e9, 9e9)), True)]
)
def test_the_only_move_is_played_at_once_except_with_movetime(limits: Limits, is_short: bool) -> None:
    player, _ = loaded(QUICK, ticking(0.01))
    sfen = "k8/9/1R7/9/9/9/9/9/K8 w - 1"
    assert len(Board(sfen).legal_moves()) == 1
    result = searched(player, QUICK, limits=limits, sfen=sfen, started_s=0.0)
    assert (result.stats.playouts < 20) == is_short


@pytest.mark.parametrize("limits", [Limits(), Limits(time_ms=(1e7, 1e7))])
def test_the_option_for_playouts_outranks_the_clock(limits: Limits) -> None:
    config = with_fields(QUICK, {"nodes": 400, "mate.root_nodes": 0})
    answer = search(loaded(config, ticking(1.0))[0], config, limits=limits, started_s=0.0)
    assert present(answer.result).stats.playouts == 400
    assert answer.elapsed_ms > 229_000, "longer than the clock alone would have allowed"


@pytest.mark.parametrize(
    ("change", "limits", "least", "most"),
    [
        ({"nodes": 20}, Limits(movetime_ms=9000), 20, 20),
        ({"nodes": 20}, Limits(depth=99, movetime_ms=9000), 100, 2000),
        ({"nodes": 20}, Limits(depth=99, time_ms=(1e5, 1e5)), 100, 300),
        ({"depth": 2}, Limits(time_ms=(1e7, 1e7)), 2, 300),
        ({"depth": 2}, Limits(nodes=500), 500, 500),
        ({"nodes": 20}, Limits(nodes=30), 30, 30),
    ],
)
def test_limits_of_go_outrank_the_options(
    change: dict[str, Value], limits: Limits, least: int, most: int
) -> None:
    config = with_fields(QUICK, {"mate.root_nodes": 0, **change})
    result = searched(loaded(config, ticking(0.01))[0], config, limits=limits, started_s=0.0)
    assert least <= result.stats.playouts <= most


DRUNK = with_fields(QUICK, {"random_opening.plies": 30, "random_opening.temperature": 100.0})


def test_a_bad_move_drawn_at_random_is_no_reason_to_resign() -> None:
    value = searched(loaded(QUICK)[0], QUICK).moves[0].value
    player, _ = loaded(DRUNK)
    values = []
    for threshold in [value - 0.002] * 5 + [value + 0.1]:
        player.new_game()
        answer = search(player, replace(DRUNK, resign_value=threshold))
        assert (answer.move is None) == (threshold > value)
        values.append(present(answer.result).moves[0].value)
    assert min(values) < value - 0.2, "all were good: the test tests nothing"


def test_a_seed_may_be_set_after_loading() -> None:
    def moves(loaded_seed: int, seed: int) -> list[str]:
        player, _ = loaded(with_fields(QUICK, {"seed": loaded_seed}))
        drunk = with_fields(DRUNK, {"seed": seed})
        return [move_of(search(player, drunk)) for _ in range(5)]

    assert moves(1, 7) == moves(7, 7) != moves(1, 8)


def test_a_mate_by_another_move_does_not_end_a_search_of_chosen_moves() -> None:
    sfen = "4k4/9/4G4/9/9/9/9/9/4K4 b G 1"
    config = with_fields(QUICK, {"mate.root_nodes": 0})
    player, _ = loaded(config)
    mating = searched(player, config, sfen=sfen, limits=Limits(nodes=1000))
    assert (mating.stats.is_proven, mating.moves[0].mate) == (True, 1)
    chosen = tuple(move for move in Board(sfen).legal_moves() if move_to_usi(move) in ("5i5h", "5i4i"))
    limits = Limits(nodes=60, root_moves=chosen)
    result = searched(player, config, sfen=sfen, limits=limits)
    assert result.stats.playouts == 60 or result.stats.is_exhausted
    assert {move.move for move in result.moves} == set(chosen)


def test_a_search_of_chosen_moves_does_not_decide_the_next_one() -> None:
    """After `go searchmoves 9i9h` a `go` played 9i9h too: it had inherited all the visits."""
    player, _ = loaded(QUICK)

    def answer(*chosen: str) -> tuple[str, int]:
        """Returns the move played, and how many visits the moves have in all."""
        moves = tuple(move for move in Board().legal_moves() if move_to_usi(move) in chosen)
        found = search(player, QUICK, limits=Limits(nodes=100, root_moves=moves))
        return move_of(found), sum(move.visits for move in present(found.result).moves)

    free, visits = answer()
    assert free != "9i9h"
    assert answer(free, "9i9h")[1] > 100, "some of all the moves: their visits are kept"
    assert answer("9i9h")[1] > 100
    assert answer() == (free, visits)
    player.new_game()
    assert answer("9i9h") == ("9i9h", 100)
    assert answer() == (free, visits)


def test_a_missing_model_is_reported_once_and_replaced() -> None:
    model = str(Path("/nowhere/none.onnx"))
    config = EvaluatorConfig(model=model, backend="tensorrt")
    messages: list[str] = []
    assert "model=goryu-" in load_evaluator(config, messages.append).description
    problems = [message for message in messages if "none.onnx" in message]
    name = model_path(EvaluatorConfig()).name
    (problem,) = problems
    assert problem.startswith(f"Error! model {model}: no such file; playing with the shipped ")
    assert problem.endswith(f"{name} instead, without the options of the file next to it")


@pytest.mark.parametrize(("moves", "expected"), [((), -0.2), (("7g7f",), 0.4)])
def test_networks_get_the_value_of_a_draw(
    moves: tuple[str, ...], expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To black; DrawValueBlack and DrawValueWhite are for the colour that the engine plays."""
    values: list[float] = []
    monkeypatch.setattr(LoadedEvaluator, "set_draw_value", lambda self, value: values.append(value))
    config = with_fields(QUICK, {"rules.draw_value_black": -0.2, "rules.draw_value_white": -0.4})
    search(loaded(config)[0], config, *moves)
    assert values == pytest.approx([expected])


def test_threads_are_limited_by_the_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """On two cores `Threads 1024` answered `go byoyomi 2000` after 12 to 26 seconds."""
    monkeypatch.setattr("goryu.players.set_up.threads.cores", lambda: 2)
    config = with_fields(QUICK, {"evaluator.threads": 1024})
    player, messages = loaded(config)
    assert any("Threads 1024: using 4 for each of" in message for message in messages)
    assert usable_threads(1024) == 8
    assert usable_threads(3) == 3
    made: list[int] = []

    def count_threads(*arguments: Any, **options: Any) -> Puct:
        made.append(arguments[-1])
        return make_puct(*arguments, **options)

    monkeypatch.setattr("goryu.players.kept_graph.make_puct", count_threads)
    search(player, config)
    assert made == [8]


def test_a_mate_does_not_replace_a_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goryu.players.root_mate.mate_in_one", lambda board: board.legal_moves()[0])
    player, _ = loaded(QUICK)
    for limits in (Limits(nodes=10), Limits(ponder=True)):
        control = SearchControl()
        Timer(0.2, control.ponderhit, (Limits(nodes=10), perf_counter())).start()
        assert search(player, QUICK, sfen=IN_CAMP, limits=limits, control=control).declares


def test_the_book_move_is_played_at_the_hit_and_not_after_stop(with_book: EngineConfig) -> None:
    player, _ = loaded(with_book)
    for is_hit in (True, False):
        control = SearchControl()
        end = partial(control.ponderhit, Limits(nodes=10), perf_counter()) if is_hit else control.stop
        Timer(0.2, end).start()
        answer = search(player, with_book, limits=Limits(ponder=True), control=control)
        assert answer.info_string.startswith("book: ") == is_hit
