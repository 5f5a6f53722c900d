"""One game on a server, from START to its result.

The server is the referee and the clock: a move counts when the server repeats it, with its time. While the
opponent thinks, the engine may think about the reply that it expects.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from goryu.base.config_fields import option, ranged
from goryu.base.errors import GoryuError
from goryu.base.language import tr
from goryu.csa.connection import Connection, ConnectionLostError
from goryu.csa.protocol import REASONS, RESULTS, GameSummary, ProtocolError, read_move, score_comment
from goryu.csa.record_file import RecordFile
from goryu.engines.time_control import Clock, go_command
from goryu.engines.usi_client import EngineError, SearchReply, UsiClient
from goryu.games.shogi import move_from_usi, move_to_usi
from goryu.implementation import Board
from goryu.kifu.notation import csa_move, parse_move
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.kifu.writing import to_usi

WORDS = {"resign": "%TORYO", "win": "%KACHI"}
"""What is sent for the words after `bestmove` that are no moves."""

STOP_MS = 2000
"""How long an engine may take to stop pondering: to start it again would cost more of the clock."""


@dataclass(frozen=True, slots=True)
class PlayConfig:
    """How the games are played."""

    margin_ms: int = ranged(
        1000, "time of each move that is hidden from the engine, for a slow connection", least=0
    )
    ponder: bool = option(True, "think on the opponent's time")
    records: Path = option(Path("runs/csa"), "folder of the records")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game. failure: of an engine that could not be used any more, and has lost by that."""

    ending: Ending
    result: str
    failure: EngineError | None = None


def prepare(engine: UsiClient, summary: GameSummary, *, ponder: bool) -> None:
    """Tells an engine the rules of a game that begins; starts one again that has died. Raises EngineError."""
    rule = "CSARule27" if summary.has_declaration else "NoEnteringKing"
    own = {name.lower() for name, _ in engine.spec.options}
    for is_last in (False, True):
        try:
            for name, value in (
                ("USI_Ponder", str(ponder).lower()),
                ("MaxMovesToDraw", str(summary.max_moves)),
                ("EnteringKingRule", rule),
            ):
                if engine.has_option(name) and name.lower() not in own:
                    engine.set_option(name, value)
            engine.new_game()
            return
        except EngineError:
            if is_last:
                raise
            engine.restart()


