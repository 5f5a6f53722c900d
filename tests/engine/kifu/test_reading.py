"""Records of all formats: what is read, what is written, and what is refused with which line."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goryu.games.shogi import START_SFEN, move_to_usi
from goryu.implementation import Board
from goryu.kifu.handicaps import HANDICAPS
from goryu.kifu.reading import parse_record, parse_records, read_record
from goryu.kifu.record import Ending, GameRecord, Ply, RecordError, Variation
from goryu.kifu.writing import to_csa, to_jkf, to_ki2, to_kif, to_usi
from goryu_lab.records.from_kifu import score_of

KIF = """# ---- Kifu for Windows V7 V7.53 棋譜ファイル ----
開始日時：2020/01/01 10:00:00
棋戦：テスト
手合割：平手\u3000\u3000
先手：先手太郎
後手：後手花子
先手レート：1500
*最初のコメント
手数----指手---------消費時間--
   1 ７六歩(77)   ( 0:16/00:00:16)
*コメント1
*
*コメント2
&しおり
   2 ３四歩(33)   ( 0:00/00:00:00)+
   3 ２二角成(88)   ( 1:01/00:01:17)+
   4 同　銀(31)   ( 0:02/00:00:02)
   5 ４五角打   ( 0:03/00:01:20)
   6 投了   ( 0:05/00:00:07)
まで5手で先手の勝ち

変化：3手
   3 ６六歩(67)

変化：2手
   2 ８四歩(83)   ( 0:00/00:00:00)
*枝
   3 ２六歩(27)
   4 ８五歩(84)

変化：4手
   4 ３四歩(33)
"""

KIF_GAME = GameRecord(
    plies=(
        Ply("7g7f", "コメント1\n\nコメント2", 16.0),
        Ply("3c3d", "", 0.0),
        Ply("8h2b+", "", 61.0),
        Ply("3a2b", "", 2.0),
        Ply("B*4e", "", 3.0),
    ),
    names=("先手太郎", "後手花子"),
    ratings=(1500.0, None),
    ending=Ending.RESIGNATION,
    winner=0,
    end_seconds=5.0,
    headers={"開始日時": "2020/01/01 10:00:00", "棋戦": "テスト"},
    comment="最初のコメント",
    variations=(
        Variation(2, (Ply("8c8d", "枝", 0.0), Ply("2g2f"), Ply("8d8e")), (Variation(4, (Ply("3c3d"),)),)),
        Variation(3, (Ply("6g6f"),)),
    ),
)

FLOODGATE = """V2
N+Gikou_Black
N-Apery_White
'Max_Moves:256
'Least_Time_Per_Move:0
$EVENT:wdoor+floodgate-300-10F+Gikou_Black+Apery_White+20200101000001
$START_TIME:2020/01/01 00:00:01
P1-KY-KE-GI-KI-OU-KI-GI-KE-KY
P2 * -HI *  *  *  *  * -KA *
P3-FU-FU-FU-FU-FU-FU-FU-FU-FU
P4 *  *  *  *  *  *  *  *  *
P5 *  *  *  *  *  *  *  *  *
P6 *  *  *  *  *  *  *  *  *
P7+FU+FU+FU+FU+FU+FU+FU+FU+FU
P8 * +KA *  *  *  *  * +HI *
P9+KY+KE+GI+KI+OU+KI+GI+KE+KY
+
'rating:Gikou_Black+aaaa:Apery_White+bbbb
'black_rate:Gikou_Black+aaaa:3201.5
'white_rate:Apery_White+bbbb:2850.0
+7776FU
T12
'** 30 -3334FU +2726FU
-3334FU
T1
%TORYO
'$END_TIME:2020/01/01 00:20:01
'summary:toryo:Gikou_Black lose:Apery_White win
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "utf-16", "euc_jp", "iso2022_jp"])
def test_kif_is_read_whole_in_every_encoding(encoding: str) -> None:
    for newline in ("\n", "\r\n", "\r"):
        assert parse_record(KIF.replace("\n", newline).encode(encoding)) == KIF_GAME


def test_full_width_and_half_width_digits_are_the_same() -> None:
    narrow = KIF.translate(str.maketrans("１２３４５６７８９", "123456789"))
    wide = KIF.translate(str.maketrans("()", "（）"))
    assert parse_record(narrow) == parse_record(wide) == KIF_GAME


