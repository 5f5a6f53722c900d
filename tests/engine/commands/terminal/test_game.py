"""`goryu play` at a terminal: kanji and colours, letters elsewhere, clocks, records, notations."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from time import monotonic

import pytest

from goryu.base.language import japanese
from goryu.commands.play import main
from goryu.commands.terminal.boards import shogi_text
from goryu.commands.terminal.game import Play, time_text
from goryu.commands.terminal.game_display import GAMES
from goryu.games.shogi import move_from_usi
from goryu.implementation import Board
from goryu.kifu.handicaps import handicap_of_name
from goryu.kifu.reading import read_record
from goryu.kifu.record import Ending
from goryu.players.agents.agents import AGENTS
from goryu.players.agents.catalogue import ALGORITHMS
from goryu.players.levels.levels import LEVELS
from goryu.table.clock import ClockConfig, Clocks
from goryu.table.game import Game, new_board
from paths import MODELS
from present import present

START = "7g7f\n3c3d\n2g2f\n"


@pytest.fixture(autouse=True)
def _options_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GORYU_OPTIONS", str(tmp_path / "engine_options.txt"))


def session(arguments: str, lines: str = "quit\n", status: int = 0) -> str:
    out = StringIO()
    assert main(arguments.split(), StringIO(lines), out) == status
    return out.getvalue()


def alone(sfen: str = "", clock: ClockConfig | None = None, now: Callable[[], float] = monotonic) -> Play:
    """A game between two persons."""
    return Play(GAMES["shogi"], Game(new_board(sfen), clock=clock, now=now), {})


def texts(items: Iterator[object]) -> list[str]:
    return [str(item) for item in items]


# A real terminal.

posix = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal of POSIX")


def at_terminal(arguments: str, lines: list[str], environment: Mapping[str, str]) -> str:
    """Returns what a terminal shows while a person writes the lines, each after a prompt."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ.update({"TERM": "xterm-256color", "COLUMNS": "100", **environment})
        os.execv(sys.executable, [sys.executable, "-m", "goryu", "play", *arguments.split()])
    shown, answered = b"", 0
    waiting = list(lines)
    while True:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # The program has closed the terminal.
            break
        # A prompt ends in "> ", perhaps followed by escape sequences of readline.
        if waiting and without_escapes(shown[answered:].decode("utf-8", "replace")).endswith("> "):
            answered = len(shown)
            os.write(terminal, waiting.pop(0).encode() + b"\n")
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return shown.decode("utf-8")


