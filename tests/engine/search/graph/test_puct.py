"""The invariants of the graph search, on every game."""

import itertools
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from boards import played
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.material import MaterialEvaluator
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.reversi import Reversi
from goryu.games.shogi import Board, Rules, move_from_usi
from goryu.games.splitmix import splitmix64
from goryu.games.state import Move, Outcome, State
from goryu.games.tictactoe import TicTacToe
from goryu.search import puct_tree
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.graph import batch as batch_module
from goryu.search.graph.config import Formula, PuctConfig
from goryu.search.graph.node import DRAW, LOSS, UNKNOWN, WIN, Node, half, single
from goryu.search.graph.node_table import recompute
from goryu.search.graph.proof import SECOND_LOOKS, MateSolver, child_proof
from goryu.search.graph.puct import Puct
from goryu.search.mates.mate import MateVerdict, solve
from goryu.search.minimax import negamax
from playing import never
from present import present

ROOK_SHUFFLE = "4k4/9/9/9/9/9/9/R8/4K4 b - 1"
"""Few moves matter, so that paths repeat and merge often."""

GAMES: dict[str, Callable[[], State]] = {
    "tictactoe": TicTacToe,
    "reversi": Reversi,
    "reversi 4x4": lambda: Reversi(4),
    "shogi": Board,
    "shogi, rook": lambda: Board(ROOK_SHUFFLE),
    "shogi, end game": lambda: Board("l3k4/3R5/2p1p4/9/9/9/4PP3/4K4/L8 b RG2b3s4n 1"),
}


def midgame(game: str, plies: int, seed: int) -> State:
    rng, state = Random(seed), GAMES[game]()
    for _ in range(plies):
        state.push(rng.choice(state.legal_moves()))
        if state.outcome() is not None:
            state.pop()
            break
    return state


def check_invariants(puct: Puct) -> None:
    """Asserts what must hold of any graph between two searches."""
    table = puct.table
    live = {id(node) for node in table}
    for key, node in table.nodes.items():
        assert key == node.key
        assert node.total_visits == node.raw_visits + sum(node.visits)
        assert node.in_flight == 0
        assert not any(node.pending)
        assert -1.0 <= node.value <= 1.0
        assert list(node.priors) == sorted(node.priors, reverse=True)
        assert node.raw_visits >= 1
        if node.is_complete:
            assert abs(sum(node.priors) - 1.0) < 1e-3
        else:
            assert node.proof != UNKNOWN
        assert not any(node.visits[node.tried :])
        if node.proof in (WIN, LOSS):
            assert node.value == (1.0 if node.proof == WIN else -1.0)
        for child in node.children:
            assert child is None or (id(child) in live and child.ply == node.ply + 1)
        for i, end in node.repetitions.items():
            assert 0 < end.visits <= node.visits[i]


def recompute_all(puct: Puct) -> None:
    """One bottom-up pass: deeper positions first, since the ply makes the graph acyclic."""
    for node in sorted(puct.table, key=lambda node: -node.ply):
        if node.moves and node.proof == UNKNOWN:
            recompute(node)


def expected_value(puct: Puct, node: Node) -> float:
    """Q by the formula, written down a second time."""
    total, weight = node.raw_visits * node.raw_value, node.raw_visits
    for i, visits in enumerate(node.visits):
        if child_proof(node, i) == WIN:
            continue
        weight += visits
        end = node.repetitions.get(i)
        ended, ended_sum = (end.visits, end.value_sum) if end else (0, 0.0)
        child = node.children[i]
        total += ended_sum - (visits - ended) * (child.value if child else 0.0)
    return total / weight


