"""The search graph as JSON has the content of the search."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.reversi import Reversi
from goryu.games.shogi import Board, move_from_usi, move_to_usi
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.request import SearchControl
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import MateSolver
from goryu.search.graph.puct import Puct
from goryu.usi.commands import parse_command
from goryu.usi.console import ask
from playing import loaded, never, request_of, search
from present import present

SHUFFLE = "4k4/9/9/9/9/9/9/R8/4K4 b - 1"


def parsed(graph: dict[str, Any] | None) -> dict[str, Any]:
    assert graph is not None
    loaded: dict[str, Any] = json.loads(json.dumps(graph))
    assert loaded == graph
    return loaded


def test_the_sums_of_a_dump_agree() -> None:
    puct = Puct(HashedEvaluator(), PuctConfig(batch_size=4), MateSolver(5))
    puct.search(Board(SHUFFLE), never, max_playouts=600)
    graph = parsed(puct.dump(name=move_to_usi))
    nodes = graph["nodes"]
    assert graph["format"] == "goryu graph 1"
    assert nodes[graph["root"]]["visits"] == 601
    children = [move["child"] for node in nodes for move in node["moves"] if move["child"] is not None]
    assert len(children) > len(set(children)) == len(nodes) - 1, "paths flow together"
    for node in nodes:
        assert node["visits"] == 1 + sum(move["visits"] for move in node["moves"])
        assert node["untried"] >= 0
        for move in node["moves"]:
            move_from_usi(move["move"])
            assert -1.0 <= move["value"] <= 1.0
            if move["child"] is not None:
                assert nodes[move["child"]]["ply"] == node["ply"] + 1


def test_depth_and_visits_limit_a_dump() -> None:
    puct = Puct(HashedEvaluator(), PuctConfig(batch_size=4))
    puct.search(Reversi(6), never, max_playouts=500)
    whole, near = parsed(puct.dump()), parsed(puct.dump(depth=2))
    assert {node["ply"] for node in near["nodes"]} == {0, 1, 2}
    assert len(near["nodes"]) < len(whole["nodes"])
    assert near["nodes"][0]["visits"] == whole["nodes"][0]["visits"] == 501
    assert len(parsed(puct.dump(depth=0))["nodes"]) == 1
    often = parsed(puct.dump(least_visits=20))
    assert 1 < len(often["nodes"]) < len(whole["nodes"])
    assert all(node["visits"] > 1 for node in often["nodes"])


def test_the_line_of_a_mate_is_not_untried() -> None:
    puct = Puct(HashedEvaluator(), PuctConfig(), MateSolver(400))
    puct.search(Board("3k5/9/4P4/9/9/9/9/9/4K4 w 2G 1"), never, max_playouts=50)
    won = [node for node in parsed(puct.dump())["nodes"] if node["proof"] == "win"]
    assert {node["untried"] for node in won} == {0}


def test_there_is_nothing_to_dump_before_a_search() -> None:
    assert Puct(HashedEvaluator()).dump() is None


@pytest.mark.parametrize("sfen", [SHUFFLE, "l3k4/3R5/2p1p4/9/9/9/4PP3/4K4/L8 b RG2b3s4n 1"])
def test_both_implementations_dump_the_same(native: ModuleType, sfen: str) -> None:
    config, solver = PuctConfig(batch_size=4), MateSolver(20)
    puct, compiled = Puct(HashedEvaluator(), config, solver), native.Puct(HashedEvaluator(), config, solver)
    assert compiled.dump() is None
    puct.search(Board(sfen), never, max_playouts=100)
    compiled.search(native.Board(sfen), never, max_playouts=100)
    for limits in ({}, {"depth": 3}, {"least_visits": 5}, {"name": move_to_usi}):
        assert json.dumps(compiled.dump(**limits)) == json.dumps(puct.dump(**limits))


def after_a_search(nodes: int) -> Callable[[str], list[str]]:
    """Returns what the console answers after a search; without nodes, before one."""
    config = EngineConfig(EvaluatorConfig("hashed", threads=1), seed=1)
    player, _ = loaded(config)
    if nodes:
        search(player, config, limits=Limits(nodes=nodes))
    request = request_of(config)
    return lambda text: ask(present(parse_command(text)), request, SearchControl(), player)


def test_the_console_writes_the_graph_into_a_file(tmp_path: Path) -> None:
    path, missing = tmp_path / "graph.json", tmp_path / "missing" / "graph.json"
    assert after_a_search(0)(f"tree {path}") == ["info string nothing was searched yet"]
    answer_to = after_a_search(200)
    answer = answer_to(f"tree {path} 2 4")
    graph = json.loads(path.read_text("utf-8"))
    assert answer == [f"info string {len(graph['nodes'])} positions written to {path}"]
    assert graph["nodes"][0]["moves"][0]["move"][:1].isalnum()
    assert "expected FILE.json" in answer_to(f"tree {path} x")[0]
    assert "tree: " in answer_to(f"tree {missing}")[0]


def test_the_name_of_the_file_may_hold_blanks_and_another_ending_is_refused(tmp_path: Path) -> None:
    """A word that was not FILE.json was passed over: the moves were listed and no file was written."""
    answer_to, folder = after_a_search(20), tmp_path / "日本 語"
    folder.mkdir()
    for question in (f"tree {folder / 'my graph.json'}", f'tree "{folder / "a　b.json"}" 1 2'):
        (answer,) = answer_to(question)
        assert "positions written to" in answer
    assert {path.name for path in folder.iterdir()} == {"my graph.json", "a　b.json"}
    for name in ("graph.txt", "-1", "graph.json.gz", '"graph.json'):
        assert "expected FILE.json" in answer_to(f"tree {name}")[0]


def test_a_number_in_a_console_command_may_be_anything() -> None:
    answer_to = after_a_search(20)
    assert answer_to("perft ²")[-1] == "info string perft 1: 30"
    assert len(answer_to("policy ²")) == 20
    assert len(answer_to(f"policy {'9' * 5000}")) == 30
    assert answer_to(f"tree {'9' * 20}")
    assert "expected FILE.json" in answer_to("tree graph.json ²")[0]