def test_floodgate_records_have_ratings_scores_and_results() -> None:
    game = parse_record(FLOODGATE)
    assert game.names == ("Gikou_Black", "Apery_White")
    assert game.ratings == (3201.5, 2850.0)
    assert game.plies == (Ply("7g7f", "* 30 -3334FU +2726FU", 12.0), Ply("3c3d", "", 1.0))
    assert (game.ending, game.winner, game.start) == (Ending.RESIGNATION, 1, START_SFEN)
    assert game.headers["開始日時"] == "2020/01/01 00:00:01"
    assert "Max_Moves:256" in game.comment
    again = parse_record(to_csa(game))
    assert again == game


def test_cshogi_reads_the_same_ratings_scores_and_moves() -> None:
    cshogi, csa = pytest.importorskip("cshogi"), pytest.importorskip("cshogi.CSA")
    # As servers write it: cshogi reads beyond the end of a line that lacks its last blank.
    sent = re.sub(r"(?m)^(P[1-9].*\*)$", r"\1 ", FLOODGATE)
    (theirs,) = csa.Parser.parse_str(sent)
    ours = parse_record(FLOODGATE)
    assert tuple(map(cshogi.move_to_usi, theirs.moves)) == ours.moves
    assert tuple(theirs.ratings) == ours.ratings
    assert tuple(theirs.names) == ours.names
    assert theirs.scores[0] == score_of(ours.plies[0], 0) == 30
    assert theirs.scores[1] == 0  # For cshogi no score is 0.
    assert score_of(ours.plies[1], 1) is None
    assert (theirs.endgame, theirs.win) == ("%TORYO", cshogi.WHITE_WIN)
    (again,) = csa.Parser.parse_str(to_csa(ours))
    assert (again.moves, again.ratings, again.scores) == (theirs.moves, theirs.ratings, theirs.scores)


def test_the_summary_of_the_server_gives_the_result() -> None:
    for summary, ending, winner in [
        ("toryo:a win:b lose", Ending.RESIGNATION, 0),
        ("time up:a lose:b win", Ending.TIME, 1),
        ("illegal move:a lose:b win", Ending.ILLEGAL_MOVE, 1),
        ("sennichite:a draw:b draw", Ending.REPETITION, None),
        ("oute_sennichite:a lose:b win", Ending.PERPETUAL_CHECK, 1),
        ("kachi:a win:b lose", Ending.DECLARATION, 0),
        ("max_moves:a draw:b draw", Ending.MAX_PLIES, None),
        ("abnormal:a win:b lose", Ending.INTERRUPTED, 0),
    ]:
        game = parse_record(f"PI\n+\n+7776FU\nT1\n'summary:{summary}\n")
        assert (game.ending, game.winner) == (ending, winner)


def test_the_endings_of_kif() -> None:
    for word, ending, winner in [
        ("投了", Ending.RESIGNATION, 0), ("詰み", Ending.CHECKMATE, 0), ("切れ負け", Ending.TIME, 0),
        ("反則負け", Ending.ILLEGAL_MOVE, 0), ("反則勝ち", Ending.ILLEGAL_MOVE, 1),
        ("入玉勝ち", Ending.DECLARATION, 1), ("千日手", Ending.REPETITION, None),
        ("持将棋", Ending.IMPASSE, None), ("中断", Ending.INTERRUPTED, None), ("不戦敗", Ending.FORFEIT, 0),
        ("不詰", Ending.NO_MATE, None),
    ]:  # fmt: skip
        game = parse_record(f"手数----指手----\n1 ７六歩(77)  ( 0:16/00:00:16)\n2 {word}  ( 0:01/00:00:01)\n")
        assert (game.ending, game.winner) == (ending, winner)
        for write in (to_kif, to_jkf, to_csa):
            if not (write in (to_jkf, to_csa) and ending is Ending.FORFEIT):  # CSA has no word for it.
                again = parse_record(write(game))
                assert (again.ending, again.winner) == (ending, winner), write(game)
        assert parse_record(to_ki2(game)).winner == winner