@pytest.mark.parametrize(
    ("game", "batch_size"), [*zip(GAMES, itertools.cycle([4, 1, 32]), strict=False), (next(iter(GAMES)), 32)]
)
def test_the_graph_keeps_its_invariants_over_a_game(game: str, batch_size: int) -> None:
    state = GAMES[game]()
    puct = Puct(HashedEvaluator(), PuctConfig(batch_size=batch_size), MateSolver(4))
    for _ in range(5):
        if state.outcome() is not None:
            break
        root_before = puct.root
        inherited = puct.table.find(state.key)
        visits = inherited.total_visits if inherited is not None and inherited.is_complete else 1
        if inherited is root_before:
            visits = 1
        key = state.key
        result = puct.search(state, never, max_playouts=80)
        assert state.key == key
        check_invariants(puct)
        assert puct.root is not None
        assert puct.root.total_visits <= visits + result.stats.playouts
        if not result.stats.is_exhausted:
            assert result.stats.playouts == 80
        recompute_all(puct)
        for node in puct.table:
            if node.moves and node.is_complete and node.proof == UNKNOWN:
                assert node.value == pytest.approx(expected_value(puct, node), abs=1e-12)
        assert result.move is not None
        state.push(result.move)


def test_the_root_counts_every_playout_and_inherited_visits() -> None:
    board = Board()
    puct = Puct(HashedEvaluator())
    move = present(puct.search(board, never, max_playouts=400).move)
    board.push(move)
    reply = present(puct.result().ponder)
    board.push(reply)
    kept = present(puct.table.find(board.key))
    assert kept.total_visits > 1
    before = kept.total_visits
    puct.search(board, never, max_playouts=50)
    assert puct.root is kept
    assert kept.total_visits == before + 50


@pytest.mark.parametrize("game", ["tictactoe", "reversi", "shogi", "shogi, rook"])
def test_a_search_in_two_parts_equals_one(game: str) -> None:
    state = midgame(game, 4, seed=3)
    parts, whole = Puct(HashedEvaluator()), Puct(HashedEvaluator())
    parts.search(state, never, max_playouts=70)
    in_parts = parts.search(state, never, max_playouts=130)
    at_once = whole.search(state, never, max_playouts=200)
    assert in_parts.moves == at_once.moves


class Unmerged:
    """A game whose keys differ between paths, so that no two paths merge."""

    def __init__(self, state: State, key: int = 1) -> None:
        self.state, self.keys = state, [key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)

    @property
    def key(self) -> int:
        return self.keys[-1]

    def push(self, move: Move) -> None:
        self.state.push(move)
        self.keys.append(splitmix64(self.key ^ splitmix64(move)))

    def pop(self) -> Move:
        self.keys.pop()
        return self.state.pop()

    def copy(self) -> "Unmerged":
        return Unmerged(self.state.copy(), self.key)


class Rounded:
    """The hashed evaluator, with numbers that nodes store exactly."""

    def __init__(self) -> None:
        self.positions = 0

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        self.positions += len(states)
        found = HashedEvaluator().evaluate(states)
        return [Evaluation([half(p) for p in one.policy], single(one.value)) for one in found]


@pytest.mark.parametrize("game", ["reversi", "shogi"])
def test_where_no_paths_merge_the_visits_are_those_of_puct_tree(game: str) -> None:
    state = Unmerged(midgame(game, 3, seed=5))
    tree = puct_tree.search(state, Rounded(), 300)
    formula = Formula(puct_tree.EXPLORATION, c_factor=0.0, fpu_reduction=0.0)
    result = Puct(Rounded(), PuctConfig(formula, formula)).search(state, never, max_playouts=300)
    visits = {move.move: move.visits for move in result.moves}
    assert visits == dict(zip(tree.moves, tree.visits, strict=True))


def test_merging_saves_evaluations() -> None:
    plain = Puct(UniformEvaluator()).search(Unmerged(Reversi()), never, max_playouts=500)
    merged = Puct(UniformEvaluator()).search(Reversi(), never, max_playouts=500)
    assert merged.stats.evaluations < plain.stats.evaluations


