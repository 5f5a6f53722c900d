"""The microscope's numbers are those of the searches."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import exp, isclose, log, sqrt
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.material import MaterialEvaluator
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Reversi
from goryu.search import alpha_beta, depth_limited, minimax, puct_tree, uct
from goryu.search.graph.config import Formula, PuctConfig
from goryu.search.graph.node import UNKNOWN
from goryu.search.graph.proof import MateSolver
from goryu.search.graph.puct import Puct
from goryu.search.gumbel import Gumbel, GumbelConfig
from goryu_page.microscope.gumbel import GumbelObserver
from goryu_page.microscope.minimax import MinimaxObserver
from goryu_page.microscope.model import ROOT, Graph, Node
from goryu_page.microscope.puct import PuctObserver, node_id
from goryu_page.microscope.puct_tree import PuctTreeObserver
from goryu_page.microscope.recording import Observer, Recording, run
from goryu_page.microscope.uct import UctObserver
from present import present
from solved_tictactoe import CountingTicTacToe

SHUFFLE = "4k4/9/9/9/9/9/9/R8/4K4 b - 1"
"""Few pieces: paths merge and positions repeat at once."""

STARTS: dict[str, Callable[[], State]] = {
    "tictactoe": TicTacToe,
    "reversi4": lambda: Reversi(4),
    "reversi6": lambda: Reversi(6),
    "shogi": Board,
    "shuffle": lambda: Board(SHUFFLE),
}


@st.composite
def positions(draw: st.DrawFn, games: Sequence[str] = tuple(STARTS)) -> State:
    """A position that is not over, after random moves."""
    name = draw(st.sampled_from(games))
    rng = Random(draw(st.integers(0, 1 << 32)))
    state = STARTS[name]()
    for _ in range(draw(st.integers(0, 12))):
        state.push(rng.choice(state.legal_moves()))
        if state.outcome() is not None or state.repetition() is not None:
            state.pop()
            break
    return state


def last_graph(recording: Recording) -> Graph:
    json.dumps([asdict(step) for step in recording.steps])
    return recording.graph(len(recording) - 1)


def graph_after(observer: Observer, playouts: int) -> Graph:
    run(observer, playouts)
    return last_graph(observer.recording)


def started(state: State, *options: Any) -> PuctObserver:
    observer = PuctObserver(*options or (HashedEvaluator(),))
    observer.start(state)
    return observer


@settings(max_examples=15)
@given(positions(), st.integers(1, 60), st.integers(1, 4), st.sampled_from([0.5, 2.8]))
def test_uct_has_the_numbers_of_the_search(state: State, playouts: int, expand_at: int, c: float) -> None:
    graph = graph_after(UctObserver(state, Random(7), c, expand_at), playouts)
    root = uct.search(state, playouts, Random(7), c, expand_at)

    def check(node: uct.Node, key: str) -> int:
        shown = graph.nodes[key]
        assert shown.visits == node.visits
        assert shown.value == -node.value_sum / node.visits
        moves = {edge.move: edge for edge in shown.edges}
        assert moves.keys() == node.children.keys()
        for move, child in node.children.items():
            terms = moves[move].terms
            if child.visits:
                log_visits = present(shown.terms["ln t"])
                q, u = terms["Q"], terms["U"]
                assert q is not None
                assert u is not None
                assert terms["score"] == child.ucb1(log_visits, c) == q + u
        if node.children:
            assert [edge.move for edge in shown.edges if edge.mark] == [node.select(c)]
        visited = {move: child for move, child in node.children.items() if child.visits}
        return 1 + sum(check(child, f"{key}/{move}") for move, child in visited.items())

    assert check(root, ROOT) == len(graph.nodes)


@settings(max_examples=15)
@given(positions(), st.integers(1, 60), st.sampled_from([0.5, 2.5]))
def test_puct_tree_has_the_numbers_of_the_search(state: State, playouts: int, c: float) -> None:
    graph = graph_after(PuctTreeObserver(state, HashedEvaluator(), c), playouts)
    root = puct_tree.search(state, HashedEvaluator(), playouts, c)

    def check(node: puct_tree.Node, key: str) -> int:
        shown = graph.nodes[key]
        assert shown.evaluation == node.value
        edges = sorted(shown.edges, key=lambda edge: edge.move)
        assert [edge.move for edge in edges] == node.moves
        assert [edge.visits for edge in edges] == node.visits
        assert [edge.terms["P"] for edge in edges] == list(node.priors)
        scores = [edge.terms["score"] or 0.0 for edge in edges]
        assert scores.index(max(scores)) == node.select(c)
        assert [edge.mark == "chosen" for edge in edges].index(True) == node.select(c)
        count = 1
        for i, child in enumerate(node.children):
            if node.visits[i]:
                assert edges[i].value == node.value_sums[i] / node.visits[i]
                below = f"{key}/{node.moves[i]}"
                if child is None:
                    assert graph.nodes[below].end
                    assert graph.nodes[below].visits == node.visits[i]
                count += 1 if child is None else check(child, below)
        return count

    assert check(root, ROOT) == len(graph.nodes)


@settings(max_examples=15)
@given(positions(), st.integers(1, 40), st.booleans(), st.sampled_from([2, 4, 16]))
def test_gumbel_has_the_numbers_of_the_search(
    state: State, playouts: int, noisy: bool, considered: int
) -> None:
    config = GumbelConfig(max_considered=considered)
    observer = GumbelObserver(state, HashedEvaluator(), playouts, config, Random(3) if noisy else None)
    graph = graph_after(observer, playouts)
    result = Gumbel(HashedEvaluator(), config).search(state, playouts, Random(3) if noisy else None)
    assert observer.result == result
    root = graph.nodes[ROOT]
    assert tuple(edge.move for edge in root.edges) == result.moves
    assert tuple(edge.visits for edge in root.edges) == result.visits
    assert tuple(edge.terms["Q"] for edge in root.edges) == result.values
    for edge, prior in zip(root.edges, result.prior, strict=True):
        assert isclose(exp(edge.terms["logit"] or 0.0), max(prior, 1e-12))
    for node in graph.nodes.values():
        below = [graph.nodes[edge.child] for edge in node.edges if edge.child]
        assert [child.visits for child in below] == [edge.visits for edge in node.edges if edge.child]
    for step in observer.recording.steps[1:]:
        assert step.kind == "playout"
        assert step.path[0].backed_up == (-1 if len(step.path) % 2 else 1) * (step.value or 0.0)


def check_puct(observer: PuctObserver, puct: Puct) -> None:
    """Compares every node of the recording's end with a search that was not observed."""
    graph = last_graph(observer.recording)
    assert puct.root is not None
    assert graph.root == node_id(puct.root)
    assert set(graph.nodes) == {node_id(node) for node in puct.table}
    for node in puct.table:
        shown = graph.nodes[node_id(node)]
        assert (shown.visits, shown.value, shown.in_flight) == (node.total_visits, node.value, 0)
        assert bool(shown.proof) == (node.proof != UNKNOWN)
        if not node.is_complete:
            continue
        assert [edge.move for edge in shown.edges] == node.moves
        assert [edge.visits for edge in shown.edges] == node.visits
        assert [edge.terms["P"] for edge in shown.edges] == node.priors
        for i, edge in enumerate(shown.edges):
            child = node.children[i]
            assert edge.child == (node_id(child) if child is not None else None)
            if edge.visits:
                assert edge.value == node.values[i]
        closed = {"lost", "won", "closed"} if node is puct.root else {"lost"}
        scores = {i: e.terms["score"] or 0.0 for i, e in enumerate(shown.edges) if e.mark not in closed}
        chosen = [i for i, edge in enumerate(shown.edges) if edge.mark == "chosen"]
        assert chosen == ([max(scores, key=lambda i: scores[i])] if scores else [])
    parents: dict[str, set[str]] = {}
    for node in puct.table:
        for child in node.children:
            if child is not None:
                parents.setdefault(node_id(child), set()).add(node_id(node))
    assert {key: set(found) for key, found in graph.parents.items() if found} == parents