def test_the_result_line_gives_the_ending() -> None:
    for line, ending, winner in [
        ("まで1手で先手の勝ち", Ending.RESIGNATION, 0),
        ("まで1手で上手の反則負け", Ending.ILLEGAL_MOVE, 0),
        ("まで1手で後手の反則勝ち", Ending.ILLEGAL_MOVE, 1),
        ("まで１手で時間切れにより先手の勝ち", Ending.TIME, 0),
        ("まで1手で後手の入玉勝ち", Ending.DECLARATION, 1),
        ("まで1手で千日手", Ending.REPETITION, None),
        ("まで1手で中断", Ending.INTERRUPTED, None),
        ("まで1手で持将棋", Ending.IMPASSE, None),
    ]:
        for record in (f"▲７六歩\n{line}\n", f"1 ７六歩(77)\n{line}\n"):
            game = parse_record(record)
            assert (game.ending, game.winner) == (ending, winner)


def test_the_endings_of_csa() -> None:
    for word, ending, winner in [
        ("TORYO", Ending.RESIGNATION, 0), ("CHUDAN", Ending.INTERRUPTED, None),
        ("SENNICHITE", Ending.REPETITION, None), ("TIME_UP", Ending.TIME, 0),
        ("ILLEGAL_MOVE", Ending.ILLEGAL_MOVE, 0), ("+ILLEGAL_ACTION", Ending.ILLEGAL_MOVE, 1),
        ("-ILLEGAL_ACTION", Ending.ILLEGAL_MOVE, 0), ("JISHOGI", Ending.IMPASSE, None),
        ("KACHI", Ending.DECLARATION, 1), ("HIKIWAKE", Ending.DRAW, None),
        ("MAX_MOVES", Ending.MAX_PLIES, None), ("TSUMI", Ending.CHECKMATE, 0),
        ("FUZUMI", Ending.NO_MATE, None), ("ERROR", Ending.INTERRUPTED, None),
    ]:  # fmt: skip
        game = parse_record(f"V2.2\nPI\n+\n+7776FU,T3\n%{word}\n")
        assert (game.ending, game.winner) == (ending, winner)


def test_csa_statements_on_one_line_are_separated_by_commas() -> None:
    game = parse_record("V2.2\n$EVENT:a,b\nN+x,y\nPI\n+\n+7776FU,T3,-3334FU,T4,%CHUDAN\n")
    assert game.moves == ("7g7f", "3c3d")
    assert [ply.seconds for ply in game.plies] == [3.0, 4.0]
    assert (game.headers["棋戦"], game.names[0], game.ending) == ("a,b", "x,y", Ending.INTERRUPTED)


def test_csa_positions_by_ranks_removals_and_remaining_pieces() -> None:
    ranks = "\n".join(f"P{rank}" + " * " * 9 for rank in range(2, 9))
    game = parse_record(
        f"P1{' * ' * 8}-OU\n{ranks}\nP9{' * ' * 8}+OU\nP+00KI13FU\nP-00AL\n+\n+0012KI\n%TSUMI\n"
    )
    assert game.start == "8k/9/8P/9/9/9/9/9/8K b G2r2b3g4s4n4l17p 1"
    assert parse_record("PI82HI22KA\n-\n-7162GI\n").start == HANDICAPS[6].sfen


def test_handicap_games_keep_their_start() -> None:
    for handicap in HANDICAPS:
        board = Board(handicap.sfen)
        game = GameRecord(handicap.sfen, (Ply(move_to_usi(board.legal_moves()[0])),), ("下", "上"))
        assert (f"手合割：{handicap.japanese}\n" in to_kif(game)) == bool(handicap.preset)
        for write in (to_kif, to_ki2, to_csa, to_jkf):
            assert parse_record(write(game)) == game


DIAGRAM = """後手の持駒：飛　角　金四　銀三　桂四　香三　歩十七\u3000
  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
| ・ ・ ・ ・ ・ ・ ・ ・v香|一
| ・ ・ ・ ・ 飛 馬 ・ ・v玉|二
| ・ ・ ・ ・ ・ ・ ・ ・v歩|三
| ・ ・ ・ ・ ・ ・ ・ ・ ・|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| ・ ・ ・ ・ ・ ・ ・ ・ ・|六
| ・ ・ ・ ・ ・ ・ ・ ・ ・|七
| ・ ・ ・ ・ ・ ・ ・ ・ ・|八
| ・ ・ ・ ・ ・ ・ ・ ・ 王|九
+---------------------------+
先手の持駒：銀\u3000
手合割：その他
先手：x
後手：y
手数----指手---------消費時間--
1 ２一銀打
"""