def test_every_proof_in_tictactoe_is_true() -> None:
    values: dict[int, float] = {}

    def solve(state: TicTacToe) -> None:
        if state.key not in values:
            values[state.key] = negamax(state)
            for move in state.legal_moves():
                state.push(move)
                solve(state)
                state.pop()

    opening = TicTacToe()
    for square in (0, 1):
        opening.push(Move(square))
    solve(opening)
    puct = Puct(UniformEvaluator())
    result = puct.search(opening, lambda stats: stats.is_proven, max_playouts=20_000)
    assert result.stats.is_proven
    assert result.value == values[opening.key] == 1.0
    proven = [node for node in puct.table if node.proof != UNKNOWN]
    assert len(proven) > 50
    for node in proven:
        assert {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}[node.proof] == values[node.key]


def test_a_mate_found_at_a_leaf_is_kept_when_it_becomes_the_root() -> None:
    board = Board("4k4/9/4G4/9/9/9/9/9/4K4 w G 1")
    puct = Puct(UniformEvaluator(), PuctConfig(), MateSolver(40))
    puct.search(board, never, max_playouts=60)
    board.push_usi("5a4a")
    assert present(puct.table.find(board.key)).proof == WIN
    result = puct.search(board, lambda stats: stats.is_proven, max_playouts=1)
    assert result.stats.is_proven
    assert result.stats.playouts == 0
    assert result.moves[0].mate is not None
    assert len(result.moves[0].pv) == result.moves[0].mate


def test_a_mate_at_the_root_is_played_and_shown_to_its_end_though_it_was_never_tried() -> None:
    board = Board("l+P1gk2nl/6s2/1pp1gp1p1/p5p1p/9/P2+b1P2P/2P3PP1/5S1S1/L+r2PK1NL w RBNP2gsn2p 1")
    puct = Puct(HashedEvaluator())
    puct.search(board, never, max_playouts=3)
    mate = solve(board, 10_000)
    assert puct.add_mate(board, mate.moves)
    result = puct.search(board, lambda stats: stats.is_proven)
    assert (result.moves[0].pv, result.moves[0].mate, result.stats.playouts) == (mate.moves, 7, 0)
    check_invariants(puct)


@pytest.mark.parametrize("batch_size", [1, 8])
def test_the_solver_is_asked_again_about_positions_with_many_visits(batch_size: int) -> None:
    asked: list[tuple[int, int]] = []

    def solver(state: State, visits: int) -> tuple[Move, ...]:
        asked.append((state.key, visits))
        return ()

    config = PuctConfig(Formula(c_init=0.5), batch_size=batch_size)
    puct = Puct(HashedEvaluator(), config, solver)
    puct.search(Board(), never, max_playouts=400)
    again = {(key, visits) for key, visits in asked if visits}
    assert 32 in {visits for _, visits in again}
    if batch_size == 1:  # A playout that meets a waiting position is taken back, and another one comes.
        assert len(asked) == len(set(asked)), "never twice"
    assert puct.root is not None
    expected = {
        (node.key, visits)
        for node in puct.table
        for visits in SECOND_LOOKS
        if node is not puct.root and node.total_visits > visits
    }
    assert again >= expected
    assert len(again) < 100


def test_a_mate_behind_a_popular_move_is_found_without_a_search_at_new_positions() -> None:
    """After 54 of White's 60 moves Black mates in five, in up to 1,500 nodes of df-pn."""
    board = Board("p1s2g1nl/kn+R2s3/lp5p1/2pBp1p2/1n1p5/2P1P4/2SR2PPb/2G1G1SL1/1N4K2 w GL2P5p 1")
    before = Puct(HashedEvaluator(), PuctConfig(), MateSolver(0)).search(board, never, max_playouts=400)
    puct = Puct(HashedEvaluator(), PuctConfig(), MateSolver(0, 8))
    after = puct.search(board, never, max_playouts=400)
    assert all(move.mate is None for move in before.moves)
    lost = [move for move in after.moves if move.mate is not None]
    assert len(lost) > 3
    assert before.moves[0].move in [move.move for move in lost], "the move that it would have played"
    for move in lost:
        board.push(move.move)
        assert solve(board, 10_000).verdict is MateVerdict.MATE
        board.pop()
    assert after.moves[0].mate is None
    check_invariants(puct)


