"""A player on a server: logs in, plays game after game, and logs in again when the connection is lost.

floodgate closes the connection after each game, other servers leave it open. Both are one case here.
"""

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from goryu.base.language import tr
from goryu.csa.connection import Connection, ConnectionLostError, LoginError
from goryu.csa.game import CsaGame, Outcome, PlayConfig, prepare
from goryu.csa.protocol import BEGIN, END, GameSummary, ProtocolError, read_summary
from goryu.csa.settings import Login, Settings
from goryu.engines.usi_client import UsiClient

RETRY_S = (1.0, 300.0)
"""The wait before a second try to connect, which doubles with each, and the longest one."""

MOST_SUMMARY_LINES = 5000


class Tally:
    """The games that are left to play, and the results, of all clients together. games: None: no end."""

    def __init__(self, games: int | None) -> None:
        self._left, self._lock = games, threading.Lock()
        self.games = games
        self.results: Counter[str] = Counter()

    def take(self) -> bool:
        """Takes a game; returns False if there is none left."""
        with self._lock:
            if self._left == 0:
                return False
            self._left = None if self._left is None else self._left - 1
            return True

    def give_back(self) -> None:
        """Gives a game back that was not played."""
        with self._lock:
            self._left = None if self._left is None else self._left + 1

    def add(self, outcome: Outcome) -> None:
        """Counts a game."""
        with self._lock:
            self.results[outcome.result] += 1


class Client:
    """One login and its engine; `run` in a thread of its own.

    say: prints a line for the user. show: shows a line in place of the last one.
    """

    def __init__(
        self,
        settings: Settings,
        login: Login,
        engine: UsiClient,
        config: PlayConfig,
        tally: Tally,
        say: Callable[[str], None],
        show: Callable[[str], None],
        retry_s: tuple[float, float] = RETRY_S,
    ) -> None:
        self._settings, self._login, self._engine, self._config = settings, login, engine, config
        self._tally, self._say, self._show = tally, say, show
        self._retry_s = retry_s
        self._wait_s = retry_s[0]
        self._connection: Connection | None = None
        self._is_leaving = threading.Event()
        self._has_logged_in = False

    def run(self) -> None:
        """Plays until there are enough games or `leave`.

        Raises LoginError if the first login is refused, and EngineError if the engine cannot be used.
        """
        try:
            self._engine.start()
            self._engine.new_game()  # Loads the network before a clock runs.
            while not self._is_leaving.is_set() and self._tally.take():
                outcome: Outcome | None = None
                try:
                    outcome = self._next_game()
                    if outcome and outcome.failure:
                        raise outcome.failure
                except (ConnectionLostError, LoginError, ProtocolError) as error:
                    if isinstance(error, LoginError) and not self._has_logged_in:
                        raise
                    self._close()
                    if not self._is_leaving.is_set():
                        self._say(
                            tr(
                                "{problem}; next try in {wait:.0f} s",
                                problem=error.translated(),
                                wait=self._wait_s,
                            )
                        )
                    self._is_leaving.wait(self._wait_s)
                    self._wait_s = min(2 * self._wait_s, self._retry_s[1])
                finally:
                    if outcome is None:
                        self._tally.give_back()
        finally:
            if self._connection:
                self._connection.logout()
            self._engine.quit()

    def leave(self) -> None:
        """Ends the client after its game, or now if it waits for one. Safe from another thread."""
        self._is_leaving.set()
        if connection := self._connection:
            connection.wake()

    def abort(self) -> None:
        """Asks the server to interrupt the game (%CHUDAN), and closes the connection."""
        self._is_leaving.set()
        if connection := self._connection:
            with suppress(ConnectionLostError):
                connection.send("%CHUDAN")
            connection.close()

    def _close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    def _next_game(self) -> Outcome | None:
        """Waits for a game and plays it; returns None if there was none before `leave`."""
        is_new = self._connection is None
        connection = self._connection or Connection(self._settings.host, self._settings.port)
        self._connection = connection
        if is_new:
            connection.login(self._login)
            self._has_logged_in = True
        self._show(tr("waiting for a game"))
        try:
            summary = self._agreed_game(connection)
        except ConnectionLostError:
            if is_new or self._is_leaving.is_set():
                raise
            self._close()  # floodgate has closed it after a game.
            return self._next_game()
        if summary is None:
            return None
        game = CsaGame(summary, connection, self._engine, self._config, self._say, self._show)
        self._wait_s = self._retry_s[0]
        self._say(tr("game {id} begins", id=summary.game_id))
        outcome = game.play()
        self._tally.add(outcome)
        text = f"{summary.game_id}: {tr(outcome.result)}: {tr(outcome.ending.value)}"
        self._say(text)
        self._show(text)
        return outcome

    def _agreed_game(self, connection: Connection) -> GameSummary | None:
        """Returns the next game that both players agree to; None after `leave`."""
        lines: list[str] | None = None
        summary: GameSummary | None = None
        while summary or not self._is_leaving.is_set():
            line = connection.receive() or ""
            if line == BEGIN:
                lines = []
            elif lines is not None and line == END:
                summary, lines = read_summary(lines), None
                prepare(self._engine, summary, ponder=self._config.ponder)
                connection.has_ended = False
                connection.send(f"AGREE:{summary.game_id}")
            elif lines is not None:
                lines.append(line)
                if len(lines) > MOST_SUMMARY_LINES:
                    raise ProtocolError(tr("the server's summary has no end"))
            elif summary and line.startswith("START"):
                return summary
            elif summary and line.startswith("REJECT"):
                summary = None
                self._show(tr("waiting for a game"))
        return None
