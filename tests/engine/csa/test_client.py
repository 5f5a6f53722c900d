"""Clients on servers that follow the protocol, servers that do not, and servers that vanish."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from csa_server import START, Listener, Peer, Server, cshogi, summary
from goryu.csa.client import Client, Tally
from goryu.csa.connection import LoginError
from goryu.csa.game import PlayConfig
from goryu.csa.settings import Login, Settings
from goryu.engines.usi_client import EngineError, EngineSpec, Timeouts, UsiClient
from goryu.kifu.reading import read_record
from goryu.kifu.record import Ending, GameRecord
from paths import ROOT

cshogi_csa = pytest.importorskip("cshogi.CSA")
shogi_csa = pytest.importorskip("shogi.CSA")

FAKE = ROOT / "tests" / "helpers" / "engines" / "fake_engine.py"
BYOYOMI = "Time_Unit:1sec\nTotal_Time:0\nByoyomi:10\nLeast_Time_Per_Move:1"


QUICK_GORYU = "NodesLimit = 8\nThreads = 1\nUSI_Hash = 16\nRandom_Ply = 30\nRandom_Temperature = 3000\n"
GORYU_CSA = [sys.executable, "-m", "goryu", "csa"]


def settings_file(path: Path, port: int, more: str) -> Path:
    path.write_text(f'host = "127.0.0.1"\nport = {port}\n{more}')
    path.chmod(0o600)
    return path


class Table:
    """A client in a thread, and the port that it connects to."""

    def __init__(self, folder: Path, pool: ThreadPoolExecutor) -> None:
        self.listener = Listener()
        self.folder = folder
        self.said: list[str] = []
        self.tally = Tally(1)
        self.engine: UsiClient
        self.client: Client | None = None
        self._pool = pool

    def play(
        self, *behaviour: str, games: int = 1, records: Path | None = None, grace_s: float = 5.0
    ) -> Future[None]:
        spec = EngineSpec((sys.executable, str(FAKE), *behaviour))
        self.engine = UsiClient(spec, timeouts=Timeouts(20, 20, grace_s, 0.5))
        self.engine.transcript = StringIO()
        self.tally = Tally(games)
        settings = Settings("127.0.0.1", (Login("bob", "game-1-1,secret"),), self.listener.port)
        config = PlayConfig(margin_ms=1000, records=records or self.folder)
        say, show = self.said.append, lambda _line: None
        self.client = Client(
            settings, settings.logins[0], self.engine, config, self.tally, say, show, retry_s=(0.01, 0.05)
        )
        return self._pool.submit(self.client.run)

    def sent_to_engine(self) -> list[str]:
        assert isinstance(self.engine.transcript, StringIO)
        lines = self.engine.transcript.getvalue().splitlines()
        return [line.split(" > ")[1] for line in lines if " > " in line]

    def record(self) -> GameRecord:
        (path,) = self.folder.glob("*.csa")
        return read_record(path)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with ThreadPoolExecutor() as pool:
        table = Table(tmp_path / "records", pool)
        yield table
        if table.client:
            table.client.abort()
        table.listener.close()


def logged_in(
    table: Table,
    side: str = "-",
    more: str = "",
    time_lines: str = BYOYOMI,
    position: str = START,
    game_id: str = "test+1",
) -> Peer:
    """Returns the peer of a game that has started."""
    peer = table.listener.accept()
    assert peer.login() == "LOGIN bob game-1-1,secret"
    peer.start(summary(side, time_lines, position, more, game_id))
    return peer


def test_a_game_with_half_lines_joined_lines_and_odd_ends(table: Table) -> None:
    running = table.play()
    peer = logged_in(table, more="Key_Of_Later:1\n")
    for part in ("\n##[CHAT] hi\r\n", "+77", "76FU,T", "3\r\n"):
        peer.send(part)
        time.sleep(0.01)
    answer, _, comment = peer.line().partition(",")
    assert comment.startswith("'* ")
    peer.send(f"{answer},T5\n+2726FU,T1\n")
    (path,) = table.folder.glob("*.csa")
    second = peer.line().partition(",")[0]
    assert path.read_text("utf-8").splitlines()[-7:-3] == [
        "+7776FU",
        "T3",
        answer,
        "T5",
    ]  # As the game goes on.
    peer.send(f"{second},T1\n%TORYO,T2\n#RESIGN\n#WIN\n")
    assert peer.line() == "LOGOUT"
    peer.send("LOGOUT:completed\n")
    running.result(60)
    record = table.record()
    assert (record.ending, record.winner) == (Ending.RESIGNATION, 1)
    assert [ply.seconds for ply in record.plies] == [3, 5, 1, 1]
    assert record.plies[1].comment == comment[1:]
    assert table.tally.results == {"won": 1}


def test_a_position_with_moves_and_the_times_of_the_server(table: Table) -> None:
    table.play()
    times = "Time_Unit:1sec\nTotal_Time:300\nIncrement:10"
    peer = logged_in(table, time_lines=times, position=f"{START}+7776FU,T12\n-3334FU,T6\n", side="+")
    peer.line()
    assert table.sent_to_engine()[-2:] == [
        "position startpos moves 7g7f 3c3d",
        "go btime 307000 wtime 310000 binc 10000 winc 10000",  # 300 - 12 + 2 * 10 - 1 of margin.
    ]


def test_the_engine_thinks_about_the_reply_that_it_expects(table: Table) -> None:
    table.play("*:ponder")
    peer = logged_in(table, side="+")
    for is_expected in (True, False):
        move = peer.line().partition(",")[0]
        peer.send(f"{move},T1\n")
        while not (asked := table.sent_to_engine()[-1]).startswith("go ponder"):
            time.sleep(0.01)
        expected = table.sent_to_engine()[-2].split()[-1]
        board = cshogi.Board()
        for played in table.sent_to_engine()[-2].split()[3:-1]:
            board.push_usi(played)
        legal = [one for one in board.legal_moves if (cshogi.move_to_usi(one) == expected) == is_expected]
        peer.send(f"-{cshogi.move_to_csa(legal[0])},T1\n")
        assert asked == "go ponder btime 0 wtime 0 byoyomi 9000"
    peer.line()
    sent = [line.split()[0] for line in table.sent_to_engine()]
    ask = ["position", "go"]
    assert sent[-10:] == [*ask, *ask, "ponderhit", *ask, "stop", *ask]


ENDS = [
    ("#ILLEGAL_MOVE\n#LOSE\n", Ending.ILLEGAL_MOVE, 0),
    ("#TIME_UP\n#LOSE\n", Ending.TIME, 0),
    ("{move},T1\n#TIME_UP\n#WIN\n", Ending.TIME, 1),
    ("{move},T1\n#ILLEGAL_ACTION\n#WIN\n", Ending.ILLEGAL_MOVE, 1),
    ("{move},T1\n#CHUDAN\n", Ending.INTERRUPTED, None),
    ("{move},T1\n#MAX_MOVES\n#CENSORED\n", Ending.MAX_PLIES, None),
    ("{move},T1\n#SENNICHITE\n#DRAW\n", Ending.REPETITION, None),
    ("{move},T1\n#OUTE_SENNICHITE\n#LOSE\n", Ending.PERPETUAL_CHECK, 0),
    ("{move},T1\n%KACHI,T2\n#JISHOGI\n#LOSE\n", Ending.DECLARATION, 0),
    ("%TORYO\n#RESIGN\n#WIN\n", Ending.INTERRUPTED, 1),  # We were to move: the opponent has vanished.
    (
        "{move},T1\n-9394FU,T1\n",
        Ending.INTERRUPTED,
        0,
    ),  # No move of black's: the server is not to be trusted.
    ("", Ending.INTERRUPTED, 0),  # The connection breaks while the server counts our byoyomi.
]
"""What the server sends after our first move, white's; the ending and the winner of the record."""


