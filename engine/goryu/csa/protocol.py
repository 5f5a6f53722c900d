"""What a CSA server sends: the summary of a game, moves with their times, results. Pure reading.

Sources: the protocol 1.2.1 (http://www2.computer-shogi.org/protocol/tcp_ip_server_121.html), and floodgate's
program, shogi-server, for what the protocol leaves open. The increment is added before a move, the first one
included.

What is unknown is skipped. So are Delay and Least_Time_Per_Move: the server's times contain both, and an
engine that does not know them only moves a little earlier.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goryu.base.errors import GoryuError
from goryu.base.language import tr
from goryu.engines.time_control import Clock, TimeControl
from goryu.engines.usi_output import Info
from goryu.implementation import Board
from goryu.kifu.csa import read_csa
from goryu.kifu.endings import readable
from goryu.kifu.notation import csa_move, parse_move
from goryu.kifu.record import GameRecord, RecordError

BEGIN, END = "BEGIN Game_Summary", "END Game_Summary"

REASONS = readable("message")
"""Why a game ends; a result follows."""

RESULTS = ("#WIN", "#LOSE", "#DRAW", "#CENSORED", "#CHUDAN")
"""The last line of a game. Nobody wins a game that is censored (too long) or interrupted (中断)."""

NO_CLOCK_MS = 10_000
"""The time for a move in a game without any limit of time."""

MOST_COMMENT_MOVES = 30
"""Moves of a line that is sent as a comment."""

_UNIT = re.compile(r"(\d{0,3})(msec|sec|min)")
_UNITS_MS = {"msec": 1, "sec": 1000, "min": 60_000}
_MOVE = re.compile(r"([+-]\d{4}[A-Z]{2})(?:,T(\d{1,6}))?(?:,.*)?")
_NUMBER = re.compile(r"\d{1,6}")


class ProtocolError(GoryuError):
    """The server sends what no server should."""


@dataclass(frozen=True, slots=True)
class ServerTime:
    """The time of one side. limits: as `Clock` counts, which adds the increment after a move: see `clock`.

    unit_ms: in which the server counts. rounds_up: does a part of a unit count as a whole one?
    """

    limits: TimeControl
    unit_ms: int = 1000
    rounds_up: bool = False

    def clock(self) -> Clock:
        """Returns a clock before the first move, with the increment that belongs to it."""
        limits = self.limits
        if limits.time is None:
            return Clock(limits)
        return Clock(replace(limits, time=limits.time + (limits.inc or 0)))

    def usable(self, clock: Clock, spent_ms: int) -> Clock:
        """Returns the clock to show to an engine. spent_ms: what this move cannot use any more.

        At least half of what the server gives is left: an engine that is late may still be in time.
        """
        limits = clock.limits
        spent_ms += self.unit_ms if self.rounds_up else 0
        if limits.byoyomi:
            byoyomi = limits.byoyomi - min(spent_ms, limits.byoyomi // 2)
            return Clock(replace(limits, time=clock.remaining_ms, byoyomi=byoyomi))
        if limits.time is None:
            return clock
        return Clock(replace(limits, time=clock.remaining_ms - min(spent_ms, clock.remaining_ms // 2)))

    def __str__(self) -> str:
        return str(self.limits)


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A game that the server proposes.

    side: that of this client, 0 black or 1 white. names: of black and white.
    position: the start, and the moves that were already played, with their seconds.
    times: of black and white. max_moves: after so many moves the game ends; 0 for no limit.
    has_declaration: may a side win by its entering king (27 points)?
    """

    game_id: str
    side: int
    names: tuple[str, str]
    position: GameRecord
    times: tuple[ServerTime, ServerTime]
    max_moves: int = 0
    has_declaration: bool = False


