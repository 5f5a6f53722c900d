"""A connection to a CSA server: lines out, lines in, and signs of life."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf

from goryu.base.errors import GoryuError
from goryu.base.language import tr
from goryu.csa.protocol import REASONS, RESULTS
from goryu.csa.settings import Login
from goryu.engines.line_queue import LineQueue, arriving_lines

CONNECT_S = 20.0
"""How long a connection or the answer to a login may take."""

QUIET_S = 60.0
"""After so long without a line to the server an empty one is sent. The protocol forbids less than 30 s."""

DEAD_S = 90
"""A server that has not confirmed bytes for so long is gone (on Linux, which measures this)."""

MOST_LINES = 10_000
"""Lines that wait to be read. A summary has some hundred."""


class ConnectionLostError(GoryuError):
    """The server cannot be reached, or it has closed the connection."""


class LoginError(GoryuError):
    """The server refuses a name or a password."""


class Connection:
    """An open connection.

    on_end: is called, by another thread, when the server ends a game, or the connection: see `has_ended`.
    """

    def __init__(self, host: str, port: int) -> None:
        self.on_end: Callable[[], None] = lambda: None
        self.has_ended = False
        """Has the server ended a game, or the connection? A caller sets it back."""
        self._lines = LineQueue(MOST_LINES)
        self._sending = threading.Lock()
        self._closed = threading.Event()
        self._sent_s = time.monotonic()
        try:
            self._socket = socket.create_connection((host, port), CONNECT_S)
        except (OSError, UnicodeError) as error:  # A UnicodeError: no server can have this name.
            raise ConnectionLostError(
                tr("{server} cannot be reached: {error}", server=f"{host}:{port}", error=error)
            ) from error
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * DEAD_S)
        for work in (self._read, self._keep_alive):
            threading.Thread(target=work, daemon=True).start()

    def login(self, login: Login) -> None:
        """Logs in; raises LoginError if the server refuses that, ConnectionLostError without an answer."""
        self.send(f"LOGIN {login.name} {login.secret}")
        deadline = time.perf_counter() + CONNECT_S
        while (answer := self.receive(deadline)) is not None:
            if answer.startswith("LOGIN:"):
                if answer.endswith(" OK"):
                    return
                raise LoginError(tr("the server refuses the login of {name}", name=login.name))
        raise ConnectionLostError(tr("the server does not answer the login"))

    def logout(self) -> None:
        """Logs out and closes the connection."""
        with suppress(ConnectionLostError):
            self.send("LOGOUT")
            deadline = time.perf_counter() + CONNECT_S
            while (line := self.receive(deadline)) is not None and not line.startswith("LOGOUT"):
                pass
        self.close()

    def send(self, line: str) -> None:
        """Sends a line; raises ConnectionLostError."""
        try:
            with self._sending:
                self._sent_s = time.monotonic()
                self._socket.sendall(line.encode("ascii", "replace") + b"\n")
        except OSError as error:
            raise ConnectionLostError(tr("the connection is lost: {error}", error=error)) from error

    def receive(self, deadline: float = inf) -> str | None:
        """Returns the next line; "" after `wake`, None after the deadline, by `time.perf_counter`.

        Raises ConnectionLostError at the end of the connection, and whenever it is asked again.
        """
        line = self._lines.get(deadline)
        if line is None:
            return None
        if line[1] is None:
            self._lines.put(line)
            raise ConnectionLostError(tr("the server has closed the connection"))
        return line[1]

    def wake(self) -> None:
        """Lets a thread that waits in `receive` go on."""
        self._lines.put((time.perf_counter(), ""))

    def close(self) -> None:
        """Closes the connection; a thread that waits in `receive` gets ConnectionLostError."""
        self._closed.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _read(self) -> None:
        with self._socket.makefile("rb") as stream:
            for line in arriving_lines(stream):
                self._lines.put(line)
                if line[1] is None or line[1] in RESULTS or line[1] in REASONS:
                    self.has_ended = True
                    self.on_end()

    def _keep_alive(self) -> None:
        while not self._closed.wait(1.0):
            if time.monotonic() - self._sent_s >= QUIET_S:
                with suppress(ConnectionLostError):  # Who waits in `receive` is told.
                    self.send("")