def test_the_record_of_a_game_tells_how_it_ended(table: Table) -> None:
    running = table.play(games=len(ENDS))
    for number, (end, *_) in enumerate(ENDS):
        peer = logged_in(table, game_id=f"{number:02}")
        peer.send("+7776FU,T1\n")
        peer.send(end.format(move=peer.line().partition(",")[0]))
        if "-9394FU" in end:
            with pytest.raises(EOFError):
                peer.line()
        peer.close()
    running.result(60)
    records = map(read_record, sorted(table.folder.glob("*.csa")))
    assert [(record.ending, record.winner) for record in records] == [tuple(rest) for _, *rest in ENDS]


@pytest.mark.parametrize("word, sent", [("resign", "%TORYO"), ("win", "%KACHI")])
def test_the_engine_resigns_and_declares(table: Table, word: str, sent: str) -> None:
    table.play(f"*:{word}")
    assert logged_in(table, side="+").line() == sent


def test_a_game_that_ends_while_the_engine_thinks_gets_no_more_moves(table: Table) -> None:
    running = table.play("*:wait")
    peer = logged_in(table, side="+")
    while not table.sent_to_engine()[-1].startswith("go"):
        time.sleep(0.01)
    peer.send("#CHUDAN\n")
    assert peer.line() == "LOGOUT"
    peer.close()
    running.result(60)
    assert "stop" in table.sent_to_engine()


