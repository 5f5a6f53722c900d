"""Parses the lines that a GUI sends; tolerates the deviations of known clients and never raises.

Words are separated by blanks and tabs only. Other white space, such as the ideographic space, may be part of
a file name.
"""

import re
from collections import deque
from dataclasses import dataclass, replace
from math import isfinite

from goryu.players.clock.limits import Limits

_MOVE = re.compile(r"(?:[1-9][a-i]|[PLNSGBR]\*)[1-9][a-i]\+?")

LARGEST = 10**15
"""Numbers are clamped to this: exact as a float, and greater than any clock or node count."""


@dataclass(frozen=True, slots=True)
class Command:
    """One line from the GUI.

    name: the first word. arguments: the other words.
    line: the text as it was received. received_s: when it was received (seconds of `perf_counter`).
    """

    name: str
    arguments: tuple[str, ...]
    line: str
    received_s: float


def parse_command(line: str, received_s: float = 0.0) -> Command | None:
    """Returns the line as a command, or None for an empty line.

    >>> command = parse_command("go  byoyomi 1000")
    >>> command.name, command.arguments
    ('go', ('byoyomi', '1000'))
    """
    words = [word for word in line.replace("\t", " ").replace("\r", " ").split(" ") if word]
    return Command(words[0], tuple(words[1:]), line, received_s) if words else None


def parse_setoption(line: str) -> tuple[str, str] | None:
    """Returns the name and the raw value of a `setoption` line, or None if it names no option.

    The word `name` may be missing: some clients omit it. The value is everything after the first `value`.

    >>> parse_setoption("setoption name DNN_Model value C:/My Models/value.onnx")
    ('DNN_Model', 'C:/My Models/value.onnx')
    >>> parse_setoption("setoption name Clear_Hash")
    ('Clear_Hash', '')
    """
    rest = re.sub(r"^[ \t]*setoption(?:[ \t]+name)?(?=[ \t\r]|$)", "", line)
    name, *values = re.split(r"(?:^|[ \t])value(?:[ \t\r]+|$)", rest, maxsplit=1)
    name = name.strip(" \t\r")
    return (name, values[0].strip(" \t\r") if values else "") if name else None


@dataclass(frozen=True, slots=True)
class PositionCommand:
    """A position: the SFEN ("" for the start position) and the moves played from it."""

    sfen: str
    moves: tuple[str, ...]


def parse_position(arguments: tuple[str, ...]) -> PositionCommand | None:
    """Returns the position that the arguments of `position` describe, or None if there is none.

    >>> parse_position(("startpos", "moves", "7g7f"))
    PositionCommand(sfen='', moves=('7g7f',))
    """
    end = arguments.index("moves") if "moves" in arguments else len(arguments)
    start, moves = arguments[:end], arguments[end + 1 :]
    if start == ("startpos",):
        return PositionCommand("", moves)
    if start[:1] == ("sfen",):
        start = start[1:]
    return PositionCommand(" ".join(start), moves) if start else None


@dataclass(frozen=True, slots=True)
class GoCommand:
    """The arguments of `go`.

    limits: without root moves, because their legality depends on the board; searchmoves: their texts.
    is_mate: search for a mate. mate_ms: the time for it, or None for no limit.
    perft: depth of a move count, or None. ignored: the words without a meaning.
    """

    limits: Limits
    searchmoves: tuple[str, ...] = ()
    is_mate: bool = False
    mate_ms: float | None = None
    perft: int | None = None
    ignored: tuple[str, ...] = ()


def parse_go(arguments: tuple[str, ...]) -> GoCommand:
    """Returns the search that the arguments of `go` describe; `ponderhit` may carry clocks in the same form.

    Unknown words are ignored, and so are words that lack their number; negative times count as 0.

    >>> parse_go(("btime", "1000", "wtime", "2000", "byoyomi", "500")).limits.time_ms
    (1000.0, 2000.0)
    """
    words = deque(arguments)
    numbers: dict[str, float] = {}
    flags: set[str] = set()
    searchmoves: list[str] = []
    ignored: list[str] = []
    while words:
        word = words.popleft()
        number = _number(words[0]) if words else None
        if word in _NUMBERED and number is not None:
            numbers[word] = number
            words.popleft()
        elif word == "mate":
            flags.add(word)
            if words and words[0] == "infinite":  # Only the mate search is infinite.
                words.popleft()
        elif word in _FLAGS:
            flags.add(word)
        elif word == "searchmoves":
            while words and _MOVE.fullmatch(words[0]):
                searchmoves.append(words.popleft())
        else:
            ignored.append(word)
    return GoCommand(
        limits=_limits(numbers, flags),
        searchmoves=tuple(searchmoves),
        is_mate="mate" in flags or "mate" in numbers,
        mate_ms=numbers.get("mate"),
        perft=int(numbers["perft"]) if "perft" in numbers else None,
        ignored=tuple(ignored),
    )


_CLOCKS = ("btime", "wtime", "binc", "winc", "byoyomi")
_NUMBERED = frozenset((*_CLOCKS, "movetime", "rtime", "nodes", "depth", "mate", "perft"))
_FLAGS = ("infinite", "ponder")


def _limits(numbers: dict[str, float], flags: set[str]) -> Limits:
    limits = Limits(
        movetime_ms=numbers.get("movetime"),
        rtime_ms=numbers.get("rtime"),
        nodes=int(numbers["nodes"]) if "nodes" in numbers else None,
        depth=max(1, int(numbers["depth"])) if "depth" in numbers else None,
        infinite="infinite" in flags,
        ponder="ponder" in flags,
    )
    if not any(word in numbers for word in _CLOCKS):
        return limits
    black, white, black_increment, white_increment, byoyomi = (numbers.get(word, 0.0) for word in _CLOCKS)
    return replace(
        limits, time_ms=(black, white), increment_ms=(black_increment, white_increment), byoyomi_ms=byoyomi
    )


def _number(word: str) -> float | None:
    """Returns the number in a word, clamped to [0, LARGEST], or None if it is not a finite number."""
    if not word.isascii() or "_" in word:
        return None
    try:
        number = float(word)
    except ValueError:
        return None
    return min(float(LARGEST), max(0.0, number)) if isfinite(number) else None
