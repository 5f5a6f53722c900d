"""The native Board against the Python Board after every push and pop."""

from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from random import Random
from types import ModuleType
from typing import Any

import pytest

from boards import POSITIONS, entered, scattered
from goryu.games.perft import perft
from goryu.games.shogi import (
    STANDARD_RULES,
    START_SFEN,
    EnteringKingRule,
    IllegalMoveError,
    MoveError,
    Rules,
    SfenError,
    move_from_usi,
)
from goryu.games.shogi import Board as PythonBoard
from goryu.games.state import Move
from paths import DATA
from present import present

MATSURI = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"
PROPERTIES = ("key", "position_key", "turn", "ply", "pieces", "hands", "move_stack", "rules")
METHODS = (
    *("legal_moves", "checks", "all_legal_moves", "is_check", "sfen", "__str__"),
    *("outcome", "repetition", "declaration", "try_move"),
)


def pair(native: ModuleType, *arguments: Any, **options: Any) -> tuple[Any, PythonBoard]:
    return native.Board(*arguments, **options), PythonBoard(*arguments, **options)


def assert_same(twin: Any, board: PythonBoard) -> None:
    for name in PROPERTIES:
        assert getattr(twin, name) == getattr(board, name), (name, board.sfen())
    for name in METHODS:
        assert getattr(twin, name)() == getattr(board, name)(), (name, board.sfen(), board.move_stack)
    for attacker, plies in ((0, 4), (1, 4), (0, 12), (1, 500)):
        assert twin.recurs(attacker, plies) == board.recurs(attacker, plies), (board.sfen(), board.move_stack)


def play_both(twin: Any, board: PythonBoard, rng: Random, plies: int, retreats: float = 0.0) -> int:
    """Plays random moves, sometimes back, compares after each, and returns how often a repetition was found.

    retreats: how often a side undoes its own last move if it may, so that positions recur.
    """
    assert_same(twin, board)
    repeated = 0
    for _ in range(plies):
        moves = board.legal_moves()
        if not moves:
            break
        move = rng.choice(moves)
        if len(board.move_stack) > 1 and rng.random() < retreats:
            last = board.move_stack[-2]
            back = Move((last >> 7 & 0x7F) | (last & 0x7F) << 7)
            move = back if back in moves else move
        twin.push(move)
        board.push(move)
        assert_same(twin, board)
        repeated += board.repetition() is not None
        while board.move_stack and rng.random() < 0.1:
            assert twin.pop() == board.pop()
            assert_same(twin, board)
    return repeated


def test_the_module_under_test_is_compiled(native: ModuleType) -> None:
    assert native.__file__ is not None
    assert native.__file__.endswith(tuple(EXTENSION_SUFFIXES))
    assert native.Board is not PythonBoard


def test_known_positions_are_the_same(native: ModuleType) -> None:
    for sfen, count in POSITIONS:
        twin, board = pair(native, sfen)
        assert_same(twin, board)
        assert len(twin.legal_moves()) == native.perft(twin, 1) == count, sfen


@pytest.mark.parametrize("all_moves", [True, False])
def test_perft_counts_pointless_moves_whatever_the_rules(native: ModuleType, all_moves: bool) -> None:
    sfen, rules = "4k4/9/4P4/9/9/9/9/9/4K4 b - 1", Rules(all_moves=all_moves)
    for depth in range(4):
        assert native.perft(native.Board(sfen, rules), depth) == perft(PythonBoard(sfen, rules), depth)


@pytest.mark.parametrize(
    "sfen, counts",
    [
        (START_SFEN, (1, 30, 900, 25_470, 719_731, 19_861_490)),
        (MATSURI, (1, 207, 28_684, 4_809_015)),
        ("R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1", (1, 593, 105_677)),
    ],
)
def test_perft(native: ModuleType, sfen: str, counts: tuple[int, ...]) -> None:
    board = native.Board(sfen)
    assert tuple(native.perft(board, depth) for depth in range(len(counts))) == counts
    assert board.key == native.Board(sfen).key


def test_random_games_are_the_same_after_every_push_and_pop(native: ModuleType) -> None:
    rng = Random(1)
    for all_moves in (True, False, True, False):
        twin, board = pair(native, rules=Rules(all_moves=all_moves, max_ply=200))
        play_both(twin, board, rng, plies=250)


def test_scattered_pieces_are_the_same(native: ModuleType) -> None:
    rng = Random(2)
    for sfen in scattered(rng, 150, 4, 16, ("-", "P", "Pp", "PNp", "GLpsr", "BSb2p")):
        play_both(*pair(native, sfen), rng, plies=6)


def test_repetitions_are_the_same(native: ModuleType) -> None:
    rng = Random(3)
    repeated = 0
    for first_recurrence in (True, False):
        for sfen in scattered(rng, 15, 2, 5, ("-", "G", "g", "Rp")):
            twin, board = pair(native, sfen, Rules(first_recurrence=first_recurrence))
            repeated += play_both(twin, board, rng, plies=60, retreats=0.7)
    assert repeated > 100


KINGS = "4k4/9/9/9/9/9/9/9/4K4 b - 1"
PERPETUAL = "4k4/9/9/9/9/9/9/9/R3K4 b - 1"
KINGS_AND_ROOK = "4k4/9/9/9/9/9/9/7R1/K8 b p 1"