def test_a_root_that_could_declare_a_win_is_searched() -> None:
    """It was known as won, but without a mate to be kept."""
    board = Board("+R+B+P+P+P+P+P+P+P/4K3+P/9/9/9/9/9/9/k8 w RBG 1")
    puct = Puct(UniformEvaluator())
    move = present(puct.search(board, never, max_playouts=5).move)
    board.push(move)
    known = present(puct.table.find(board.key))
    assert known.proof == WIN
    assert not known.moves
    assert puct.search(board, never, max_playouts=5).stats.playouts == 5


class Steering:
    """Likes one move of each given line at each ply, so that a search follows the lines deep."""

    def __init__(self, *lines: str) -> None:
        self.liked = [
            {move_from_usi(text) for text in texts} for texts in zip(*map(str.split, lines), strict=True)
        ]

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        evaluations = []
        for state in states:
            liked = self.liked[state.ply] if state.ply < len(self.liked) else set()
            weights = [500.0 if move in liked else 1.0 for move in state.legal_moves()]
            evaluations.append(Evaluation([w / sum(weights) for w in weights], 0.0))
        return evaluations


def test_repetition_belongs_to_the_path_and_not_to_the_node() -> None:
    """The same position at the same ply, by a path that repeats and by one that does not."""
    repeating, fresh = "5i5h 5a5b 5h4h 5b4a 4h5h 4a5b", "5i4i 5a4b 4i4h 4b4a 4h5h 4a5b"
    puct = Puct(Steering(repeating, fresh))
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b - 1")
    for first, playouts in (("5i5h", 100), ("5i4i", 300)):
        puct.search(board, never, max_playouts=playouts, root_moves=[move_from_usi(first)])
    check_invariants(puct)
    both_kinds = [
        (node, i)
        for node in puct.table
        for i in node.repetitions
        if node.children[i] is not None and node.child_visits(i) > 0
    ]
    assert both_kinds, "an edge has carried playouts that ended by their path and others that went on"
    for node, i in both_kinds:
        child = present(node.children[i])
        assert child.proof == UNKNOWN


def test_a_repetition_with_the_game_before_the_root_ends_a_playout() -> None:
    board = played(Board("4k4/9/9/9/9/9/9/9/4K4 b Pp 1"), "5i5h 5a5b 5h5i")
    puct = Puct(UniformEvaluator())
    result = puct.search(board, never, max_playouts=100)
    back = next(move for move in result.moves if move.move == move_from_usi("5b5a"))
    assert back.visits > 0
    assert back.value == 0.0
    assert puct.root is not None
    i = puct.root.moves.index(back.move)
    assert puct.root.children[i] is None
    assert puct.root.repetitions[i].visits == back.visits


def test_a_repetition_that_is_the_best_move_is_played() -> None:
    board = played(Board(), "2h1h 8b9b 1h2h")
    for final_move in ("lcb", "visits"):
        config = PuctConfig(draw_value=0.06, final_move=final_move)
        result = Puct(UniformEvaluator(), config).search(board, never, max_playouts=600)
        best, second = result.moves[:2]
        assert (best.visits, best.is_certain) == (1, True)
        assert (second.visits >= 10, second.is_certain) == (True, False), "all else is even"
        assert best.move == move_from_usi("9b8b")
        assert result.value == best.value == pytest.approx(0.06)


CHASE = "4k4/9/4p4/9/9/9/4P4/1R7/4K4 w - 1"


@pytest.mark.parametrize("batch_size, playouts", [(1, 300), (4, 1000)])
def test_a_repetition_that_is_the_best_move_costs_one_playout(batch_size: int, playouts: int) -> None:
    """White, a rook behind, repeats. The other moves get what a search without that move gives them."""
    board = played(Board(CHASE), "5a4a 8h7h 4a5a 7h8h 5a4a 8h7h")
    config = PuctConfig(batch_size=batch_size)
    result = Puct(MaterialEvaluator(), config).search(board, never, max_playouts=playouts)
    assert (result.move, result.moves[0].visits) == (move_from_usi("4a5a"), 1)
    assert result.value == 0.0
    assert result.stats.evaluations > 0.6 * playouts, "8 % before such moves were closed"
    others = [move for move in board.legal_moves() if move != result.move]
    rest = Puct(MaterialEvaluator(), config).search(board, never, max_playouts=playouts, root_moves=others)
    assert result.stats.evaluations > 0.9 * rest.stats.evaluations


