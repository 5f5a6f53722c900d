"""A CSA server for tests: logins, pairs, clocks and results as in protocol 1.2.1 and in shogi-server.

The rules are cshogi's. A server with faults sends half lines, several lines at once, late, with odd ends,
with unknown lines and keys, and breaks connections.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from dataclasses import dataclass, field

import pytest

cshogi = pytest.importorskip("cshogi")

EMPTY = " * "
START = "\n".join(
    [
        "P1-KY-KE-GI-KI-OU-KI-GI-KE-KY",
        f"P2{EMPTY}-HI{5 * EMPTY}-KA{EMPTY}",
        f"P3{9 * '-FU'}",
        *(f"P{rank}{9 * EMPTY}" for rank in (4, 5, 6)),
        f"P7{9 * '+FU'}",
        f"P8{EMPTY}+KA{5 * EMPTY}+HI{EMPTY}",
        "P9+KY+KE+GI+KI+OU+KI+GI+KE+KY",
        "+\n",
    ]
)


def summary(
    side: str, time_lines: str, position: str = START, more: str = "", game_id: str = "test+1"
) -> str:
    """Returns the proposal of a game. side: + or -. time_lines: the block Time. more: other lines."""
    return (
        "BEGIN Game_Summary\nProtocol_Version:1.2\nProtocol_Mode:Server\nFormat:Shogi 1.0\n"
        f"Declaration:Jishogi 1.1\nGame_ID:{game_id}\nName+:alice\nName-:bob\nYour_Turn:{side}\n"
        f"Rematch_On_Draw:NO\nTo_Move:+\n{more}BEGIN Time\n{time_lines}\nEND Time\n"
        f"BEGIN Position\n{position}END Position\nEND Game_Summary\n"
    )


class Peer:
    """The server's end of a connection. chaos: the random numbers of its faults, None for none."""

    def __init__(self, connection: socket.socket, chaos: random.Random | None = None) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(600)
        self.name, self.game = "", ""
        self.received: list[tuple[float, str]] = []
        self._socket, self._chaos = connection, chaos
        self._stream = connection.makefile("rb")

    def send(self, text: str) -> None:
        data = text.encode()
        if (chaos := self._chaos) is not None:
            if chaos.random() < 0.1:
                data += chaos.choice(
                    (b"\n", b"##[CHAT] hello\n", b"#UNKNOWN\n", b"Nonsense:1\n", b"\xff\xfe\n")
                )
            if chaos.random() < 0.1:
                data = data.replace(b"\n", b"\r\n")
            if chaos.random() < 0.1:
                time.sleep(chaos.random() * 0.02)
            while len(data) > 1 and chaos.random() < 0.3:
                cut = chaos.randrange(1, len(data))
                self._socket.sendall(data[:cut])
                data = data[cut:]
                time.sleep(0.001)
        self._socket.sendall(data)

    def line(self) -> str:
        """Returns the next line that is not empty; raises EOFError at the end."""
        while line := self._stream.readline().decode():
            if text := line.rstrip("\n"):
                return text
        raise EOFError

    def login(self, *, accepts: bool = True) -> str:
        """Answers a login; returns its line."""
        text = self.line()
        self.name = text.split()[1]
        self.send(f"LOGIN:{self.name} OK\n" if accepts else "LOGIN:incorrect\n")
        return text

    def start(self, proposal: str) -> None:
        """Proposes a game and starts it."""
        self.send(proposal)
        answer = self.line()
        assert answer.startswith("AGREE:"), answer
        self.send(answer.replace("AGREE", "START") + "\n")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class Listener:
    """A port on which `accept` returns the peers."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(600)
        self.port: int = self._socket.getsockname()[1]

    def accept(self, chaos: random.Random | None = None) -> Peer:
        return Peer(self._socket.accept()[0], chaos)

    def close(self) -> None:
        self._socket.close()


@dataclass
class Played:
    """A game of the server: moves with times, and the end as the server sent it."""

    names: tuple[str, str]
    moves: list[str] = field(default_factory=list)
    end: str = ""
    loser: str = ""
    is_broken: bool = False


class Server:
    """Pairs whoever waits, and plays `games` games of 10 s of byoyomi and at most `max_moves` moves.

    breaks: the share of the games in which a connection is lost.
    """

    def __init__(self, games: int, max_moves: int, seed: int, breaks: float) -> None:
        self.listener = Listener()
        self.played: list[Played] = []
        self._games, self._max_moves, self._breaks = games, max_moves, breaks
        self._random = random.Random(seed)

    def run(self) -> None:
        """Plays the games, then closes the port."""
        waiting: list[Peer] = []
        tables: list[threading.Thread] = []
        while len(tables) < self._games:
            peer = self.listener.accept(random.Random(self._random.random()))
            peer.login()
            waiting.append(peer)
            if len(waiting) == 2:
                self._random.shuffle(waiting)
                breaks = self._random.randrange(40) if self._random.random() < self._breaks else None
                self.played.append(Played((waiting[0].name, waiting[1].name)))
                table = threading.Thread(target=self._play, args=(len(tables), *waiting, breaks))
                table.start()
                tables.append(table)
                waiting = []
        for table in tables:
            table.join()
        self.listener.close()

    def _play(self, number: int, black: Peer, white: Peer, breaks: int | None) -> None:
        game, peers = self.played[number], (black, white)
        for side, peer in zip("+-", peers, strict=True):
            more = f"Max_Moves:{self._max_moves}\nNew_Key:x\n"
            text = summary(side, "Time_Unit:1msec\nByoyomi:10000", more=more, game_id=f"test+{number:04}")
            peer.send(text.replace("alice", black.name).replace("bob", white.name))
        agreements = [peer.line() for peer in peers]
        assert agreements == [f"AGREE:test+{number:04}"] * 2
        for peer in peers:
            peer.send(f"START:test+{number:04}\n")
        try:
            self._moves(game, peers, breaks)
        except (EOFError, OSError) as error:
            game.end = f"lost {error!r}"
        time.sleep(0.05)
        for peer in peers:
            peer.close()

    def _moves(self, game: Played, peers: tuple[Peer, Peer], breaks: int | None) -> None:
        board = cshogi.Board()
        while True:
            turn = len(game.moves) % 2
            if len(game.moves) == breaks:  # In the mover's byoyomi.
                game.is_broken, game.end = True, "#CHUDAN"
                peers[turn].close()
                peers[1 - turn].send("%TORYO\n#RESIGN\n#WIN\n")
                return None
            start = time.monotonic()
            text, _, _comment = peers[turn].line().partition(",")
            elapsed = time.monotonic() - start
            if elapsed >= 10:
                return self._end(game, peers, "#TIME_UP", turn)
            if text == "%TORYO":
                return self._end(game, peers, f"{text}\n#RESIGN", turn)
            if text == "%KACHI":
                is_right = board.is_nyugyoku()
                return self._end(game, peers, f"{text}\n#JISHOGI", 1 - turn if is_right else turn)
            move = board.move_from_csa(text[1:]) if text[:1] == "+-"[turn] else 0
            if move not in list(board.legal_moves):
                return self._end(game, peers, "#ILLEGAL_MOVE", turn)
            board.push(move)
            game.moves.append(text)
            for peer in peers:
                peer.send(f"{text},T{int(1000 * elapsed)}\n")
            repetition = board.is_draw()
            if repetition == cshogi.REPETITION_DRAW:
                return self._end(game, peers, "#SENNICHITE", None)
            if repetition in (cshogi.REPETITION_WIN, cshogi.REPETITION_LOSE):
                is_lost = repetition == cshogi.REPETITION_LOSE  # For the side to move.
                return self._end(game, peers, "#OUTE_SENNICHITE", 1 - turn if is_lost else turn)
            if len(game.moves) == self._max_moves:
                return self._end(game, peers, "#MAX_MOVES", None)

    def _end(self, game: Played, peers: tuple[Peer, Peer], reason: str, loser: int | None) -> None:
        game.end = reason.split("\n")[-1]
        game.loser = "" if loser is None else game.names[loser]
        draw = "#CENSORED" if reason == "#MAX_MOVES" else "#DRAW"
        for side, peer in enumerate(peers):
            peer.send(
                f"{reason}\n" + (draw if loser is None else "#LOSE" if side == loser else "#WIN") + "\n"
            )