@pytest.mark.parametrize(
    "sfen, opening, cycle, expected",
    [
        (KINGS, "", "5i5h 5a5b 5h5i 5b5a", {("repetition", 0), ("fourfold repetition", 0)}),
        (PERPETUAL, "9i9a 5a5b", "9a9b 5b5a 9b9a 5a5b", {("perpetual check", 1), ("perpetual check", -1)}),
        (KINGS_AND_ROOK, "2h2g P*2e 2g2e 5a4a 2e2h 4a5a", "", {("superior position", 1)}),
        (KINGS_AND_ROOK, "9i8i P*2e 2h2e 5a4a 2e2f 4a5a 2f2h", "", {("inferior position", -1)}),
    ],
)
def test_every_kind_of_repetition_is_the_same(
    native: ModuleType, sfen: str, opening: str, cycle: str, expected: set[tuple[str, float]]
) -> None:
    twin, board = pair(native, sfen)
    seen = set()
    for move in [*opening.split(), *cycle.split() * 4]:
        assert twin.push_usi(move) == board.push_usi(move)
        assert_same(twin, board)
        repetition = board.repetition()
        seen |= {(repetition.reason, repetition.value)} if repetition else set()
    assert seen == expected
    while board.move_stack:
        assert twin.pop() == board.pop()
        assert_same(twin, board)


@pytest.mark.parametrize("rule", EnteringKingRule)
def test_entered_kings_are_the_same(native: ModuleType, rule: EnteringKingRule) -> None:
    rng, declared, positions = Random(4), 0, 100
    for sfen in entered(rng, positions):
        twin, board = pair(native, sfen, Rules(entering_king=rule))
        assert_same(twin, board)
        declared += board.declaration()
        if moves := board.legal_moves():
            move = rng.choice(moves)
            twin.push(move)
            board.push(move)
            assert_same(twin, board)
    # Far from none and far from all.
    assert 5 < declared < positions - 5 or (rule is EnteringKingRule.NoEnteringKing and declared == 0)


def test_the_rules_may_be_changed(native: ModuleType) -> None:
    twin, board = pair(native, "4k4/9/9/P8/9/9/9/9/4K4 b - 1")
    for rules in (Rules(all_moves=False), Rules(max_ply=1), STANDARD_RULES):
        twin.rules = board.rules = rules
        assert_same(twin, board)
        assert len(board.legal_moves()) == 7 - (not rules.all_moves)


def test_any_number_is_legal_or_not_for_both(native: ModuleType) -> None:
    pinned, near_promotion = "4k4/9/4r4/9/9/9/9/4G4/r3K4 b 2P 1", "3pk4/P1L6/1N7/9/9/9/9/9/4K4 b PLN 1"
    for sfen in (START_SFEN, MATSURI, pinned, near_promotion):
        twin, board = pair(native, sfen)
        legal = set(board.all_legal_moves())
        for number in range(-2, (1 << 15) + 2):
            assert twin.is_legal(number) == (number in legal), (sfen, number)


def test_a_side_to_move_without_a_king_is_the_same(native: ModuleType) -> None:
    twin, board = pair(native, "4k4/9/4P4/9/9/9/9/9/9 b GRr2b3g4s4n4l17p 1", allow_missing_king=True)
    play_both(twin, board, Random(5), plies=20)


def test_a_copy_goes_its_own_way(native: ModuleType) -> None:
    twin, board = pair(native)
    rng = Random(6)
    play_both(twin, board, rng, plies=30)
    other, reference = twin.copy(), board.copy()
    play_both(other, reference, rng, plies=20)
    assert_same(twin, board)
    while board.move_stack:
        assert twin.pop() == board.pop()
    assert_same(twin, board)
    assert_same(other, reference)


BAD_SFENS = (DATA / "positions" / "bad.sfen").read_text("utf-8").splitlines()


def sfen_or_error(board: Callable[[str], Any], sfen: str) -> tuple[str, str]:
    try:
        return "accepted", str(board(sfen).sfen())
    except SfenError as error:
        return error.field, str(error)


def test_a_bad_sfen_is_the_same_error(native: ModuleType) -> None:
    for sfen in (*BAD_SFENS, "", " ", "\ud800 b - 1"):
        verdict = sfen_or_error(native.Board, sfen)
        assert verdict == sfen_or_error(PythonBoard, sfen)
        assert verdict[0] != "accepted", sfen


def test_mutilated_sfens_are_accepted_or_refused_by_both(native: ModuleType) -> None:
    rng, accepted = Random(7), 0
    letters = "plnsgbrkPLNSGBRK+/123456789 bw-0"
    for _ in range(3000):
        text = list(rng.choice(POSITIONS)[0])
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 2)] = rng.choice(letters)
        verdict = sfen_or_error(native.Board, "".join(text))
        assert verdict == sfen_or_error(PythonBoard, "".join(text))
        accepted += verdict[0] == "accepted"
    assert accepted > 30


def test_a_bad_move_is_the_same_error(native: ModuleType) -> None:
    twin, board = pair(native)
    for text, error in (("7g7g", MoveError), ("7g7e", IllegalMoveError), ("P*5e", IllegalMoveError)):
        messages = []
        for each in (twin, board):
            with pytest.raises(error) as caught:
                each.push_usi(text)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
    with pytest.raises(IndexError):
        twin.pop()
    for move in (-1, 0, 1 << 15, 81, 127 << 7, 88 << 7 | 40, 40 << 7 | 41):
        with pytest.raises(IllegalMoveError):
            twin.push(move)
    assert_same(twin, board)


def test_perpetual_check_is_counted_in_a_game_of_200000_plies(native: ModuleType) -> None:
    board = native.Board("4k4/9/9/9/9/9/9/3R5/8K b - 1")
    board.push(move_from_usi("6h5h"))
    cycle = [move_from_usi(move) for move in ("5a6a", "5h6h", "6a5a", "6h5h")]
    for _ in range(50_000):
        for move in cycle:
            board.push(move)
    repetition = present(board.repetition())
    assert (repetition.reason, repetition.value) == ("perpetual check", 1.0)
    for _ in range(200_000):
        board.pop()
    assert board.repetition() is None
