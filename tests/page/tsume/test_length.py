"""Lengths against cshogi, and against their definition written down once more."""

from random import Random

import pytest

from goryu.games.shogi import START_SFEN, move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.search.mates.mate import MateVerdict
from goryu_page.tsume.length import LengthSolver, MateLength, NodesSpentError
from goryu_page.tsume.solution import problem_board
from paths import DATA

MATES = [
    (int(plies), sfen)
    for plies, sfen in (
        line.split("\t")
        for line in (DATA / "positions" / "mates.sfen").read_text().splitlines()
        if not line.startswith("#")
    )
]

FAR_ROOK = "8k/6S2/7G1/9/9/9/9/9/9 b Rr2b3g3s4n4l18p 1"
"""A rook dropped anywhere on the first rank mates: the silver guards 2a; interpositions are useless."""


class EveryInterposition(LengthSolver):
    """The search in which no interposition is useless, as in cshogi."""

    def _is_useless(self, interposition: Move, plies: int, reserved: tuple[int, ...]) -> bool:
        return False


def pure_length(board: Board, most: int) -> int | None:
    solver = EveryInterposition(1_000_000)
    return next((n for n in range(1, most + 1, 2) if solver.attack_within(board, n) == n), None)


def length(sfen: str) -> MateLength:
    return LengthSolver(300_000).length(problem_board(sfen))


@pytest.mark.parametrize(("plies", "sfen"), [mate for mate in MATES if mate[0] <= 7][::3])
def test_lengths_with_every_interposition_are_those_of_cshogi(plies: int, sfen: str) -> None:
    assert pure_length(problem_board(sfen), plies) == plies
    found = length(sfen).plies
    assert found is not None
    assert found <= plies


def test_lengths_are_as_defined() -> None:
    """Mates, and positions one check and its evasion after them: most have no mate in three."""
    pytest.importorskip("cshogi")
    from tsume_definition import defined_length

    rng = Random(1)
    for plies, sfen in MATES[:28:3]:
        board = problem_board(sfen)
        if plies == 1:
            board.push(rng.choice(board.checks()))
            if evasions := board.all_legal_moves():
                board.push(rng.choice(evasions))
            else:
                board.pop()
        found = next((n for n in (1, 3) if LengthSolver(300_000).attack_within(board, n) == n), None)
        assert found == defined_length(board.sfen(), 3), board.sfen()


def test_useless_interpositions_do_not_count() -> None:
    pytest.importorskip("cshogi")
    from tsume_definition import defined_length

    on_board = FAR_ROOK.replace("7G1/9", "7G1/5R3").replace("b R", "b ")
    assert length(on_board).plies == defined_length(on_board, 1) == 1
    solver = LengthSolver(10_000)
    board = problem_board(FAR_ROOK)
    for file in range(2, 10):
        board.push_usi(f"R*{file}a")
        assert solver.defences(board, 2) == []
        board.pop()
    unguarded = FAR_ROOK.replace("6S2", "9").replace("3s", "4s")
    board = problem_board(unguarded)
    board.push_usi("R*4a")
    assert {move_to_usi(defence.move)[1:] for defence in solver.defences(board, 2)} >= {"*2a", "*3a"}


def test_what_is_not_known_is_said() -> None:
    long = next(sfen for plies, sfen in MATES if plies == 9)
    found = LengthSolver(5).length(problem_board(long))
    assert (found.plies, found.verdict) == (None, MateVerdict.MATE)
    board = problem_board(long)
    with pytest.raises(NodesSpentError):
        LengthSolver(5).attack_within(board, 9)
    assert board.sfen() == long
    assert length(START_SFEN).verdict is MateVerdict.NO_MATE