def test_a_diagram_gives_any_start() -> None:
    game = parse_record(DIAGRAM)
    assert game.start == "8l/4R+B2k/8p/9/9/9/9/9/8K b Srb4g3s4n3l17p 1"
    assert game.moves == ("S*2a",)
    for write in (to_kif, to_ki2, to_csa, to_jkf):
        assert parse_record(write(game)) == game
    white = parse_record(DIAGRAM.replace("先手：x", "後手番").replace("1 ２一銀打", "1 ３三金打"))
    assert white.turn == 1
    assert parse_record(to_kif(white)) == white


@pytest.mark.parametrize(
    "line",
    [
        "position startpos moves 7g7f 3c3d",
        "startpos moves 7g7f 3c3d",
        f"sfen {START_SFEN} moves 7g7f 3c3d",
        f"{START_SFEN} moves 7g7f 3c3d",
        f"{START_SFEN} 7g7f 3c3d",
        f"{START_SFEN[:-2]} moves 7g7f 3c3d",
    ],
)
def test_usi_and_sfen_lines(line: str) -> None:
    game = parse_record(line)
    assert game.moves == ("7g7f", "3c3d")
    assert to_usi(game) == "startpos moves 7g7f 3c3d"


def test_fractions_of_seconds_are_read_and_written_as_clocks_count() -> None:
    kif = parse_record(
        "1 ７六歩(77) ( 0:01.75/00:00:01)\n2 ３四歩(33) ( 0:02/00:00:02)\n3 ２六歩(27) ( 0:01.5/)\n"
    )
    csa = parse_record("PI\n+\n+7776FU\nT1.75\n-3334FU\nT2\n+2726FU\nT1.5\n")
    assert [ply.seconds for ply in kif.plies] == [ply.seconds for ply in csa.plies] == [1.75, 2.0, 1.5]
    assert parse_record(to_jkf(kif)) == kif
    assert "( 0:01/00:00:02)" in to_kif(kif)  # The sum of the times that are shown.
    assert "T1\n" in to_csa(kif)


def test_a_comment_before_the_first_move_of_a_variation_belongs_to_this_move() -> None:
    game = parse_record(
        "*全体\n1 ７六歩(77)\n2 ３四歩(33)\n変化：2手\n*変化の説明\n2 ８四歩(83)\n*二手目\n3 ２六歩(27)\n"
    )
    assert game.comment == "全体"
    assert game.variations == (Variation(2, (Ply("8c8d", "変化の説明\n二手目"), Ply("2g2f"))),)
    assert parse_record(to_kif(game)).variations == game.variations


def test_the_sums_of_times_go_on_in_a_variation() -> None:
    text = to_kif(
        parse_record(
            "1 ７六歩(77) ( 0:10/00:00:10)\n2 ３四歩(33) ( 0:20/00:00:20)\n3 ２六歩(27) ( 0:01/00:00:11)\n"
            "変化：3手\n3 ６六歩(67) ( 0:05/)\n4 ８四歩(83) ( 0:07/)\n"
        )
    )
    assert re.findall(r"\( 0:\d\d/00:00:\d\d\)", text)[-2:] == ["( 0:05/00:00:15)", "( 0:07/00:00:27)"]


@pytest.mark.parametrize(
    "text",
    ["/" * 3000, "1 a" + " " * 3000 + "x", "\n" * 100_000 + "x", "1 (" + "1:" * 50_000],
    ids=["slashes", "blanks", "lines", "a time"],  # Windows has no room for the texts in a variable.
)
def test_no_text_takes_the_reader_long(text: str) -> None:
    """Each of these took minutes or more; the time limit of the tests is the measure."""
    with pytest.raises(RecordError):
        parse_record(text)