def without_escapes(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


@posix
def test_a_terminal_shows_kanji_in_colour_and_japanese() -> None:
    shown = at_terminal(
        "shogi --level 1 --seed 1", ["7六歩", "終了"], {"PYTHONUTF8": "1", "GORYU_LANGUAGE": "ja"}
    )
    assert "\x1b[" in shown
    plain = without_escapes(shown)
    assert "先手：あなた、後手：ひよこ（レベル1）" in plain
    assert "1. ▲７六歩\n2. △" in plain
    assert "  v香 v桂 v銀 v金 v玉 v金 v銀 v桂 v香  一" in plain
    assert plain.count("▲あなた  持駒：なし") == 2  # One board for a turn.


@posix
@pytest.mark.parametrize(
    ("environment", "has_kanji"),
    [({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, True), ({"PYTHONIOENCODING": "ascii"}, False)],
)
def test_a_terminal_that_cannot_shows_letters_or_no_colours(
    environment: dict[str, str], has_kanji: bool
) -> None:
    shown = at_terminal(
        "shogi --second random --seed 1", ["7g7f", "quit"], {"PYTHONUTF8": "1", **environment}
    )
    assert ("v飛" in shown) == has_kanji
    assert ("1. black (sente): 7g7f") in shown
    assert "\x1b[38" not in shown
    assert "\x1b[48" not in shown


@posix
def test_after_the_end_a_person_at_a_terminal_can_save_or_go_on(tmp_path: Path) -> None:
    file = tmp_path / "対局.kif"
    lines = ["resign", f"save {file}", "undo", "7g7f", "resign", "quit"]
    shown = at_terminal("shogi --second person", ["2g2f", *lines], {"PYTHONUTF8": "1"})
    assert shown.count("wins: resignation") == 2
    assert read_record(file).ending is Ending.RESIGNATION
    assert read_record(file).moves == ("2g2f",)


# Boards.


def test_the_board_marks_the_last_move_promoted_pieces_and_hands() -> None:
    board = Board("4k4/9/4+P4/9/9/9/9/9/4K4 b 2P18r 1".replace("18r", "b"))
    board.push_usi("P*5e")
    text = shogi_text(board, ("one", "two"), has_colour=False).plain
    assert text.startswith("△two  in hand: 角\n")
    assert text.endswith("▲one  in hand: 歩")
    assert "  歩* " in text.splitlines()[6]
    assert " と " in text.splitlines()[4]
    assert "check" not in text


# Notations.


@pytest.mark.parametrize(
    ("name", "expected"),
    [("usi", "8h2b+"), ("japanese", "▲２二角成"), ("kif", "２二角成(88)"), ("western", "Bx2b+")],
)
def test_moves_are_shown_in_the_chosen_notation(name: str, expected: str) -> None:
    out = session(f"shogi --second person --notation {name}", "7g7f\n3c3d\nmoves\n8h2b+\nquit\n")
    assert out.split("3. ")[1].splitlines()[0].endswith(expected)


# Start, clock, end.


def test_moves_are_read_in_full_width_and_by_the_square_of_the_last_move() -> None:
    play = alone()
    assert texts(play.receive("5八金")) == ["5八金 may be G4i-5h (4i5h), G6i-5h (6i5h)"]
    for ply, move in enumerate(("　７ｇ７ｆ", "3四歩", "2二角成", "同銀", "Ｐ－２ｆ"), start=1):
        list(play.receive(move))
        assert play.game.state.ply == ply


def test_a_handicap_game_begins_with_white() -> None:
    out = session("shogi --second random --handicap 2-piece --seed 1")
    assert "white (uwate): random" in out
    assert "\n1. white (uwate): " in out
    handicap = present(handicap_of_name("2-piece"))
    play = alone(handicap.sfen)
    assert play.game.state.turn == 1


def test_a_game_goes_on_from_a_record(tmp_path: Path) -> None:
    file = tmp_path / "game.kif"
    session(f"shogi --second person --save {file}", START)
    out = session(f"shogi --second person --record {file} --ply 2")
    assert "3. " not in out
    assert out.rstrip().endswith("black (sente) to move>")
    again = tmp_path / "again.csa"
    session(f"shogi --second person --record {file} --save {again}", "8c8d\nresign\n")
    record = read_record(again)
    assert record.moves == ("7g7f", "3c3d", "2g2f", "8c8d")
    assert (record.ending, record.winner) == (Ending.RESIGNATION, 1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("shogi --handicap 3.5-piece", "--handicap 3.5-piece: expected one of even, lance"),
        ("shogi --position x --handicap even", "--handicap --position: expected only one of them"),
        ("shogi --position x", "expected"),
        ("shogi --record none.kif", "none.kif"),
        ("shogi --ply 3", "--ply: expected --record"),
        ("reversi --handicap even", "--handicap: only shogi has this option"),
        ("shogi --level 11", "level '11': expected one of 1 Chick"),
        ("shogi --level 2 --second random", "--level and --side"),
        ("shogi --second level:11", "expected a level from 1 to 10"),
        ("shogi --increment 5", "--increment: expected --time or --byoyomi"),
        ("reversi --second minimax", "expected another player, such as depth-limited"),
        ("reversi --second alpha-beta", "expected another player, such as depth-limited"),
        ("tictactoe --second chess", "agent 'chess': expected one of random"),
        ("tictactoe --model none.onnx", "none.onnx: no such file"),
        (f"tictactoe --model {MODELS}/reversi.onnx", "made for 'reversi', expected 'tictactoe'"),
        (f"reversi --second random --model {MODELS}/reversi.onnx", "expected a player with a network"),
        (f"tictactoe --model {__file__}", "not an ONNX file"),
        ("tictactoe --first random --second random --save x.kif", "only games of shogi can be saved"),
    ],
)
def test_wrong_options_are_one_line(
    arguments: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session(arguments, status=2)
    error = capsys.readouterr().err
    assert error.startswith("goryu play: ")
    assert expected in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        (ClockConfig(65, 30), "1:05"),
        (ClockConfig(0.5, 30), "byoyomi 30 s"),
        (ClockConfig(0.5, increment_s=5), "0:00"),
    ],
)
def test_the_time_is_shown_as_minutes_or_as_byoyomi(config: ClockConfig, shown: str) -> None:
    assert time_text(Clocks(config), 0) == shown


