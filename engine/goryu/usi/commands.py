"""The grammar of what a GUI sends: tolerant where clients differ, never raising.

Words are separated by blanks and tabs only: other white space, such as the ideographic
space, may be part of a file name.
"""

import re
from dataclasses import dataclass, replace
from math import isfinite

from goryu.games.state import Move
from goryu.players.limits import Limits

__all__ = ["GoCommand", "PositionCommand", "decode", "parse_go", "parse_position", "parse_setoption", "words"]

_BLANKS = re.compile(r"[ \t\r]+")
_MOVE = re.compile(r"(?:[1-9][a-i]|[PLNSGBR]\*)[1-9][a-i]\+?")
_LARGEST = 10**15
"""Numbers are clamped to this: exact as a float, and more than any clock or node count."""


def decode(line: bytes) -> str:
    """Returns a line as text: UTF-8, or else what .NET GUIs on Japanese Windows send, or else Latin-1.

    Left out is the mark with which .NET begins what it sends as UTF-8 (as Windows set to UTF-8 has it do).
    """
    for encoding in ("utf-8-sig", "cp932"):
        try:
            return line.decode(encoding).rstrip("\r")
        except UnicodeDecodeError:
            continue
    return line.decode("latin-1").rstrip("\r")


def words(line: str) -> list[str]:
    """Returns the words of a line."""
    return [word for word in _BLANKS.split(line) if word]


def parse_setoption(line: str) -> tuple[str, str] | None:
    """Returns the name and the raw value of a `setoption` line, or None if it names no option.

    The word `name` may be missing, as some clients have it; the value is everything behind the first `value`.

    >>> parse_setoption("setoption name DNN_Model value C:/My Models/value.onnx")
    ('DNN_Model', 'C:/My Models/value.onnx')
    >>> parse_setoption("setoption name Clear_Hash")
    ('Clear_Hash', '')
    """
    rest = re.sub(r"^[ \t]*setoption(?:[ \t]+name)?(?=[ \t\r]|$)", "", line)
    parts = re.split(r"(?:^|[ \t])value(?:[ \t\r]+|$)", rest, maxsplit=1)
    name = parts[0].strip(" \t\r")
    return (name, parts[1].strip(" \t\r") if len(parts) > 1 else "") if name else None


@dataclass(frozen=True, slots=True)
class PositionCommand:
    """A position: the SFEN ("" for the start position) and the moves played from it."""

    sfen: str
    moves: tuple[str, ...]


def parse_position(tokens: list[str]) -> PositionCommand | None:
    """Returns what the words behind `position` ask for, or None if there is no position in them.

    >>> parse_position(["startpos", "moves", "7g7f"])
    PositionCommand(sfen='', moves=('7g7f',))
    """
    if "moves" in tokens:
        at = tokens.index("moves")
        tokens, moves = tokens[:at], tuple(tokens[at + 1 :])
    else:
        moves = ()
    if tokens == ["startpos"]:
        return PositionCommand("", moves)
    if tokens[:1] == ["sfen"]:
        tokens = tokens[1:]
    return PositionCommand(" ".join(tokens), moves) if tokens else None


@dataclass(frozen=True, slots=True)
class GoCommand:
    """What `go` asks for.

    limits: without root moves, because legality needs a board; searchmoves: those, as text.
    is_mate: a mate is wanted. mate_ms: time for it, or None for as long as it takes.
    perft: depth of a move count, or None.
    """

    limits: Limits
    searchmoves: tuple[str, ...] = ()
    is_mate: bool = False
    mate_ms: float | None = None
    perft: int | None = None


def parse_go(tokens: list[str]) -> GoCommand:
    """Returns what the words behind `go` (or behind `ponderhit`, which may carry clocks) ask for.

    Unknown words and words without their number are passed over; negative times count as 0.

    >>> parse_go("btime 1000 wtime 2000 byoyomi 500".split()).limits.time_ms
    (1000.0, 2000.0)
    """
    numbers: dict[str, float] = {}
    flags: set[str] = set()
    searchmoves: list[str] = []
    for i, word in enumerate(tokens):
        following = tokens[i + 1] if i + 1 < len(tokens) else ""
        if word in _NUMBERED:
            number = _number(following)
            if number is not None:
                numbers[word] = number
            elif word == "mate":
                flags.add("mate")
        elif word in ("infinite", "ponder"):
            # `mate infinite` is an endless mate search, not an endless analysis.
            if not (word == "infinite" and i > 0 and tokens[i - 1] == "mate"):
                flags.add(word)
        elif word == "searchmoves":
            for text in tokens[i + 1 :]:
                if not _MOVE.fullmatch(text):
                    break
                searchmoves.append(text)
    return GoCommand(
        limits=_limits(numbers, flags),
        searchmoves=tuple(searchmoves),
        is_mate="mate" in flags or "mate" in numbers,
        mate_ms=numbers.get("mate"),
        perft=int(numbers["perft"]) if "perft" in numbers else None,
    )


_CLOCKS = ("btime", "wtime", "binc", "winc", "byoyomi")
_NUMBERED = frozenset((*_CLOCKS, "movetime", "rtime", "nodes", "depth", "mate", "perft"))


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
    black, white, black_gain, white_gain, byoyomi = (numbers.get(word, 0.0) for word in _CLOCKS)
    return replace(limits, time_ms=(black, white), increment_ms=(black_gain, white_gain), byoyomi_ms=byoyomi)


def _number(word: str) -> float | None:
    """Returns the number of a word, clamped to what a clock can say; None if it is none."""
    if not word.isascii() or "_" in word:
        return None
    try:
        number = float(word)
    except ValueError:
        return None
    return min(float(_LARGEST), max(0.0, number)) if isfinite(number) else None


def legal_root_moves(searchmoves: tuple[str, ...], legal: dict[str, Move]) -> tuple[Move, ...]:
    """Returns the legal ones of the moves asked for, each once; if none is legal, the request is void."""
    return tuple(legal[text] for text in dict.fromkeys(searchmoves) if text in legal)