def test_a_ply_number_may_begin_above_1() -> None:
    game = parse_record("21 ７六歩(77)\n22 ３四歩(33)\n変化：22手\n22 ８四歩(83)\n")
    assert game.moves == ("7g7f", "3c3d")
    assert game.variations == (Variation(2, (Ply("8c8d"),)),)


@pytest.mark.parametrize(
    "record",
    [
        "1 ７六歩(77)\n2 ３四歩(33)\n3 ７七歩打\nまで2手で先手の反則負け\n",
        "1 ７六歩(77)\n2 ３四歩(33)\n3 ７七歩打\n*二歩\n4 反則勝ち\n",
        "PI\n+\n+7776FU\n-3334FU\n+0077FU\n%+ILLEGAL_ACTION\n",
        "PI\n+\n+7776FU\n-3334FU\n+0077FU\n'summary:illegal move:a lose:b win\n",
    ],
)
def test_an_illegal_last_move_is_the_end_and_not_an_error(record: str) -> None:
    game = parse_record(record)
    assert game.moves == ("7g7f", "3c3d")
    assert (game.ending, game.winner) == (Ending.ILLEGAL_MOVE, 1)
    assert "反則手" in game.plies[-1].comment


JKF_PAWN = '{"moves": [{}, {"move": {"piece": "FU", "from": {"x": 7, "y": %d}, "to": {"x": 7, "y": %d}}}]}'
JKF_TIME = (
    '{"moves": [{}, {"move": {"piece": "FU", "from": {"x": 7, "y": 7}, "to": {"x": 7, "y": 6}}, '
    '"time": {"now": {%s}}}]}'
)
HEAD = "手数----指手---------消費時間--\n"


@pytest.mark.parametrize(
    ("record", "line", "words"),
    [
        (HEAD + "1 ７六歩(77)\n2 ３五歩(33)\n3 ２六歩(27)\n", 3, "not legal"),
        (HEAD + "1 ７六歩(77)\n3 ２六歩(27)\n", 3, "expected move 2, received move 3"),
        (HEAD + "1 ７六歩(77)\n2 ３四", 3, "3四"),
        (HEAD + "1 ７六歩(77)\n2 ３四歩(33) ( 0:xx/1)\n", 3, "expected a time"),
        (HEAD + "1 ７六歩(77)\nちょっと\n2 ３四歩(33)\n", 3, "expected a move or a comment"),
        (HEAD + "1 ７六歩(77)\n2 投了\n3 ３四歩(33)\n", 4, "after the end"),
        (HEAD + "1 ７六歩(77)\n変化：5手\n5 ３四歩(33)\n", 3, "a variation of move 5"),
        ("手合割：百枚落ち\n" + HEAD + "1 ７六歩(77)\n", 3, "百枚落ち"),
        (DIAGRAM.replace("| ・ ・ ・ ・ ・ ・ ・ ・v香|一\n", ""), 11, "9 ranks"),
        (DIAGRAM.replace("| ・ ・ ・ ・ ・ ・ ・ ・v香|一", "| ・ ・v香|一"), 4, "9 squares"),
        (DIAGRAM.replace("金四", "金四十"), 1, "金四十"),
        (DIAGRAM.replace("金四", "と四"), 1, "pieces in hand"),
        (DIAGRAM.replace("金四", "金十十"), 1, "pieces in hand"),
        (DIAGRAM.replace("金四", "金一二"), 1, "pieces in hand"),
        (DIAGRAM.replace("v玉", " ・"), 12, "no king"),
        ("PI\n+\n+7776FU\n-3335FU\n+2726FU\n", 4, "not legal"),
        ("PI\n+\n+7776FU\n+2726FU\n", 4, "the other side's turn"),
        ("PI\n+\n+7776FU\n%NANIKA\n", 4, "NANIKA"),
        ("PI\n+\n+7776FU\nhello\n", 4, "hello"),
        ("PI\n+\n+7776FU\n%TORYO\n-3334FU\n", 5, "after the end"),
        ("PI\nPI\n+\n", 2, "first PI"),
        ("PI01FU\n+\n", 1, "01FU"),
        (HEAD + "*\n" * 100_000, None, "100000 lines"),
        ("sfen 4k4/9/9/9/9/9/9/9/4K4 b " + "9" * 400 + "P", 1, "999999999P: a count"),
        ("PI99XX\n+\n+7776FU\n", 1, "99XX"),
        ("P1-KY-XX\n+\n+7776FU\n", 1, "-XX"),
        ("P+00OU\n+\n", 1, "OU cannot be in a hand"),
        ("startpos moves 7g7f 7g7f\n", 1, "7g7f"),
        ("sfen 9/9 b - 1\n", 1, "ranks"),
        ("", None, "empty"),
        ("\n\n", None, "empty"),
        ("hello\nworld\n", 1, "hello"),
        (HEAD + "1 ７六歩(77)\n\0\0\0", 3, "zero byte"),
        ("{", 1, "JSON"),
        ("{}", None, "moves"),
        ('{"moves": 3}', None, "moves"),
        (JKF_PAWN % (7, 5), None, "7g7e"),
        (JKF_PAWN % (70, 5), None, "70"),
        ('{"moves": [], "initial": {"preset": "X"}}', None, "preset"),
        ("[" * 100_000, 1, "["),
        ('{"moves":' + "[" * 100_000, None, "JKF"),
        (JKF_TIME % '"h": 1e308', None, "expected a time"),
        (JKF_TIME % '"s": "nan"', None, "expected a time"),
        (JKF_TIME % '"s": -1', None, "expected a time"),
        ("PI\n+\n+7776FU\nT99999999999\n", 4, "expected a time"),
    ],
)  # fmt: skip
def test_a_damaged_record_is_refused_with_its_line(record: str, line: int | None, words: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_record(record, "game.kif")
    assert caught.value.line == line
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"game.kif:{line}: " if line else "game.kif: ")


