"""`goryu play`: whole games at a terminal that is two text streams."""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from goryu.__main__ import main as goryu
from goryu.commands.play import main
from goryu.commands.terminal.game import Play
from goryu.commands.terminal.game_display import GAMES
from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.reversi import Reversi
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Puct
from goryu.players.agents.agents import Agent
from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import PuctConfig
from goryu.table.game import Game
from paths import MODELS


@pytest.fixture(autouse=True)
def options_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the options file of these tests would be, instead of the reader's own."""
    monkeypatch.setenv("GORYU_OPTIONS", str(tmp_path / "engine_options.txt"))
    return tmp_path / "engine_options.txt"


def session(arguments: str, lines: str = "") -> str:
    out = StringIO()
    assert main(arguments.split(), StringIO(lines), out) == 0
    return out.getvalue()


def against(state: TicTacToe, agent: Agent) -> Play:
    """A game of tic-tac-toe between a person and an agent."""
    return Play(GAMES["tictactoe"], Game(state, (True, False)), {1: agent})


def test_a_person_wins_against_an_agent_that_plays_the_last_legal_move() -> None:
    play = against(TicTacToe(), lambda state: state.legal_moves()[-1])
    lines = [*play.start(), *play.receive("0"), *play.receive("1"), *play.receive("2")]
    assert lines[-1] == "X wins: three in a row"
    assert "5. X: 2" in lines
    assert lines[-2] == " X X X\n 3 4 5\n 6 O O"
    assert play.game.over


def test_an_illegal_move_is_refused_with_an_example() -> None:
    out = session("tictactoe --second alpha-beta", "9\nhello\n4\n4\nquit\n")
    assert out.count("is not a legal move. Write the number of a free square, such as 4.") == 3


def test_a_forced_pass_is_played_automatically_and_undo_takes_it_back_with_the_move() -> None:
    # X takes b1 from a1; the last disc of O, on b3, has an edge behind the row that it could take.
    state = Reversi(4)
    state.own, state.opponent = 1 << 2 | 1 << 10 | 1 << 11, 1 << 1 | 1 << 9
    play = Play(GAMES["reversi"], Game(state), {})
    lines = list(play.receive("a1"))
    assert [line for line in lines if ". " in line[:3]] == ["1. black (X): a1", "2. white (O): pass"]
    assert play.game.state.turn == 0
    list(play.receive("undo"))
    assert play.game.state.ply == 0


def test_control_c_ends_the_session_quietly() -> None:
    class Interrupted(StringIO):
        def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
            raise KeyboardInterrupt

    out = StringIO()
    assert main(["tictactoe"], Interrupted(), out) == 0
    assert out.getvalue().endswith("X to move> \n")


def test_a_missing_network_is_announced_once_and_random_games_replace_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goryu.players.agents.presets.models_folder", lambda: tmp_path)
    out = session("tictactoe --second value:1", "0\nquit\n")
    assert out.count("no network") == 1
    assert "2. O: " in out


def test_bytes_of_another_encoding_are_an_illegal_move() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "goryu", "play", "tictactoe", "--second", "random"],
        input=b"\xff\nquit\n",
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
    )
    assert done.returncode == 0
    assert b"is not a legal move" in done.stdout


@pytest.mark.parametrize("game", ["tictactoe", "reversi"])
def test_two_algorithms_play_to_the_end_and_the_seed_repeats_the_game(game: str) -> None:
    arguments = f"{game} --first random --second depth-limited:1 --seed 3"
    out = session(arguments)
    assert "wins: " in out or "draw: " in out
    assert ("discs ahead" in out) == (game == "reversi")
    assert session(arguments) == out


