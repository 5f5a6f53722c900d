import pytest

from goryu.games.shogi import IllegalMoveError
from goryu_page.tsume import solution
from goryu_page.tsume.judge import TsumeGame, Verdict
from paths import DATA

HEAD_GOLD = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
PAWN_DROP = "7nk/9/7G1/9/9/9/9/9/9 b P2r2b3g4s3n4l17p 1"
"""P*1b would mate, and is illegal."""
LONGER = "lns+R5/8l/pp1pk2+Pp/2p1p1p2/3s1l3/1PP5P/P2PPP2N/1B1G1K1+p1/L1S2B2+r w 2GNgsn2p 1"
FAR_ROOK = "8k/6S2/7G1/9/9/9/9/9/9 b Rr2b3g3s4n4l18p 1"


def test_every_kind_of_answer_is_told_apart() -> None:
    game = TsumeGame(HEAD_GOLD)
    assert (game.judge("G*5b").verdict, game.judge("G*5b").rest) == (Verdict.SHORTEST, 0)
    assert game.judge("G*1i").verdict is Verdict.NOT_CHECK
    assert game.judge("G*5c").verdict is Verdict.ILLEGAL
    escape = game.judge("G*4b")
    assert escape.verdict is Verdict.ESCAPES
    assert escape.reply is not None
    for move in ("G*4b", escape.reply):
        game.play(move)
    assert game.length().plies is None
    assert TsumeGame(PAWN_DROP).judge("P*1b").verdict is Verdict.PAWN_DROP_MATE
    assert TsumeGame(PAWN_DROP).judge("P*1a").verdict is Verdict.ILLEGAL
    with pytest.raises(IllegalMoveError):
        TsumeGame(PAWN_DROP, ["P*1b"])
    longer = TsumeGame(LONGER, nodes=20_000).judge("N*5f")
    assert (longer.is_accepted, longer.verdict) == (True, Verdict.LONGER)


def test_what_is_not_found_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solution, "QUICK_NODES", 1)
    monkeypatch.setattr(solution, "MATE_NODES", 1)
    undecided = TsumeGame(LONGER, nodes=5).judge("N*5f")
    assert (undecided.is_accepted, undecided.verdict) == (False, Verdict.UNDECIDED)


def test_both_sides_play_to_the_mate() -> None:
    lines = (DATA / "positions" / "mates.sfen").read_text().splitlines()
    for mate in lines[12::9]:
        game = TsumeGame(mate.partition("\t")[2])
        plies = game.length().plies
        assert plies is not None
        while not game.is_mate:
            line = game.solution()
            assert len(line) == plies - len(game.moves)
            if game.is_attackers_turn:
                assert game.judge(line[0]).verdict is Verdict.SHORTEST
                game.play(line[0])
            else:
                assert game.defend() == line[0]
                game.play(line[0])
        assert len(game.moves) == plies
        assert game.defend() is None


def test_the_defender_plays_no_useless_interposition() -> None:
    game = TsumeGame(FAR_ROOK, ["R*9a"])
    assert game.is_mate
    assert game.defend() is None
    assert game.board.all_legal_moves()


def test_the_defender_escapes_after_a_wrong_move() -> None:
    game = TsumeGame(HEAD_GOLD, ["G*4b"])
    reply = game.defend()
    assert reply == TsumeGame(HEAD_GOLD).judge("G*4b").reply
    game.play("5a4b")
    with pytest.raises(ValueError, match="in check"):
        game.defend()