def test_bytes_in_no_encoding_are_refused_with_their_line() -> None:
    data = KIF.encode("cp932").replace("花子".encode("cp932"), b"\x82\x01")
    with pytest.raises(RecordError, match="0x82") as caught:
        parse_record(data)
    assert caught.value.line == 6


def test_undecodable_comments_do_not_cost_a_csa_game() -> None:
    game = parse_record(b"PI\n'\xff\xff\xff\x81\n+\n+7776FU\n")
    assert game.moves == ("7g7f",)


def test_several_games_in_a_file() -> None:
    csa = "PI\n+\n+7776FU\n%TORYO\n/\nPI\n+\n+7775FU\n/\nPI\n+\n+2726FU\n%CHUDAN\n"
    first, second, third = parse_records(csa, "games.csa")
    assert isinstance(first, GameRecord)
    assert first.moves == ("7g7f",)
    assert isinstance(second, RecordError)
    assert second.line == 8
    assert isinstance(third, GameRecord)
    lines = list(parse_records("startpos moves 7g7f\n# comment\n\nstartpos moves 7g7x\nstartpos\n"))
    assert [type(game) for game in lines] == [GameRecord, RecordError, GameRecord]
    with pytest.raises(RecordError, match="expected one game, found 3"):
        parse_record(csa)


def test_variations_of_many_levels_are_bounded() -> None:
    deep = HEAD + "".join(f"{ply} {move}\n" for ply, move in enumerate(["７六歩(77)", "３四歩(33)"], 1))
    deep += "変化：1手\n1 ２六歩(27)\n2 ８四歩(83)\n変化：2手\n2 ３四歩(33)\n" * 150
    game = parse_record(deep)  # 変化：1手 returns to the game.
    assert len(game.variations) == 150
    nested = HEAD + "1 ７六歩(77)\n"
    board = Board()
    for ply in range(1, 200):
        first, second = (move_to_usi(move) for move in board.legal_moves()[:2])
        nested += f"変化：{ply}手\n{ply} {first}\n{ply + 1} {_reply(board, first)}\n"
        board.push_usi(first)
        del second
    with pytest.raises(RecordError, match="100 deep"):
        parse_record(nested)


def _reply(board: Board, move: str) -> str:
    after = board.copy()
    after.push_usi(move)
    return move_to_usi(after.legal_moves()[-1])


def test_a_file_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "game.kif"
    path.write_bytes(KIF.encode("cp932"))
    assert read_record(path) == KIF_GAME
    path.write_bytes(b"\0" * 100)
    with pytest.raises(RecordError, match=r"game\.kif:1: a zero byte"):
        read_record(path)