def test_a_level_plays_on_the_clock() -> None:
    out = session("shogi --level 2 --side second --time 1 --seed 1", "3c3d\nquit\n")
    assert out.startswith("black (sente): Squirrel (level 2), white (gote): person")
    assert "[1:00] white (gote) to move> " in out
    assert "3. black (sente): " in out


def test_an_entered_king_wins_when_the_person_declares_it() -> None:
    sfen = "+P+P+PK+P+P+P+P+P/2+R+R5/2B+B5/9/9/9/9/9/4k4 b 4G4S 1"
    play = alone(sfen)
    assert "you may declare a win: declare" in texts(play.start())
    assert not play.game.over
    assert texts(play.receive("declare")) == ["black (sente) wins: declaration"]
    assert texts(alone().receive("宣言")) == ["you cannot declare a win here"]


def test_the_fourth_occurrence_ends_the_game_and_is_announced() -> None:
    play, shown = alone(), list[str]()
    for move in ("2h3h", "8b7b", "3h2h", "7b8b") * 3:
        shown += texts(play.receive(move))
    assert shown[-1] == "draw: fourfold repetition"
    assert "this position has occurred 3 times; the fourth ends the game" in shown
    assert play.game.occurrences() == 4


def test_the_rules_are_those_of_the_options_file() -> None:
    (Path(os.environ["GORYU_OPTIONS"])).write_text("MaxMovesToDraw 3\n")
    assert "draw: maximum ply" in session("shogi --second person", START)


def test_a_hint_is_a_legal_move_with_its_win_rate() -> None:
    play_text = session("shogi --second person", "hint\nquit\n")
    found = present(re.search(r"hint: (\S+) .*\(win rate (\d+) %\)", play_text))
    assert move_from_usi(found[1]) in Board().legal_moves()
    assert re.search(r"hint: [a-h][1-8]\n", session("reversi --second random", "hint\nquit\n"))


# Records.


def test_a_file_is_not_replaced_by_accident(tmp_path: Path) -> None:
    file = tmp_path / "game.kif"
    file.write_text("mine")
    out = session("shogi --second person", f"save {file}\nsave {tmp_path}/x.pdf\nsave\nquit\n")
    assert f"{file} exists; save! {file} replaces it" in out
    assert out.count("expected a name that ends in one of .kif") == 2
    assert file.read_text() == "mine"
    out = session("shogi --second person", "save ~nobody-has-this-name/x.kif\nsave a\0b.kif\n7g7f\nquit\n")
    assert "1. " in out, "the game goes on"
    session("shogi --second person", f"save! {file}\n7g7f\nsave {file}\nquit\n")
    assert read_record(file).moves == ("7g7f",)
    assert "only games of shogi can be saved" in session("tictactoe --second random", "save x.kif\n")


def test_the_ending_and_the_players_are_in_the_record(tmp_path: Path) -> None:
    file = tmp_path / "game.csa"
    session(f"shogi --level 3 --save {file}", "resign\n")
    record = read_record(file)
    assert (record.ending, record.winner) == (Ending.RESIGNATION, 1)
    assert record.names == ("person", "Rabbit (level 3)")


# Languages.


def test_the_game_speaks_japanese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GORYU_LANGUAGE", "ja")
    out = session("shogi --second person --board kanji", "9九歩\n7六歩\n待った\n2六歩\n待った\n投了\n")
    assert "先手の手番> " in out
    assert "後手の勝ち：投了" in out
    assert "▲７六歩" in out


def test_every_table_of_texts_is_translated() -> None:
    tables = [algorithm.about for algorithm in ALGORITHMS.values()]
    tables += [kind.counts for kind in AGENTS.values() if kind.counts]
    for display in GAMES.values():
        tables += [*display.sides, display.example]
    tables += ["checkmate", "fourfold repetition", "perpetual check", "maximum ply", "resignation", "time"]
    tables += [level.about for level in LEVELS]
    assert [text for text in tables if text not in ("X", "O") and not japanese(text)] == []