def test_a_move_that_repeats_forgets_what_other_paths_found_behind_it() -> None:
    """The position was searched on a path where the move repeats nothing; now it is the root."""
    puct, board = Puct(UniformEvaluator()), Board()
    puct.search(board, never, max_playouts=1)
    assert puct.root is not None
    puct.root.children[0] = puct.table.add(Node(1, 1, [Move(0)], [1.0], -0.5))
    puct.root.visits[0], puct.root.total_visits = 7, 8

    class Repeats(Board):
        def repetition(self) -> Outcome | None:
            return Outcome(0.0, "repetition")

    board = Repeats()
    move = puct.root.moves[0]
    result = puct.search(board, never, max_playouts=8, root_moves=[move])
    assert (result.moves[0].visits, result.moves[0].value) == (1, 0.0)
    assert puct.root.children[0] is None
    assert puct.root.total_visits == 1 + sum(puct.root.visits)


@pytest.mark.parametrize("advantage, is_repeated", [(0.06, False), (-0.06, True)])
def test_a_certain_draw_is_played_only_where_nothing_is_thought_better(
    advantage: float, is_repeated: bool
) -> None:
    """The bound of a repetition has no error to take off: a win was thrown away by repeating."""

    class Noisy(Evaluator):
        """An advantage for white, give or take 0.4, and a policy that likes to go back."""

        def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
            evaluations = []
            for state in states:
                moves = state.legal_moves()
                likes = [len(moves) / 3 if move == move_from_usi("9b8b") else 1.0 for move in moves]
                noise = 0.4 if splitmix64(state.key) & 1 else -0.4
                value = advantage + noise if state.turn == 1 else noise - advantage
                evaluations.append(Evaluation([like / sum(likes) for like in likes], value))
            return evaluations

    board = played(Board(), "2h1h 8b9b 1h2h")
    result = Puct(Noisy(), PuctConfig(final_move="lcb")).search(board, never, max_playouts=800)
    back = next(move for move in result.moves if move.move == move_from_usi("9b8b"))
    assert (back.value, back.visits) == (0.0, 1)
    assert (result.moves[0] is back) == is_repeated


def test_root_moves_restrict_the_search_and_leave_no_trace() -> None:
    board, wanted = Board(), [move_from_usi("9g9f"), move_from_usi("1g1f")]
    puct = Puct(HashedEvaluator())
    restricted = puct.search(board, never, max_playouts=50, root_moves=wanted)
    assert {move.move for move in restricted.moves} == set(wanted)
    free = puct.search(board, never, max_playouts=400)
    assert len(free.moves) == 30
    assert sum(move.visits for move in free.moves) == 450
    check_invariants(puct)


@pytest.mark.parametrize(("game", "batch_size"), [*zip(GAMES, itertools.cycle([1, 4]), strict=False)])
def test_a_search_whose_table_is_full_goes_on(game: str, batch_size: int) -> None:
    """A table of a few kilobytes is full all the time."""
    state = GAMES[game]()
    config = PuctConfig(batch_size=batch_size, capacity_bytes=10_000)
    puct = Puct(HashedEvaluator(), config, MateSolver(4))
    for _ in range(3):
        inherited = puct.table.find(state.key)
        before = inherited.total_visits if inherited is not None and inherited.is_complete else 1
        result = puct.search(state, never, max_playouts=150)
        check_invariants(puct)
        assert result.stats.is_exhausted or result.stats.playouts == 150
        assert puct.root is not None
        if result.stats.playouts == 150 and not any(node.repetitions for node in puct.table):
            assert puct.root.total_visits == before + 150
        least = sum(72 + 4 * len(child.moves) for child in puct.root.children if child is not None)
        assert puct.table.memory.bytes_used < 15_000 + least
        assert result.move is not None
        state.push(result.move)
        if state.outcome() is not None:
            break