# Random games.


def random_game(seed: int, plies: int = 60) -> GameRecord:
    """A game with comments, times, variations and any ending."""
    random = Random(seed)
    start = random.choice(HANDICAPS).sfen
    board = Board(start)
    moves, variations = [], []
    for number in range(1, random.randrange(plies) + 2):
        legal = board.legal_moves()
        if not legal:
            break
        if random.random() < 0.1:
            variations.append(random_variation(board.copy(), number, random, 2))
        move = random.choice(legal)
        moves.append(random_ply(move_to_usi(move), random))
        board.push(move)
    ending = random.choice(
        [Ending.RESIGNATION, Ending.REPETITION, Ending.INTERRUPTED, Ending.TIME, Ending.UNKNOWN]
    )
    loses = ending in (Ending.RESIGNATION, Ending.TIME)
    return GameRecord(
        start=Board(start).sfen(),
        plies=tuple(moves),
        names=random.choice([("", ""), ("a b", "先手：太郎"), ("▲", "2手")]),
        ratings=random.choice([(None, None), (1500.5, None), (1.0, 2500.0)]),
        ending=ending,
        winner=1 - board.turn if loses else None,
        headers=random.choice(
            [
                {},
                {
                    "棋戦": "名人戦",
                    "持ち時間": random.choice(["1分", "90分+60秒", "10分 加算5秒", "各6時間"]),
                },
            ]
        ),
        comment=random.choice(["", "最初", "two\nlines"]),
        variations=tuple(variations),
    )


def random_ply(move: str, random: Random) -> Ply:
    comment = random.choice(["", "", "", "好手", "１ ７六歩(77)", "a\nb", "* 30 -3334FU"])
    return Ply(move, comment, random.choice([None, 0.0, 7.0, 65.0, 3661.0]))


def random_variation(board: Board, first: int, random: Random, depth: int) -> Variation:
    plies, children = [], []
    for number in range(first, first + random.randrange(1, 5)):
        legal = board.legal_moves()
        if not legal:
            break
        if depth and number > first and random.random() < 0.3:
            children.append(random_variation(board.copy(), number, random, depth - 1))
        plies.append(random_ply(move_to_usi(random.choice(legal)), random))
        board.push_usi(plies[-1].move)
    return Variation(first, tuple(plies), tuple(child for child in children if child.plies))


def test_random_games_come_back_from_kif_and_jkf() -> None:
    for seed in range(37):
        game = random_game(seed)
        assert parse_record(to_kif(game)) == game
        assert parse_record(to_jkf(game)) == game
        assert parse_record(to_kif(parse_record(to_jkf(parse_record(to_kif(game)))))) == game


def test_random_games_come_back_from_csa_and_ki2_as_far_as_these_can() -> None:
    for game in map(random_game, range(25)):
        csa, ki2 = parse_record(to_csa(game)), parse_record(to_ki2(game))
        for field in ("start", "plies", "ending", "winner", "names", "ratings", "headers"):
            assert getattr(csa, field) == getattr(game, field)
        assert (ki2.start, ki2.moves, ki2.winner) == (game.start, game.moves, game.winner)
        assert [ply.comment for ply in ki2.plies] == [ply.comment for ply in game.plies]
        assert [one.ply for one in ki2.variations] == [one.ply for one in game.variations]


RSSHOGI_LACKS = [item.sfen for item in HANDICAPS if item.english.endswith("7-piece")]


def test_rsshogi_reads_what_is_written() -> None:
    record = pytest.importorskip("rsshogi.record").Record
    for game in map(random_game, range(16)):
        if game.start in RSSHOGI_LACKS:
            continue
        for text, read in (
            (to_kif(game), record.from_kif_str),
            (to_ki2(game), record.from_ki2_str),
            (to_csa(game), record.from_csa_str),
            (to_jkf(game), record.from_jkf_str),
        ):
            theirs = read(text)
            assert tuple(entry.move.to_usi() for entry in theirs.moves) == game.moves, text
            assert theirs.init_position_sfen.split()[:2] == game.start.split()[:2]
            if game.ending is Ending.RESIGNATION:
                assert theirs.result.is_black_win() == (game.winner == 0)
                assert theirs.result.is_white_win() == (game.winner == 1)