def test_an_engine_that_dies_or_hangs_is_started_again(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE_LIVES", str(table.folder.with_name("lives")))
    table.play("0:crash")
    peer = logged_in(table, side="+")
    assert peer.line().startswith("+")
    assert any("started again" in line for line in table.said)


@pytest.mark.parametrize("behaviour", ["crash", "5a5b", "hang"])
def test_an_engine_that_cannot_be_used_resigns_and_ends_the_client(table: Table, behaviour: str) -> None:
    times = "Time_Unit:1msec\nByoyomi:200"
    running = table.play(f"*:{behaviour}", games=9, grace_s=0.05)
    peer = logged_in(table, side="+", time_lines=times)
    assert peer.line() == "%TORYO"
    peer.send("%TORYO,T1\n#RESIGN\n#LOSE\n")
    peer.close()
    with pytest.raises(EngineError):
        running.result(60)
    assert table.tally.results == {"lost": 1}


def test_records_that_cannot_be_written_lose_no_game(table: Table, tmp_path: Path) -> None:
    running = table.play(records=Path(__file__) / "folder")
    peer = logged_in(table)
    peer.send("+7776FU,T1\n")
    peer.send(f"{peer.line().partition(',')[0]},T1\n#SENNICHITE\n#DRAW\n")
    peer.close()
    running.result(60)
    assert sum("cannot be written" in line for line in table.said) == 1
    assert table.tally.results == {"drawn": 1}


def test_a_lost_connection_is_made_again(table: Table) -> None:
    running = table.play(games=3)
    table.listener.accept().close()
    peer = table.listener.accept()
    peer.login()
    peer.close()
    logged_in(table).close()
    peer = table.listener.accept()
    peer.login(accepts=False)  # The server may still have the old login.
    peer.close()
    peer = logged_in(table)
    peer.send("#CHUDAN\n")
    peer.start(summary("-", BYOYOMI))  # Not every server closes the connection after a game.
    peer.send("#CHUDAN\n")
    assert peer.line() == "LOGOUT"
    peer.close()
    running.result(60)
    assert table.tally.results == {"lost": 1, "drawn": 2}


def test_a_refused_login_ends_the_client(table: Table) -> None:
    running = table.play()
    table.listener.accept().login(accepts=False)
    with pytest.raises(LoginError) as error:
        running.result(60)
    assert "secret" not in f"{error.value}{table.said}"


def test_a_proposal_may_be_rejected_and_one_that_cannot_be_read_is_not_agreed_to(table: Table) -> None:
    table.play()
    peer = table.listener.accept()
    peer.login()
    peer.send(summary("-", BYOYOMI))
    assert peer.line() == "AGREE:test+1"
    peer.send("REJECT:test+1 by alice\n")
    peer.send(summary("?", BYOYOMI))
    with pytest.raises(EOFError):
        peer.line()
    assert logged_in(table, side="+").line().startswith("+")
    assert len(list(table.folder.glob("*.csa"))) == 1


def test_who_leaves_finishes_the_game(table: Table) -> None:
    running = table.play(games=9)
    peer = logged_in(table)
    assert table.client
    table.client.leave()
    peer.send("+7776FU,T1\n")
    peer.send(f"{peer.line().partition(',')[0]},T1\n%TORYO,T1\n#RESIGN\n#WIN\n")
    assert peer.line() == "LOGOUT"
    peer.close()
    running.result(60)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_once_leaves_and_twice_interrupts_the_game(table: Table, tmp_path: Path) -> None:
    login = '[[login]]\nname = "bob"\npassword = "x"\n'
    file = settings_file(tmp_path / "server.toml", table.listener.port, login)
    command = [*GORYU_CSA, str(file), "--records", str(table.folder)]
    command += ["--engine", f"{sys.executable} {FAKE} *:wait"]
    for times in (1, 2):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        peer = table.listener.accept()
        assert peer.login() == "LOGIN bob x"
        if times == 1:
            process.send_signal(signal.SIGINT)
            assert peer.line() == "LOGOUT"
            peer.close()
        else:
            peer.start(summary("+", BYOYOMI))
            assert process.stdout
            while "begins" not in process.stdout.readline():
                pass
            process.send_signal(signal.SIGINT)
            while "Ctrl-C" not in process.stdout.readline():
                pass
            process.send_signal(signal.SIGINT)
            assert peer.line() == "%CHUDAN"
        assert process.wait(60) == (0 if times == 1 else 130)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_games_with_a_server_that_does_everything_allowed_and_breaks_connections(tmp_path: Path) -> None:
    play_many(tmp_path, 4, 16, ["--engine", f"{sys.executable} {FAKE} *:ponder seed:x"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_many_such_games_of_goryu(tmp_path: Path) -> None:
    play_many(tmp_path, int(os.environ.get("GORYU_TEST_CSA_GAMES", "4")), 100, [])


def play_many(folder: Path, games: int, max_moves: int, arguments: list[str]) -> None:
    """Two programs play with two logins each: no game is lost by time or protocol, and no record is wrong."""
    server = Server(games, max_moves, seed=1, breaks=0.2)
    serving = threading.Thread(target=server.run)
    serving.start()
    programs = []
    for name in ("a", "b"):
        logins = "".join(f'[[login]]\nname = "{name}{number}"\npassword = "x"\n' for number in (1, 2))
        options = "" if arguments else f"[options]\n{QUICK_GORYU}"
        file = settings_file(folder / f"{name}.toml", server.listener.port, logins + options)
        command = [*GORYU_CSA, str(file), "--parallel", "2", "--margin", "3000", "--records", str(folder)]
        command += [*arguments, "--ponder" if name == "a" else "--no-ponder"]
        programs.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    serving.join()
    for program in programs:
        program.send_signal(signal.SIGINT)
    said = [program.communicate(timeout=60)[0] for program in programs]
    assert [program.returncode for program in programs] == [0, 0], said
    assert len(server.played) == games
    ends = Counter(game.end for game in server.played if not game.is_broken)
    assert set(ends) <= {"#RESIGN", "#MAX_MOVES", "#SENNICHITE", "#OUTE_SENNICHITE", "#JISHOGI"}, (ends, said)
    paths = sorted(folder.glob("*.csa"))
    assert len(paths) == 2 * games
    for path in paths:
        game = server.played[int(path.stem.split("+")[1][:4])]
        record = read_record(path)
        assert record.names == game.names
        (theirs,) = cshogi_csa.Parser.parse_file(str(path))
        others = shogi_csa.Parser.parse_file(str(path))[0]["moves"]
        usi = [cshogi.move_to_usi(move) for move in theirs.moves]
        assert usi == others == list(record.moves)
        board = cshogi.Board()
        assert usi == [push(board, text) for text in game.moves[: len(usi)]]
        assert len(usi) == len(game.moves) or game.is_broken
        if not game.is_broken:
            assert record.winner == (None if not game.loser else 1 - game.names.index(game.loser))


def push(board: Any, text: str) -> str:
    move = board.move_from_csa(text[1:])
    board.push(move)
    return str(cshogi.move_to_usi(move))