@settings(max_examples=20)
@given(positions(), st.integers(1, 120), st.sampled_from([1, 4, 16]), st.sampled_from([0, 20]))
def test_puct_has_the_numbers_of_the_search(state: State, playouts: int, batch: int, mate_nodes: int) -> None:
    config = PuctConfig(Formula(c_init=1.0), batch_size=batch)
    observer = started(state, HashedEvaluator(), config, MateSolver(mate_nodes))
    run(observer, playouts)
    puct = Puct(HashedEvaluator(), config, MateSolver(mate_nodes))
    result = puct.search(state, lambda _: False, max_playouts=playouts)
    assert (
        observer.result() == result or result.stats.playouts > 1
    )  # The counters are those of the last batch.
    assert observer.result().moves == result.moves
    assert observer.playouts == result.stats.playouts
    check_puct(observer, puct)


@settings(max_examples=15)
@given(positions(("reversi6", "shuffle")), st.integers(20, 80), st.integers(0, 5))
def test_puct_moves_its_root_as_the_search_does(state: State, playouts: int, choice: int) -> None:
    observer, puct = started(state), Puct(HashedEvaluator())
    puct.search(state, lambda _: False, max_playouts=playouts)
    run(observer, playouts)
    before = set(observer.recording.current)
    moves = state.legal_moves()
    move = moves[choice % len(moves)]
    state.push(move)
    if state.outcome() is not None or not state.legal_moves():
        return
    observer.move_root(move)
    puct.search(state, lambda _: True)
    check_puct(observer, puct)
    deleted = {event.node for event in observer.recording.steps[-1].events if event.kind == "deleted"}
    assert deleted == before - set(observer.recording.current)
    assert set(observer.recording.graph(len(observer.recording) - 2).nodes) == before
    run(observer, observer.playouts + 30)
    puct.search(state, lambda _: False, max_playouts=30)
    check_puct(observer, puct)


