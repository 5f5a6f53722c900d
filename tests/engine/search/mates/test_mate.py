"""Mate searches: an independent library confirms the mates that they find, and those that they deny."""

from random import Random

import cshogi
import pytest

from boards import MATES, assert_line_mates, played
from goryu.games.shogi import Board, EnteringKingRule, Rules, move_from_usi, move_to_usi
from goryu.games.state import Move, Outcome
from goryu.search.mates.df_pn import combine
from goryu.search.mates.mate import Mate, MateVerdict, mate_in_one, solve
from goryu.search.mates.mate_table import INFINITE, UNSEEN, Entry, MateTable
from present import present

GOLD_AND_ONE = "4k4/9/4G4/9/9/9/9/9/4K4 b G 1"


def random_positions(seed: int, count: int) -> list[str]:
    """SFENs from random games: no mate to speak of, but checks of every kind."""
    rng = Random(seed)
    sfens: list[str] = []
    while len(sfens) < count:
        board = cshogi.Board()
        for _ in range(rng.randint(60, 160)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
        if not board.is_game_over():
            sfens.append(board.sfen())
    return sfens


def is_mated_within(board: cshogi.Board, plies: int) -> bool:
    """Brute force: does every defence, of any kind, run into mate within `plies`?"""
    if not board.is_check():
        return False
    defences = list(board.legal_moves)
    if plies == 0 and defences:
        return False
    return all(_answered(board, move, plies) for move in defences)


def _answered(board: cshogi.Board, defence: int, plies: int) -> bool:
    board.push(defence)
    found = False
    for attack in list(board.legal_moves):
        board.push(attack)
        found = board.is_check() and is_mated_within(board, plies - 2)
        board.pop()
        if found:
            break
    board.pop()
    return found


def assert_mates(sfen: str, mate: Mate) -> None:
    """Asserts that the line mates and that after its first move no defence helps."""
    assert_line_mates(sfen, mate.moves)
    board = cshogi.Board(sfen)
    board.push_usi(move_to_usi(mate.moves[0]))
    assert is_mated_within(board, len(mate.moves) - 1)


def mates_in_one(sfen: str) -> set[str]:
    board, mates = cshogi.Board(sfen), set()
    for move in list(board.legal_moves):
        board.push(move)
        if board.is_game_over() and board.is_check():
            mates.add(cshogi.move_to_usi(move))
        board.pop()
    return mates


def test_mates_in_one_are_those_of_brute_force() -> None:
    for sfen in [sfen for _, sfen in MATES] + random_positions(1, 60):
        move, mates = mate_in_one(Board(sfen)), mates_in_one(sfen)
        assert (move is not None) == bool(mates)
        assert move is None or move_to_usi(move) in mates


@pytest.mark.parametrize("length", [1, 3, 5])
def test_known_mates_are_found(length: int) -> None:
    cases = [sfen for plies, sfen in MATES if plies == length][:: 1 if length < 5 else 3]
    assert cases
    for sfen in cases:
        mate = solve(Board(sfen), 3000)
        assert mate.verdict is MateVerdict.MATE, sfen
        assert len(mate.moves) >= length
        if length <= 3 and len(mate.moves) <= 5:
            assert_mates(sfen, mate)
        else:
            assert_line_mates(sfen, mate.moves)


@pytest.mark.slow
def test_long_known_mates_are_found() -> None:
    for sfen in [sfen for plies, sfen in MATES if plies >= 7][::4]:
        mate = solve(Board(sfen), 30_000)
        assert mate.verdict is MateVerdict.MATE, sfen
        assert_line_mates(sfen, mate.moves)


def test_no_mate_is_announced_where_brute_force_finds_none() -> None:
    for sfen in random_positions(7, 20):
        mate = solve(Board(sfen), 150)
        if mate.verdict is MateVerdict.MATE and len(mate.moves) <= 3:
            assert_mates(sfen, mate)
        if mate.verdict is MateVerdict.NO_MATE:
            assert not mates_in_one(sfen)


def test_the_search_leaves_the_board_as_it_was() -> None:
    for _, sfen in MATES[::6]:
        board = Board(sfen)
        key, moves = board.key, list(board.move_stack)
        solve(board, 60)
        assert (board.sfen(), board.key, board.move_stack) == (sfen, key, moves)


def test_no_mate_is_found_when_every_check_has_an_answer() -> None:
    assert solve(Board("4k4/9/9/9/9/9/9/9/4K4 b G 1"), 10_000).verdict is MateVerdict.NO_MATE
    assert solve(Board(), 100).verdict is MateVerdict.NO_MATE


def test_a_spent_budget_is_not_a_disproof() -> None:
    sfen = next(sfen for plies, sfen in MATES if plies == 5)
    mate = solve(Board(sfen), 1)
    assert mate == Mate(MateVerdict.UNKNOWN, (), 1)


def test_a_pawn_drop_is_not_a_mate() -> None:
    """The only check that leaves no reply is the drop of a pawn (打ち歩詰め)."""
    board = Board("7nk/7s1/6G2/9/9/9/9/9/4K4 b P 1")
    assert mate_in_one(board) is None


def test_a_stop_is_obeyed() -> None:
    assert solve(Board(GOLD_AND_ONE.replace(" G ", " 2P ")), 1 << 30, lambda: True).nodes == 1


IN_FIVE = "8k/5n3/5+B3/9/9/8S/9/9/9 b G 1"


def test_a_mate_may_pass_where_the_game_has_been() -> None:
    """The mate begins with a check that was given before; the second occurrence ends nothing."""
    board = played(Board(IN_FIVE, allow_missing_king=True), "4c3c 1a2a 3c4c 2a1a")
    mate = solve(board, 3000)
    assert (mate.verdict, move_to_usi(mate.moves[0])) == (MateVerdict.MATE, "4c3c")


def test_the_fourth_occurrence_is_no_mate() -> None:
    board = played(Board(IN_FIVE, allow_missing_king=True), "4c3c 1a2a 3c4c 2a1a " * 3)
    assert solve(board, 3000).verdict is not MateVerdict.MATE


def test_a_king_that_could_declare_may_mate_instead() -> None:
    """Wherever black is to move it could also win by 6b5a."""
    board = Board("8k/3K1n3/5+B3/9/9/8S/9/9/9 b G 1", Rules(EnteringKingRule.TryRule))
    mate = solve(board, 3000)
    assert mate.verdict is MateVerdict.MATE
    assert "6b5a" not in map(move_to_usi, mate.moves)


def test_a_move_that_wins_by_the_try_rule_is_no_mate() -> None:
    """5b5a wins by the try and uncovers a check of the rook, but the king can escape."""
    board = Board("9/k3K3R/9/9/9/9/9/9/9 b - 1", Rules(EnteringKingRule.TryRule))
    board.push(move_from_usi("5b5a"))
    outcome = present(board.outcome())
    assert (outcome.reason, board.is_check()) == ("try", True)
    assert board.all_legal_moves()
    board.pop()
    assert solve(board, 3000).verdict is not MateVerdict.MATE


class Checks:
    """A game of checks that is written down; in capital letters the attacker is to move."""

    NEXT = "R-d d-AB A-x x-C C-yh y-Q Q-x h-EF E-m F-m B-estuvw e-G G-f f-Q s-T t-T u-T v-T w-T"

    def __init__(self) -> None:
        self.next = {word[0]: word[2:] for word in self.NEXT.split()}
        self.path = ["R"]

    turn = property(lambda self: len(self.path) % 2)
    ply = property(lambda self: len(self.path))
    position_key = property(lambda self: ord(self.path[-1]))
    key = property(lambda self: self.position_key << 8 | self.ply)

    def legal_moves(self) -> list[Move]:
        return [Move(ord(name)) for name in self.next.get(self.path[-1], [])]

    checks = all_legal_moves = legal_moves

    def push(self, move: Move) -> None:
        self.path.append(chr(move))

    def pop(self) -> Move:
        return Move(ord(self.path.pop()))

    def is_check(self) -> bool:
        return self.path[-1].islower()

    def outcome(self) -> Outcome | None:
        return None if self.legal_moves() else Outcome(-1.0, "checkmate")

    def repetition(self) -> Outcome | None:
        return Outcome(0.0, "repetition") if self.path[-1] in self.path[:-1] else None

    def recurs(self, attacker: int, plies: int) -> bool:
        return self.path[-1] in self.path[-1 - plies : -1]

    def copy(self) -> "Checks":
        raise NotImplementedError


def test_a_line_that_a_repetition_refutes_on_one_path_mates_on_another() -> None:
    """At Q the check x repeats a position if A led there; if B did, it leads on to the mates behind h."""
    assert solve(Checks(), 1000).verdict is MateVerdict.MATE


def test_a_refutation_by_repetitions_is_certain() -> None:
    """The rook may check for ever: df-pn cuts these lines short, but the defender escapes on every path."""
    assert solve(Board("k8/9/9/9/9/9/9/1R7/4K4 b - 1"), 3000).verdict is MateVerdict.NO_MATE


MATE_IN_THREE = "lnsgkgsnl/9/pppp1p1p1/4S3p/5BP2/2P2P1PB/P1NPr1+p1P/1+r2G4/L3PK1NL w 2Pgs 1"


def test_a_mate_is_shortened() -> None:
    assert len(solve(Board(MATE_IN_THREE), 3000).moves) == 5
    mate = solve(Board(MATE_IN_THREE), 3000, shortening_nodes=1000)
    assert len(mate.moves) == 3
    assert_mates(MATE_IN_THREE, mate)


def test_shortened_mates_of_few_plies_are_the_shortest() -> None:
    """Those of more plies are the native search's, which is equal: native/test_mate.py."""
    for plies, sfen in [case for case in MATES if case[0] <= 5][::8]:
        mate = solve(Board(sfen), 3000, shortening_nodes=5000)
        assert len(mate.moves) == plies, sfen
        assert_line_mates(sfen, mate.moves)


def test_shortening_stays_within_its_budget() -> None:
    sfen = next(sfen for plies, sfen in MATES if plies == 5)
    first = solve(Board(sfen), 3000)
    for extra in (0, 1, 30):
        mate = solve(Board(sfen), 3000, shortening_nodes=extra)
        assert first.nodes <= mate.nodes <= first.nodes + extra
        assert len(mate.moves) <= len(first.moves)


@pytest.mark.parametrize("capacity", [5, 60, 200])
def test_mates_are_found_with_small_tables(capacity: int) -> None:
    for sfen in [sfen for plies, sfen in MATES if plies == 5][::12]:
        mate = solve(Board(sfen), 20_000, capacity=capacity)
        assert mate.verdict is MateVerdict.MATE
        assert_line_mates(sfen, mate.moves)


def test_small_tables_deny_no_mate() -> None:
    for _, sfen in MATES[::10]:
        for capacity in (1, 30):
            assert solve(Board(sfen), 150, capacity=capacity).verdict is not MateVerdict.NO_MATE


def test_a_table_without_room_is_an_error() -> None:
    with pytest.raises(ValueError, match="capacity 0"):
        solve(Board(GOLD_AND_ONE), 10, capacity=0)


def test_a_table_never_holds_more_than_its_capacity() -> None:
    table = MateTable(10)
    for key in range(1000):
        table.store(key, Entry(1, 2), size=key % 7 + 1)
        assert len(table) <= 10
        assert table.get(key) == Entry(1, 2)


def test_a_full_table_deletes_the_smallest_subtrees() -> None:
    table = MateTable(6)
    for key, size in enumerate([5, 1, 9, 2, 7, 3]):
        table.store(key, Entry(3, 4), size)
    table.store(6, Entry(3, 4), 1)
    kept = {key for key in range(7) if table.get(key) != UNSEEN}
    assert kept == {0, 2, 4, 6}


def test_large_numbers_are_no_solution() -> None:
    """Sums that count transpositions many times stay below infinity, which means solved."""
    entry, _, _ = combine([Entry(INFINITE - 1, 5), Entry(INFINITE - 1, 7)], is_attacker=True)
    assert (entry.phi, entry.delta) == (5, INFINITE - 1)