class CsaGame:
    """A game that has started, between an engine and the server's other player.

    say: prints a line for the user. show: shows a line in place of the last one.
    """

    def __init__(
        self,
        summary: GameSummary,
        connection: Connection,
        engine: UsiClient,
        config: PlayConfig,
        say: Callable[[str], None],
        show: Callable[[str], None],
    ) -> None:
        self.summary = summary
        self._connection, self._engine, self._config = connection, engine, config
        self._say, self._show = say, show
        self._board = Board(summary.position.start)
        self._clocks = [side.clock() for side in summary.times]
        for ply in summary.position.plies:
            self._clocks[self._board.turn].spend(round(1000 * (ply.seconds or 0)))
            self._board.push(move_from_usi(ply.move))
        for clock, side in zip(self._clocks, summary.times, strict=True):
            most_ms = side.clock().remaining_ms  # A server may not have counted the increments so far.
            clock.remaining_ms = min(clock.remaining_ms, most_ms)
        self._record = RecordFile(config.records, summary.game_id, _headed(summary), say)
        self._sent = ""  # Our move, until the server repeats it.
        self._comment = ""
        self._pondered = ""  # The reply, in USI, for which the engine searches.
        self._expected: str | None = None
        self._began_s = time.perf_counter()  # When the side to move could begin to think.
        self._failure: EngineError | None = None

    def play(self) -> Outcome:
        """Plays the game to its end."""
        ending, result, note = Ending.UNKNOWN, "", ""
        self._connection.on_end = self._stop_engine
        try:
            while not result:
                is_ours = self._board.turn == self.summary.side and not self._sent
                if is_ours and not self._connection.has_ended:
                    self._move()
                line = self._connection.receive() or ""
                if found := read_move(line):
                    self._played(*found)
                    self._ponder()
                ending = REASONS.get(line, ending)
                result = line if line in RESULTS else ""
        except (ConnectionLostError, ProtocolError) as error:
            result, ending, note = "#LOSE", Ending.INTERRUPTED, error.translated()
            self._say(tr("the game is lost: {reason}", reason=note))
            self._connection.close()
        self._connection.on_end = lambda: None
        winner = {"#WIN": self.summary.side, "#LOSE": 1 - self.summary.side}.get(result)
        if result == "#CHUDAN" or ending is Ending.UNKNOWN:
            ending = Ending.INTERRUPTED
        if ending is Ending.DECLARATION and winner is None:
            ending = Ending.IMPASSE
        if self._sent.startswith(("+", "-")):
            note = f"{note}\n{self._sent}".strip()  # The server has not accepted it.
        self._record.end(ending, winner, note)
        self._end_engine(result)
        word = "drawn" if winner is None else "won" if winner == self.summary.side else "lost"
        return Outcome(ending, word, self._failure)

    def _move(self) -> None:
        """Lets the engine search and sends its answer, unless the game has ended meanwhile."""
        self._show(self._line())
        try:
            reply = self._search()
            if reply.move in WORDS:
                text = WORDS[reply.move]
            else:
                text = csa_move(self._board, parse_move(self._board, reply.move))
                self._comment = score_comment(self._board, reply.info)
                self._expected = reply.ponder
        except GoryuError as error:  # The engine is broken, or its move is illegal.
            if self._connection.has_ended:
                return  # The game is over without it; the next one starts it again.
            self._failure, text = EngineError("protocol", error.translated()), WORDS["resign"]
        if not self._connection.has_ended:
            self._sent = text
            self._connection.send(f"{text},'{self._comment}" if self._comment else text)

    def _search(self) -> SearchReply:
        """Returns the engine's answer; one that crashes or hangs is started again, once a move."""
        for is_last in (False, True):
            try:
                clocks = self._shown_clocks()
                budget_ms = clocks[self.summary.side].budget_ms
                if self._pondered:
                    self._pondered = ""
                    return self._engine.ponderhit(budget_ms)
                return self._engine.go(self._position(), go_command(self.summary.side, clocks), budget_ms)
            except EngineError as error:
                if is_last or self._connection.has_ended:
                    raise
                self._say(tr("the engine is started again: {error}", error=error))
                self._engine.restart()
                prepare(self._engine, self.summary, ponder=self._config.ponder)
        raise AssertionError

    def _stop_engine(self) -> None:
        with suppress(EngineError):  # Who waits for its answer gets the same error.
            self._engine.stop()

    def _ponder(self) -> None:
        """Lets the engine think about the reply that it expects to our move."""
        expected, self._expected = self._expected, None
        if not (self._config.ponder and expected and self._board.turn != self.summary.side):
            return
        try:
            parse_move(self._board, expected)
        except GoryuError:
            return  # The engine expects what cannot be.
        command = go_command(self.summary.side, self._shown_clocks())
        try:
            self._engine.ponder(self._position(expected), command.replace("go", "go ponder", 1))
            self._pondered = expected
        except EngineError:
            pass  # The next search starts it again.

    def _played(self, text: str, units: int) -> None:
        """Takes a move from the server."""
        side = self._board.turn
        try:
            move = parse_move(self._board, text)
        except GoryuError as error:
            raise ProtocolError(tr("the server's move: {error}", error=error.translated())) from error
        usi = move_to_usi(move)
        ms = units * self.summary.times[side].unit_ms
        self._clocks[side].spend(ms)
        self._board.push(move)
        self._record.add(Ply(usi, self._comment if text == self._sent else "", ms / 1000))
        self._sent = self._comment = ""
        self._began_s = time.perf_counter()
        if side != self.summary.side and self._pondered and usi != self._pondered:
            self._end_ponder()
        self._show(self._line())

    def _end_ponder(self) -> None:
        self._pondered = ""
        try:
            self._engine.end_ponder(STOP_MS)
        except EngineError:
            self._engine.kill()  # Its answer may come too late; the next search starts it again.

    def _end_engine(self, result: str) -> None:
        if self._pondered:
            self._end_ponder()
        with suppress(EngineError):
            self._engine.game_over({"#WIN": "win", "#LOSE": "lose"}.get(result, "draw"))

    def _shown_clocks(self) -> tuple[Clock, Clock]:
        """Returns the clocks for the engine: less the margin, and less what this move has already taken."""
        black, white = self._clocks
        side = self.summary.side
        spent_ms = self._config.margin_ms + round(1000 * (time.perf_counter() - self._began_s))
        own = self.summary.times[side].usable(self._clocks[side], spent_ms)
        return (own, white) if side == 0 else (black, own)

    def _position(self, *more: str) -> str:
        plies = (*self._record.record.plies, *map(Ply, more))
        return f"position {to_usi(GameRecord(self._record.record.start, plies))}"

    def _line(self) -> str:
        """Returns the state of the game in a line."""
        plies = self._record.record.plies
        move = f"{len(plies)} {plies[-1].move} {plies[-1].comment[:60]}" if plies else ""
        clocks = " ".join(
            f"{mark}{clock.remaining_ms // 1000}s" for mark, clock in zip("☗☖", self._clocks, strict=True)
        )
        return f"{' - '.join(self.summary.names)}  {clocks}  {move}"


def _headed(summary: GameSummary) -> GameRecord:
    """Returns the record of a game before its first move on the server."""
    now = datetime.now().strftime("%Y/%m/%d %H:%M:%S")
    clocks = " / ".join(dict.fromkeys(map(str, summary.times)))
    headers = {"棋戦": summary.game_id, "開始日時": now, "備考": clocks}
    position = summary.position
    return GameRecord(position.start, position.plies, summary.names, headers=headers)