def test_what_rsshogi_writes_is_read() -> None:
    record = pytest.importorskip("rsshogi.record").Record
    for game in map(random_game, range(16)):
        theirs = record.from_usi_main_line(game.start, list(game.moves))
        written = theirs.to_kif(), theirs.to_ki2(), theirs.to_csa(), theirs.to_jkf(), theirs.to_usi_position()
        for text in written:
            assert parse_record(text).moves == game.moves
            assert parse_record(text).start == game.start


# Damage.

SAMPLES = [
    KIF.encode(),
    KIF.encode("cp932"),
    FLOODGATE.encode(),
    DIAGRAM.encode(),
    to_jkf(KIF_GAME).encode(),
    to_ki2(KIF_GAME).encode(),
    to_usi(KIF_GAME).encode(),
]


def reads_or_refuses(data: bytes) -> None:
    """Any other exception than RecordError fails the test."""
    for game in parse_records(data, "x"):
        if isinstance(game, GameRecord):
            for write in (to_kif, to_jkf):
                assert parse_record(write(game)).moves == game.moves


@pytest.mark.parametrize("write", [to_kif, to_csa, to_jkf], ids=["kif", "csa", "jkf"])
def test_names_headers_and_comments_cannot_steer_a_terminal(write: Callable[[GameRecord], str]) -> None:
    record = GameRecord(
        plies=(Ply("7g7f", "\x1b[2J\nsecond line"),),
        names=("\x1b]0;title\x07", "後手\u202e花子"),
        headers={"棋戦": "\x9b31m"},
        ending=Ending.RESIGNATION,
        winner=0,
    )
    found = parse_record(write(record))
    assert found.names == ("\\x1b]0;title\\x07", "後手\\u202e花子")
    assert found.headers["棋戦"] == "\\x9b31m"
    assert found.plies[0].comment == "\\x1b[2J\nsecond line"


@given(st.binary(max_size=300))
def test_random_bytes_are_refused_without_a_crash(data: bytes) -> None:
    reads_or_refuses(data)


@settings(max_examples=400)
@given(st.sampled_from(SAMPLES), st.integers(0, 2000), st.integers(0, 40), st.binary(max_size=12))
def test_damaged_records_are_read_or_refused(sample: bytes, at: int, lost: int, found: bytes) -> None:
    at %= len(sample)
    reads_or_refuses(sample[:at] + found + sample[at + lost :])


KEYS_OF_JKF = [
    "header", "initial", "preset", "data", "board", "color", "hands", "moves", "move", "from", "to", "x",
    "y", "piece", "time", "now", "m", "s", "forks", "comments", "special", "promote",
]  # fmt: skip


@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS_OF_JKF), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_random_json_is_refused_without_a_crash(value: object) -> None:
    reads_or_refuses(json.dumps({"moves": [{}, value], "initial": value}).encode())
    reads_or_refuses(json.dumps({"moves": [{"move": value}], "header": value}).encode())


def test_the_time_of_an_ending_that_is_no_move_is_kept() -> None:
    kif = (
        "1 ７六歩(77) ( 0:10/00:00:10)\n2 ３四歩(33) ( 0:20/00:00:20)\n3 投了 ( 1:05/00:01:15)\n"
        "変化：2手\n2 ８四歩(83) ( 0:07/)\n3 中断 ( 0:03/)\n"
    )
    game = parse_record(kif)
    assert [ply.seconds for ply in game.plies] == [10.0, 20.0]
    assert game.end_seconds == 65.0
    assert game.variations[0].plies[0].seconds == 7.0
    assert "   3 投了   ( 1:05/00:01:15)\n" in to_kif(game)
    assert "%TORYO\nT65\n" in to_csa(game)
    assert parse_record(to_kif(game)) == parse_record(to_jkf(game)) == game
    assert parse_record(to_csa(game)) == replace(game, variations=())


def test_the_time_of_an_illegal_move_is_not_that_of_the_move_before_it() -> None:
    game = parse_record("PI\n+\n+7776FU\nT4\n-3355FU\nT9\n%ILLEGAL_MOVE\n")
    assert (game.plies[0].seconds, game.end_seconds) == (4.0, 9.0)