@pytest.mark.parametrize("capacity", [60, 200])
def test_a_full_table_is_recorded_as_it_forgets(capacity: int) -> None:
    config = PuctConfig(capacity=capacity)
    state = Reversi(6)
    observer, puct = started(state, HashedEvaluator(), config), Puct(HashedEvaluator(), config)
    run(observer, 300)
    puct.search(state, lambda _: False, max_playouts=300)
    check_puct(observer, puct)
    kinds = {event.kind for step in observer.recording.steps for event in step.events}
    assert {"deleted", "forgotten"} <= kinds


def test_merges_repetitions_and_proofs_are_events() -> None:
    observer = started(Board(SHUFFLE), HashedEvaluator(), PuctConfig(batch_size=4))
    run(observer, 600)
    kinds = {event.kind for step in observer.recording.steps for event in step.events}
    assert {"new", "merge", "ahead", "repetition"} <= kinds
    assert {"playout", "descent", "evaluation"} <= {step.kind for step in observer.recording.steps}
    graph = last_graph(observer.recording)
    assert any(len(parents) > 1 for parents in graph.parents.values())
    assert any(edge.repetitions for node in graph.nodes.values() for edge in node.edges)

    state = Board("4k4/9/4P4/9/9/9/9/9/4K4 b 2G 1")
    mating = started(state, MaterialEvaluator(), PuctConfig(), MateSolver(200))
    run(mating, 300)
    proofs = [event for step in mating.recording.steps for event in step.events if event.kind == "proof"]
    assert proofs


def test_a_playout_in_flight_counts_at_its_moves_until_it_is_evaluated() -> None:
    observer = started(Reversi(6), HashedEvaluator(), PuctConfig(batch_size=4))
    while not any(step.kind == "descent" for step in observer.recording.steps):
        observer.advance()
    recording = observer.recording
    first = next(i for i, step in enumerate(recording.steps) if step.kind == "descent")
    step = recording.steps[first]
    for hop in step.path:
        node = present(recording.node(hop.node, first))
        assert node.in_flight == 1
        assert [edge.move for edge in node.edges if edge.in_flight] == [hop.move]
    assert step.leaf is not None
    waiting, parent = recording.node(step.leaf, first), recording.node(step.path[-1].node, first)
    assert waiting is not None
    assert parent is not None
    assert (waiting.visits, waiting.value) == (0, None)
    assert step.leaf in [edge.child for edge in parent.edges]
    done = next(s for s in recording.steps[first:] if s.kind == "evaluation" and s.leaf == step.leaf)
    assert [hop.move for hop in done.path] == [hop.move for hop in step.path]


def state_of(state: State, key: str) -> State:
    state = state.copy()
    for move in key.split("/")[1:]:
        state.push(Move(int(move)))
    return state


def check_minimax(node: Node, state: State) -> None:
    below = state_of(state, node.id)
    assert node.window is not None
    assert node.value == alpha_beta.alpha_beta(below, *node.window)
    true = minimax.negamax(below)
    assert node.value is not None
    if node.bound == "lower":
        assert true >= node.value >= node.window[1]
    elif node.bound == "upper":
        assert true <= node.value <= node.window[0]
    else:
        assert true == node.value
    cut = [edge for edge in node.edges if edge.mark == "cut"]
    assert (node.value >= node.window[1]) or not cut


@st.composite
def late_tictactoe(draw: st.DrawFn) -> State:
    """A position that is not over, after four moves or more: the searches are small."""
    state = draw(positions(("tictactoe",)))
    while state.ply < 4:
        state.push(state.legal_moves()[0])
    assume(state.outcome() is None)
    return state


