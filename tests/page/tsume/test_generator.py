from dataclasses import replace

import pytest

from goryu.base.errors import InputError
from goryu.games.shogi import parse_sfen
from goryu.games.shogi.pieces import KING
from goryu.kifu.record import GameRecord, Ply, Variation
from goryu_page.tsume.generator import Wanted, generate
from goryu_page.tsume.problem import Tsume, read_problems, starter_set
from goryu_page.tsume.solution import analyse

SOUND = "l3k3l/5R3/2sgp1Sp1/2pp1p2p/pp2P1pN1/2PPS2PP/P1G3N2/1B2G1r1L/L7K b SNPbgn2p 1"
"""N*4c mates in three, and nothing else."""


def game_of(sfen: str, *moves: str) -> GameRecord:
    return GameRecord(start=sfen, plies=tuple(map(Ply, moves)))


def test_a_mate_that_a_game_follows_is_one_problem() -> None:
    found = list(generate([game_of(SOUND, "N*4c", "5a6a", "S*7b")] * 2, Wanted()))
    assert [(one.sfen, one.length, one.solution) for one in found] == [(SOUND, 3, ("N*4c", "5a6a", "S*7b"))]
    assert found[0].has_second_solution is False
    assert list(generate([game_of(SOUND)], Wanted(longest=1))) == []
    assert len(list(generate([game_of(SOUND)], Wanted(sound=True)))) == 1


def test_variations_and_moves_beside_the_game_are_looked_at() -> None:
    played = game_of(SOUND, "1i2i")
    in_variation = replace(played, variations=(Variation(1, (Ply("2e1c"), Ply("1d1e"))),))
    plain = {one.sfen for one in generate([played], Wanted())}
    assert plain < {one.sfen for one in generate([in_variation], Wanted())}
    beside = [one.sfen for one in generate([played], Wanted(beside=True, per_game=2))]
    assert len(beside) == 2
    assert not plain >= set(beside)


def test_the_classical_form_is_sound_and_small() -> None:
    (problem,) = generate([game_of(SOUND)], Wanted(classical=True))
    fields = parse_sfen(problem.sfen, allow_missing_king=True)
    assert KING not in fields.pieces
    assert sum(map(bool, fields.pieces)) + sum(map(sum, fields.hands)) == 39
    assert sum(map(bool, fields.pieces)) < 10
    assert (problem.solution, problem.length) == (("N*4c", "5a6a", "S*7b"), 3)
    assert analyse(problem.sfen).problem() == problem


def test_lines_are_read_as_they_were_written() -> None:
    problem = analyse(SOUND).problem()
    assert list(read_problems(f"# a comment\n\n{problem.line()}\n")) == [problem]
    undecided = replace(problem, pieces_left=None, has_second_solution=None)
    assert list(read_problems(undecided.line())) == [undecided]
    for bad in (SOUND, problem.line().replace("# 3", "# 5"), problem.line().replace("left", "x")):
        with pytest.raises(InputError, match="f:1"):
            list(read_problems(bad, "f"))


def test_the_starter_set_holds_mates() -> None:
    problems = starter_set()
    assert len(problems) == len({problem.sfen for problem in problems}) > 50
    assert [problem.length for problem in problems] == sorted(problem.length for problem in problems)
    for problem in problems:
        assert is_mate(problem), problem.sfen
    for problem in problems[:: len(problems) // 6]:
        assert analyse(problem.sfen).problem() == problem


def is_mate(problem: Tsume) -> bool:
    """Is the line legal and its end mate, on another library's board?"""
    cshogi = pytest.importorskip("cshogi")
    board = cshogi.Board(problem.sfen)
    for index, move in enumerate(problem.solution):
        found = board.move_from_usi(move)
        if not board.is_legal(found):
            return False
        board.push(found)
        if index % 2 == 0 and not board.is_check():
            return False
    return True