def read_summary(lines: Sequence[str]) -> GameSummary:
    """Returns the game of the lines between `BEGIN` and `END`; raises ProtocolError."""
    facts: dict[str, str] = {}
    position: list[str] = []
    blocks = [""]
    for line in lines:
        word, _, block = line.partition(" ")
        if word == "BEGIN":
            blocks.append(f"{block}/")
        elif word == "END":
            blocks = blocks[:-1] or [""]
        elif blocks[-1] == "Position/":
            position.append(line)
        elif ":" in line:
            key, _, value = line.partition(":")
            facts[blocks[-1] + key.strip()] = value.strip()
    if facts.get("Your_Turn") not in ("+", "-"):
        raise ProtocolError(tr("the server's summary: expected Your_Turn:+ or Your_Turn:-"))
    try:
        record = read_csa(position)
    except RecordError as error:
        raise ProtocolError(tr("the server's position: {error}", error=error.translated())) from error
    times = _time(facts, "+"), _time(facts, "-")
    unit_s = times[0].unit_ms / 1000  # The reader took units for seconds.
    plies = (replace(ply, seconds=unit_s * (ply.seconds or 0)) for ply in record.plies)
    return GameSummary(
        game_id=facts.get("Game_ID", ""),
        side="+-".index(facts["Your_Turn"]),
        names=(facts.get("Name+", ""), facts.get("Name-", "")),
        position=replace(record, plies=tuple(plies)),
        times=times,
        max_moves=_number(facts, "Max_Moves"),
        has_declaration=facts.get("Declaration", "").startswith("Jishogi"),
    )


def _time(facts: Mapping[str, str], sign: str) -> ServerTime:
    """Returns the time of a side: of its own block `Time+` or `Time-`, or of `Time`, which is for both."""
    keys = ("Time_Unit", "Total_Time", "Byoyomi", "Increment", "Time_Roundup")
    found = {key: facts.get(f"Time{sign}/{key}", facts.get(f"Time/{key}", "")) for key in keys}
    text = found["Time_Unit"]
    unit = _UNIT.fullmatch(text or "1sec")
    if unit is None:
        raise ProtocolError(
            tr("the server's Time_Unit: expected one such as 1sec, received {text!r}", text=text)
        )
    unit_ms = int(unit[1] or 1) * _UNITS_MS[unit[2]]
    total, byoyomi, increment = (
        unit_ms * _number(found, key) for key in ("Total_Time", "Byoyomi", "Increment")
    )
    if not total + byoyomi + increment:
        return ServerTime(TimeControl(movetime=NO_CLOCK_MS), unit_ms)
    limits = TimeControl(time=total, inc=increment or None, byoyomi=byoyomi or None)
    return ServerTime(limits, unit_ms, found["Time_Roundup"] == "YES")


def _number(facts: Mapping[str, str], key: str) -> int:
    text = facts.get(key) or "0"
    if not _NUMBER.fullmatch(text):
        raise ProtocolError(
            tr("the server's {key}: expected a number, received {text!r}", key=key, text=text)
        )
    return int(text)


def read_move(line: str) -> tuple[str, int] | None:
    """Returns a move in CSA and its time in units; None for a line that is no move.

    >>> read_move("+7776FU,T12"), read_move("#WIN")
    (('+7776FU', 12), None)
    """
    match = _MOVE.fullmatch(line)
    return (match[1], int(match[2] or 0)) if match else None


def score_comment(board: Board, info: Info) -> str:
    """Returns floodgate's comment on a move, `* 120 -3334FU +2726FU`: its score and the line after it.

    board: before the move. The score is in centipawns from black's side. Returns "" without a score.
    """
    if info.cp is None:
        return ""
    cp = info.cp if board.turn == 0 else -info.cp
    return " ".join(["*", str(cp), *_line(board.copy(), info.pv)])


def _line(board: Board, pv: Sequence[str]) -> Iterator[str]:
    """Yields the moves of a variation in CSA after the first one, as far as they are legal."""
    for number, usi in enumerate(pv[: MOST_COMMENT_MOVES + 1]):
        try:
            move = parse_move(board, usi)
        except GoryuError:  # An engine may end its line with a word.
            return
        if number:
            yield csa_move(board, move)
        board.push(move)