def test_an_evaluator_that_fails_leaves_nothing_in_flight(failing: Callable[[int, str], Evaluator]) -> None:
    puct = Puct(failing(30, "the device is gone"), PuctConfig(batch_size=8))
    with pytest.raises(RuntimeError, match="the device is gone"):
        puct.search(Board(), never, max_playouts=2000)
    check_invariants(puct)
    puct.evaluator = HashedEvaluator()
    assert puct.search(Board(), never, max_playouts=100).stats.playouts == 100


class Decided:
    """Evaluates like the hashed stub, but is sure of its moves, so that playouts meet; counts the calls."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        self.sizes.append(len(states))
        evaluations = []
        for evaluation in HashedEvaluator().evaluate(states):
            weights = [probability**6 for probability in evaluation.policy]
            policy = [weight / sum(weights) for weight in weights]
            evaluations.append(Evaluation(policy, evaluation.value))
        return evaluations


def test_a_large_batch_outlives_collisions(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {}
    for share in (batch_module.VISITS_PER_COLLISION, 1_000_000):
        monkeypatch.setattr(batch_module, "VISITS_PER_COLLISION", share)
        evaluator = Decided()
        puct = Puct(evaluator, PuctConfig(Formula(1.0), Formula(1.0, fpu_reduction=0.1), batch_size=32))
        puct.search(Board(), never, max_playouts=600)
        check_invariants(puct)
        sizes[share] = sum(evaluator.sizes) / len(evaluator.sizes)
    at_length, at_once = sizes.values()
    assert at_length > 1.3 * at_once


@pytest.mark.parametrize("batch_size, is_full", [(7, False), (8, True)])
def test_only_small_batches_end_at_the_first_collision(batch_size: int, is_full: bool) -> None:
    evaluator = Decided()
    puct = Puct(evaluator, PuctConfig(Formula(1.0), Formula(1.0, fpu_reduction=0.1), batch_size=batch_size))
    puct.search(Board(), never, max_playouts=16 * batch_size)
    evaluator.sizes.clear()
    puct.search(Board(), never, max_evaluations=500)
    mean = sum(evaluator.sizes) / len(evaluator.sizes) / batch_size
    assert mean > 0.95 if is_full else mean < 0.8


@pytest.mark.parametrize("rules", [Rules(), Rules(all_moves=False)])
def test_no_loss_is_proven_where_a_pawn_that_does_not_promote_escapes(rules: Rules) -> None:
    """After 2f2g P*1g would be uchifuzume; a promoted pawn could take, which makes it a mate in 3."""
    board = Board("K8/9/9/9/6B1L/6Gpk/5R1S1/5B3/9 w 2P 2", rules)
    search = Puct(HashedEvaluator(), PuctConfig(), MateSolver(300))
    result = search.search(board, lambda stats: stats.is_proven, max_playouts=30)
    assert not result.stats.is_proven
    assert result.move == move_from_usi("2f2g")


def test_the_root_is_searched_even_if_its_position_is_a_repetition() -> None:
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b Pp 1")
    for _ in range(2):
        played(board, "5i5h 5a5b 5h5i 5b5a")
    result = Puct(UniformEvaluator()).search(board, never, max_playouts=50)
    assert result.move is not None
    assert result.stats.playouts == 50


def test_a_proven_move_that_is_played_keeps_its_subtree() -> None:
    """dlshogi and FukauraOu throw the tree away when the edge of the played move is proven."""
    board = Board("4k4/9/4G4/9/9/9/9/9/4K4 w G 1")
    puct = Puct(HashedEvaluator(), PuctConfig())
    puct.search(board, never, max_playouts=600)
    proven = next(move for move in puct.result().moves if move.mate is not None)
    board.push(proven.move)
    below = present(puct.table.find(board.key))
    inherited = below.total_visits
    assert inherited > 1
    puct.search(board, never, max_playouts=0)
    assert puct.root is below
    assert below.total_visits == inherited