@settings(max_examples=20)
@given(late_tictactoe())
def test_alpha_beta_has_the_windows_values_and_cuts_of_the_search(state: State) -> None:
    observer = MinimaxObserver(alpha_beta.alpha_beta, state)
    assert not observer.advance(), "one call runs the whole search"
    assert observer.is_complete
    graph = last_graph(observer.recording)
    for node in graph.nodes.values():
        check_minimax(node, state)
    counting = CountingTicTacToe(state.move_stack)  # type: ignore[attr-defined]
    CountingTicTacToe.pushes = 0
    value = alpha_beta.alpha_beta(counting)
    assert len(graph.nodes) == 1 + CountingTicTacToe.pushes == observer.recording.playouts
    root = graph.nodes[ROOT]
    assert root.value == value
    assert [edge.move for edge in root.edges if edge.mark == "best"] == [alpha_beta.best_move(state)]
    cuts = [event for step in observer.recording.steps for event in step.events if event.kind == "cut"]
    assert len(cuts) == sum(edge.mark == "cut" for node in graph.nodes.values() for edge in node.edges)


@settings(max_examples=20)
@given(late_tictactoe())
def test_minimax_has_the_value_of_every_position(state: State) -> None:
    observer = MinimaxObserver(minimax.negamax, state)
    observer.advance()
    graph = last_graph(observer.recording)
    for node in graph.nodes.values():
        assert node.value == minimax.negamax(state_of(state, node.id))
        assert node.window is None
    root = graph.nodes[ROOT]
    assert [edge.move for edge in root.edges if edge.mark == "best"] == [minimax.best_move(state)]
    assert root.visits == len(graph.nodes)


def material(state: State) -> float:
    return MaterialEvaluator().evaluate([state])[0].value


def discs(state: State) -> float:
    assert isinstance(state, Reversi)
    return state.disc_difference() / 64


@settings(max_examples=20)
@given(positions(("reversi6", "shuffle")), st.integers(1, 2), st.booleans())
def test_depth_limited_has_the_values_of_the_search(state: State, depth: int, prunes: bool) -> None:
    heuristic = discs if isinstance(state, Reversi) else material
    observer = MinimaxObserver(
        depth_limited.search, state, 5000, depth=depth, heuristic=heuristic, prunes=prunes
    )
    observer.advance()
    graph = last_graph(observer.recording)
    value, move = depth_limited.search(state, depth, heuristic, prunes=prunes)
    root = graph.nodes[ROOT]
    assert root.value == value
    assert [edge.move for edge in root.edges if edge.mark == "best"] == [move]
    for node in graph.nodes.values():
        below, plies = state_of(state, node.id), node.ply - state.ply
        window = node.window or (-1.0, 1.0)
        assert node.value == depth_limited.search(below, depth - plies, heuristic, *window, prunes)[0]
        assert (node.evaluation is not None) == (plies == depth and not node.end)
    if not prunes:
        assert not any(edge.mark == "cut" for node in graph.nodes.values() for edge in node.edges)


def test_a_recording_of_minimax_ends_where_it_may_not_grow() -> None:
    observer = MinimaxObserver(minimax.negamax, TicTacToe(), most_steps=100)
    observer.advance()
    assert len(observer.recording) == 100
    assert not observer.is_complete
    last_graph(observer.recording)


def test_the_graph_after_any_step_is_the_one_that_was_there() -> None:
    observer = started(Reversi(4), HashedEvaluator(), PuctConfig(batch_size=4))
    seen = [dict(observer.recording.current)]
    steps = [len(observer.recording) - 1]
    for _ in range(100):
        observer.advance()
        seen.append(dict(observer.recording.current))
        steps.append(len(observer.recording) - 1)
    for step, nodes in zip(steps, seen, strict=True):
        assert observer.recording.graph(step).nodes == nodes
    assert observer.recording.step_of_playout(0) == 0
    found = observer.recording.step_of_playout(10)
    assert observer.recording.steps[found].playouts >= 10 > observer.recording.steps[found - 1].playouts


def test_the_terms_of_a_formula_are_as_in_the_text_books() -> None:
    """Computed here from the definitions, not with the functions of the search."""
    graph = graph_after(started(Reversi(6), HashedEvaluator(), PuctConfig(Formula(), Formula())), 50)
    for node in graph.nodes.values():
        n = node.visits
        c = 2.5 + 2.0 * log((n + 19652.0 + 1.0) / 19652.0)
        mass = sum(edge.terms["P"] or 0.0 for edge in node.edges if edge.visits)
        for edge in node.edges:
            u = c * (edge.terms["P"] or 0.0) * sqrt(n) / (1 + edge.visits)
            assert edge.terms["U"] == pytest.approx(u)
            if edge.visits and edge.child:
                child = present(graph.nodes[edge.child].value)
                assert edge.terms["Q"] == pytest.approx(-child, abs=1e-7)
            elif node.value is not None and not edge.visits:
                assert edge.terms["Q"] == pytest.approx(max(-1.0, node.value - 0.35 * sqrt(mass)))
