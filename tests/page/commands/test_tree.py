"""`goryu tree`: the picture shows the search, and the layout keeps positions apart."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goryu.__main__ import main
from goryu.base.errors import InputError
from goryu.base.language import speaking
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.perft import perft
from goryu.games.shogi import move_to_usi
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Puct, Reversi
from goryu.players.agents.presets import disc_lead
from goryu.search.graph.config import PuctConfig
from goryu.table.positions import GAMES, parse_position
from goryu_page.microscope.counting import counts
from goryu_page.microscope.layout import places
from goryu_page.microscope.networks import HeuristicEvaluator
from goryu_page.microscope.observed import OBSERVED, make_observer
from goryu_page.microscope.picture import draw
from goryu_page.microscope.recording import run
from goryu_page.microscope.view import Extent, node_view, view

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def trees(draw: st.DrawFn) -> dict[str, list[str]]:
    """The children of each position; the root is "0"."""
    children: dict[str, list[str]] = {"0": []}
    for i in range(1, draw(st.integers(1, 60))):
        parent = str(draw(st.integers(0, i - 1)))
        children[parent].append(str(i))
        children[str(i)] = []
    return children


def rows(children: Mapping[str, Sequence[str]]) -> list[list[str]]:
    found = [["0"]]
    while below := [child for key in found[-1] for child in children[key]]:
        found.append(below)
    return found


@given(trees())
def test_positions_of_a_row_keep_their_order_and_distance(children: dict[str, list[str]]) -> None:
    place = places("0", children)
    assert place.keys() == children.keys()
    assert min(place.values()) == pytest.approx(0.0)
    for row in rows(children):
        xs = [place[key] for key in row]
        assert all(after - before > 1.0 - 1e-9 for before, after in pairwise(xs))
    for key, below in children.items():
        if below:
            assert place[key] == pytest.approx((place[below[0]] + place[below[-1]]) / 2)


def svg_of(path: Path) -> Element:
    text = path.read_text("utf-8")
    assert not re.search(r"(?:src|href|url)\s*[=(]", text), "the file needs no other"
    found = re.findall(
        r'<svg [^>]*class="tree-picture".*?</svg>|<svg class="tree-picture".*?</svg>', text, re.DOTALL
    )
    return fromstring(found[-1])


def groups(svg: Element, name: str) -> list[Element]:
    return [g for g in svg.iter(f"{SVG}g") if name in g.get("class", "").split()]


def test_a_merged_position_is_drawn_once_with_all_its_parents(tmp_path: Path) -> None:
    path = tmp_path / "tree.html"
    command = ["tree", "--network", "noise", "--playouts", "600", "--depth", "3", "--width", "30"]
    assert main([*command, "4k4/9/9/9/9/9/9/R8/4K4 b - 1", "--html", str(path)]) == 0
    svg = svg_of(path)
    nodes, links = groups(svg, "node"), groups(svg, "link")
    merges = groups(svg, "merge")
    assert len(links) - len(groups(svg, "stub")) // 2 == len(nodes) - 1 + len(merges)
    assert len(merges) > 3
    assert {g.get("class") for g in groups(svg, "merged")}


def test_the_tree_alone_is_the_same_picture_with_its_style(tmp_path: Path) -> None:
    html, alone = tmp_path / "tree.html", tmp_path / "tree.svg"
    assert main(["tree", "--game", "numbers", "--html", str(html), "--svg", str(alone)]) == 0
    svg = fromstring(alone.read_text("utf-8"))
    assert svg.findtext(f"{SVG}style")
    texts = [["".join(node.itertext()) for node in groups(tree, "node")] for tree in (svg, svg_of(html))]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 11


@pytest.mark.parametrize("algorithm", OBSERVED)
def test_every_algorithm_draws_every_example(algorithm: str, tmp_path: Path) -> None:
    path, whole = tmp_path / "tree.html", OBSERVED[algorithm].algorithm.searches_whole_game
    examples = [(name, text) for name in GAMES for text, _ in GAMES[name].examples]
    for i, (name, text) in enumerate(examples):
        if whole and (text in ("", "6x6", "4x4") and name != "shogi"):
            continue  # Long: the whole game.
        command = ["tree", "--game", name, text, "--algorithm", algorithm, "--network", "uniform"]
        limits = ["--playouts", "5", "--depth", "3", "--most", "60"]
        with speaking(("en", "ja")[i % 2]):
            status = main([*command, *limits, "--html", str(path)])
        assert status == (2 if whole and name == "shogi" else 0)
        assert status or len(groups(svg_of(path), "node")) >= 2


def test_without_a_file_the_tree_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["tree", "--game", "tictactoe", "4 0 8 1", "--algorithm", "alpha-beta"]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["OO.    c1 +1.00      a3 −1.00", ".X.    a2 −1.00      b3 −1.00", "..X    c2 −1.00"]
    assert lines[4] == "N 24  Q +1.00"
    assert lines[5] == "  c1       N 23    Q +1.00  (window -1 +1)"
    assert "a2 c2 a3 b3: β cut" in lines[-1]
    cut = [line for line in lines if line.endswith((": α cut", ": β cut"))]
    assert len(cut) == 5


def test_every_position_is_printed_before_those_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", "--game", "tictactoe", "4 0 8 1 2", "--boards", "9"]) == 0
    *boards, count = capsys.readouterr().out.split("\n\n")
    assert boards[:3] == ["OOX\n.X.\n..X", "OOX\nOX.\n..X", "OOX\nOXX\n..X"]
    assert count == f"{len(boards)} positions\n"
    assert len(boards) == [*counts(TicTacToe([4, 0, 8, 1, 2]), 9, UniformEvaluator())][-1].without_cuts


def test_a_search_that_is_too_large_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", "--game", "tictactoe", "--algorithm", "minimax", "--depth", "1"]) == 0
    assert "only its first 5000 steps are shown" in capsys.readouterr().err


@pytest.mark.slow
def test_cuts_and_ordering_save_positions_and_keep_the_value() -> None:
    whole = list(counts(Reversi(4), 20, HeuristicEvaluator(disc_lead)))
    for state, depth in ((TicTacToe(), 5), (Reversi(4), 17), (Reversi(6), 3), (Board(), 2)):
        evaluator = HeuristicEvaluator(disc_lead) if isinstance(state, Reversi) else UniformEvaluator()
        found = whole if depth == 17 else list(counts(state, depth, evaluator))
        assert [one.depth for one in found] == list(range(1, depth + 1))
        for one in found:
            assert one.without_cuts >= one.with_cuts
            assert one.without_cuts >= one.ordered
        # Until a game ends, every sequence of moves is one position.
        assert found[1].without_cuts == 1 + perft(state, 1) + perft(state, 2)
    assert (whole[-1].depth, whole[-1].value) == (17, -1.0), "White wins on 4x4; some moves are passes"
    assert whole[-1].ordered < whole[-1].with_cuts < whole[-1].without_cuts // 10


def test_the_table_of_visited_positions_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", "--game", "tictactoe", "--count", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["plies", "every", "move", "with", "cuts", "ordered", "value"]
    assert lines[5].split()[:4] == ["5", "18,730", "1,014", "830"]


def test_the_graph_that_the_engine_wrote_is_drawn(tmp_path: Path) -> None:
    puct = Puct(HashedEvaluator(), PuctConfig(batch_size=4))
    board = Board("4k4/9/9/9/9/9/9/R8/4K4 b - 1")
    puct.search(board, lambda _: False, max_playouts=400)
    graph, html = tmp_path / "graph.json", tmp_path / "tree.html"
    graph.write_text(json.dumps(puct.dump(name=move_to_usi)), "utf-8")
    assert main(["tree", board.sfen(), "--graph", str(graph), "--html", str(html)]) == 0
    dumped = json.loads(graph.read_text("utf-8"))
    texts = ["".join(node.itertext()) for node in groups(svg_of(html), "node")]
    assert any(f"N {dumped['nodes'][0]['visits']}" in text for text in texts)
    assert main(["tree", "--graph", str(graph), "--html", str(html)]) == 2  # Another root.
    graph.write_text('{"format": "goryu graph 1"}', "utf-8")
    assert main(["tree", "--graph", str(graph)]) == 2
    graph.write_text("[" * 100_000, "utf-8")
    assert main(["tree", "--graph", str(graph)]) == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["not a position"], "expected"),
        (["--game", "tictactoe", "4 4"], "expected a free square"),
        (["--game", "tictactoe", "0 3 1 4 2"], "it is over"),
        (["--game", "reversi", "a1"], "expected one of d3"),
        (["--game", "reversi", "6x6"], "8x8 only"),
        (["-p", "c=99"], "expected a number from 0 to 10, received 99"),
        (["-p", "batch=1.5"], "expected a whole number"),
        (["-p", "size=1"], "expected one of c, fpu"),
        (["-p", "c"], "expected NAME=NUMBER"),
        (["--network", "rollout"], "expected one of network, material, uniform, noise for shogi"),
        (["--network", "nowhere.onnx"], "no such file"),
        (["--graph", "nowhere.json"], "nowhere.json"),
    ],
)
def test_bad_input_is_named(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_positions_are_read_in_every_usual_form() -> None:
    assert str(parse_position("tictactoe", "b2 a1")) == str(parse_position("tictactoe", "40"))
    assert str(parse_position("reversi", "4x4 b1a1")) == str(parse_position("reversi", "4x4 b1 a1"))
    forms = ["startpos moves 7g7f 3c3d", "7g7f 3c3d", "position startpos moves 7g7f 3c3d", "▲７六歩 △３四歩"]
    assert len({parse_position("shogi", form).key for form in forms}) == 1
    with pytest.raises(InputError, match="expected one of tictactoe"):
        parse_position("go", "")


def test_a_step_shows_its_path_and_a_position_its_formula() -> None:
    state = parse_position("shogi", "")
    observer = make_observer("puct", state, HashedEvaluator())
    run(observer, 50)
    recording = observer.recording
    with speaking("ja"):
        shown = view(recording, 50, state, "shogi", Extent(1, 1, 5))
    ids = {item["id"] for item in shown["items"]}
    assert {hop["node"] for hop in shown["path"]} <= ids
    assert shown["leaf"] in ids
    assert any(link["move"].startswith("▲") for link in shown["links"])
    json.dumps(draw(shown).as_json())
    root = node_view(recording, 50, shown["root"], state, "shogi", OBSERVED["puct"])
    assert root is not None
    assert len(root["edges"]) == 30
    for edge in root["edges"]:
        assert edge["written"].endswith(f"= {edge['terms']['score']:.3f}".replace("-", "−"))
    assert node_view(recording, 0, shown["leaf"], state, "shogi", OBSERVED["puct"]) is None
