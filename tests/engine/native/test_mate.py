"""The native mate search: equal to the Python one, with small tables too, and quick enough for long mates."""

import subprocess
import sys
from collections.abc import Callable
from random import Random
from types import ModuleType

import pytest

from boards import MATES, assert_line_mates
from goryu.games.shogi import Board, EnteringKingRule, Rules
from goryu.search.mates import mate
from goryu.search.mates.mate import MateVerdict

LONG_MATES = [
    "7n1/3gg1kbl/1p5pp/2+R4s1/1n4p1P/pBs2P3/1P1s2PS1/4R4/LN2K2NL w 5P2gl4p 1",
    "lnk4rl/2g2sgs1/pp1pN2pp/2NbSBP2/9/2P1P4/PP1P4P/L4G3/3SK3L b RN5Pgp 1",
    "l3p1knl/2+R2sg2/p1p6/1P4ppp/P1Pp+b4/2n3P1P/B3S1NP1/2+r3G2/1N3P1KL w G2Pg2sl2p 1",
    "3pp1k1l/1+R2b4/1ppg2n2/p3P3p/1sP1BsG2/P5P2/1P3G1PP/3K5/LN3+r3 b GS2N2L4Psp 1",
    "ln1g1+Psnl/2k1g4/1pp4pp/p5p2/3N4P/2PP1+bP2/PP1SgpBP1/1SK1G2r1/L2R3N1 w S2Plp 1",
    "l8/6k1p/2ns5/p1p1p1pp1/1p7/P1PpP1P2/1PgsNS3/K3+n4/LN4+R2 b R3GSL2bl5p 1",
]
"""Positions of games with mates of 13 to 29 plies, as the search finds them."""

CHECKS = "l3k4/3R5/2p1p4/9/9/9/4PP3/4K4/L8 b RG2b3s4n 1"
"""Mates and escapes everywhere."""

REFUTED_BY_REPETITIONS = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"

UNSOLVED = "l5r1l/9/1kn2+B1p1/ppPp4p/4N1s2/P4P2P/1SNg2PP1/1KG4r1/L6NL w B2G2P2s5p 1"


def stop_after(calls: int | None) -> Callable[[], bool]:
    remaining = iter(range(calls or 0))
    return lambda: calls is not None and next(remaining, None) is None


@pytest.mark.parametrize("seed", range(12))
def test_mate_searches_are_equal_whatever_the_table_forgets(native: ModuleType, seed: int) -> None:
    rng = Random(seed)
    for _ in range(5):
        sfen = rng.choice([sfen for _, sfen in MATES] + LONG_MATES + [CHECKS, REFUTED_BY_REPETITIONS])
        board, twin = Board(sfen), native.Board(sfen)
        for _ in range(rng.randrange(5)):
            moves = board.checks() if rng.random() < 0.6 else board.legal_moves()
            if not moves or board.outcome() is not None:
                break
            move = rng.choice(moves)
            board.push(move)
            twin.push(move)
        nodes, shortening_nodes = rng.choice([1, 8, 40, 300]), rng.choice([0, 50, 400])
        capacity, calls = rng.choice([1, 2, 5, 20, 60, 200, 1 << 18]), rng.choice([None, 10, 200])
        found = mate.solve(board, nodes, stop_after(calls), shortening_nodes, capacity)
        assert native.solve(twin, nodes, stop_after(calls), shortening_nodes, capacity) == found
        assert native.mate_in_one(twin) == mate.mate_in_one(board)
        assert twin.sfen() == board.sfen()


@pytest.mark.parametrize("capacity", [200, 5000])
def test_long_mates_are_found_with_small_tables(native: ModuleType, capacity: int) -> None:
    for sfen in LONG_MATES:
        found = native.solve(native.Board(sfen), 2_000_000, capacity=capacity)
        assert found.verdict is MateVerdict.MATE, sfen
        assert len(found.moves) >= 13
        assert_line_mates(sfen, found.moves)


def test_a_table_without_room_is_an_error_and_a_stop_may_fail(native: ModuleType) -> None:
    with pytest.raises(ValueError, match="capacity 0"):
        native.solve(native.Board(), 10, capacity=0)
    board = native.Board(REFUTED_BY_REPETITIONS)
    with pytest.raises(ZeroDivisionError):
        native.solve(board, 10_000, lambda: 1 // 0 == 0)
    assert board.sfen() == native.Board(REFUTED_BY_REPETITIONS).sfen()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_a_long_search_is_bounded(native: ModuleType) -> None:
    """At most 80 bytes an entry, however many positions are searched."""
    program = f"""
import re
from goryu._native import Board, solve
def most_kb():  # getrusage counts the parent's memory, too.
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
board = Board({UNSOLVED!r})
solve(board, 1000)
before = most_kb()
found = solve(board, 400_000, capacity=1 << 16)
print(found.nodes, most_kb() - before)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    nodes, grown = map(int, run.stdout.split())
    assert nodes > 3 << 16  # The table is full several times over.
    assert 1024 * grown <= (80 << 16) + (2 << 20)


def test_a_move_that_wins_by_the_try_rule_is_no_mate(native: ModuleType) -> None:
    board = native.Board("9/k3K3R/9/9/9/9/9/9/9 b - 1", Rules(EnteringKingRule.TryRule))
    assert native.solve(board, 3000).verdict is not MateVerdict.MATE