def test_shogi_is_played_with_the_values_of_the_options_file(
    options_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches: list[tuple[Evaluator, PuctConfig]] = []

    def watched(evaluator: Evaluator, config: PuctConfig) -> Puct:
        searches.append((evaluator, config))
        return Puct(evaluator, config)

    monkeypatch.setattr("goryu.players.agents.agents.Puct", watched)
    options_file.write_text("Evaluator hashed\nC_init 42\nX 1\n")
    out = session("shogi --first puct:2", "quit\n")
    ((evaluator, config),) = searches
    assert isinstance(evaluator, HashedEvaluator)
    assert config.formula.c_init == 0.84
    assert out.splitlines()[:2] == [
        "engine_options.txt: no option is called 'X'",
        "set by engine_options.txt: Evaluator=hashed C_init=42",
    ]


def test_an_unreadable_options_file_is_reported_before_a_game_of_shogi(options_file: Path) -> None:
    options_file.mkdir()
    out = session("shogi --first depth-limited:1", "quit\n")
    assert out.startswith("Error! engine_options.txt cannot be read: ")
    assert out.count("engine_options.txt cannot") == 1


@pytest.mark.parametrize("game", ["tictactoe", "reversi", "shogi"])
def test_puct_on_a_tree_plays_every_game_with_the_shipped_network(game: str) -> None:
    out = session(f"{game} --first puct-tree:3", "quit\n")
    assert f": puct-tree:3, {GAMES[game].sides[1]}: person" in out
    assert "\n1. " in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk")
@pytest.mark.parametrize("command", ["--version", "options", "play tictactoe --second random"])
def test_a_full_disk_is_one_line(command: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "goryu", *command.split()],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == "goryu: [Errno 28] No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that closes streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_closed_streams_are_the_end_of_the_game(closed: str) -> None:
    command = f'exec "$0" -m goryu play tictactoe --second random {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], stdin=subprocess.DEVNULL, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_control_c_while_a_command_is_imported_ends_it_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("goryu.__main__.import_module", interrupted)
    assert goryu(["play", "tictactoe"]) == 130
    assert capsys.readouterr() == ("", "")


def test_model_replaces_the_shipped_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = MODELS
    own = tmp_path / "own.onnx"
    own.write_bytes((models / "tictactoe.onnx").read_bytes())
    moves = f"tictactoe --first puct:20 --second gumbel:8 --seed 1 --model {own}"
    assert session(moves) == session(moves.partition(" --model")[0])
    # Another network plays another game.
    reversi = "reversi --first value:1 --second random --seed 1"
    other = f"{reversi} --model {models / 'reversi.onnx'}"
    assert session(other) != session(reversi)


def test_model_conflicts_with_a_network_in_the_options_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = MODELS
    own = tmp_path / "own.onnx"
    own.write_bytes((models / "goryu-5x64.onnx").read_bytes())
    (tmp_path / "own.onnx.ini").write_text("C_init=42\nNo_Such=1\n")
    out = session(f"shogi --first puct:2 --model {own}", "quit\n")
    assert "No_Such" in out  # From the options file of this network.
    monkeypatch.setattr("goryu.usi.start_config.read_options_file", lambda: ("DNN_Model=other.onnx", ""))
    assert main(f"shogi --model {own}".split(), StringIO(), StringIO()) == 2
    assert "--model: option DNN_Model stays other.onnx" in capsys.readouterr().err


def test_the_values_of_all_moves_stand_beside_every_board() -> None:
    out = session("tictactoe --second alpha-beta --scores --position XO./.../... --seed 1", "4\nquit\n")
    lines = out.splitlines()
    assert lines[2].split()[:5] == ["X", "O", "2", "3", "+1.00"], "the person's moves, valued by the opponent"
    after = lines.index("X to move> 3. X: 4") + 1
    assert lines[after].split()[3:] == ["2", "-1.00", "6", "-1.00"], "O is lost, whatever it plays"
    assert lines[after + 4].split()[3:5] == ["3", "+1.00"]


def test_a_game_begins_from_a_board(capsys: pytest.CaptureFixture[str]) -> None:
    out = session("reversi4 --first person --second person --position ..../.XO./.OX./....", "d2\nquit\n")
    assert "X 4, O 1" in out
    for game, board, problem in (
        ("tictactoe", "XO./.X.", "expected three rows"),
        ("tictactoe", "XX./.../...", "expected as many X as O"),
        ("tictactoe", "XXX/OO./O..", "three in a row already"),
        ("reversi6", "..../.XO./.OX./....", "expected a board of 6x6"),
        ("reversi4", "..../.XO./.OX./...", "expected 4, 6 or 8 rows"),
        ("reversi4", "..../.XO./.OX./.... Z", "expected X or O"),
        ("shogi", "XO", "expected"),
    ):
        assert main([game, "--position", board]) == 2
        assert problem in capsys.readouterr().err
    assert main(["tictactoe", "--second", "random", "--scores"]) == 2
    assert "knows values: minimax" in capsys.readouterr().err
