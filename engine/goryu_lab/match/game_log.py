"""The log of a match: a JSON line for the match, one for the engines' names, one for each finished game.

Each line is appended and synced to the disk, so a match can be killed at any moment and resumed: a game is in
the file, or it is played again. The first line holds a hash of what decides the games: engines, options,
openings, rules and, for `goryu match`, the files that the engines' words name. A log with another hash is
refused. Not in it are Python's programs, Goryu's too, and inherited environment variables.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import UnionType
from typing import Any, Self, get_args, get_type_hints

from goryu.base.errors import GoryuError
from goryu.base.files import append_through, try_lock
from goryu.base.strict_json import parse_json
from goryu_lab.match.game import Game

VERSION = 1


class GameLogError(GoryuError):
    """A log that does not belong to this match, or cannot be read."""


@dataclass(frozen=True, slots=True)
class GameEntry:
    """One finished game, as logged.

    number: from 0; games 2k and 2k + 1 are pair k. black: the engine that plays black, 1 or 2.
    score: of engine 1: 0, 1/2 or 1. plies: moves on the board, opening included.
    moves: those of the engines, after the opening. times_ms, late_ms (excess over the limit), cps (from the
        mover's side), depths and nodes have one item for each of these moves.
    first_turn: the side that played the first of these moves, 0 black or 1 white.
    too_late_ms: time and excess of an answer that lost on time, which is not in `moves`.
    errors: the engines, 1 or 2, and the errors that they reported (`info string Error! ...`).
    """

    number: int
    black: int
    opening: str
    moves: tuple[str, ...]
    score: float
    reason: str
    detail: str
    plies: int
    times_ms: tuple[int, ...]
    cps: tuple[int | None, ...]
    depths: tuple[int | None, ...]
    nodes: tuple[int | None, ...]
    late_ms: tuple[int, ...]
    first_turn: int
    seconds: float
    date: str
    too_late_ms: tuple[int, int] | None = None
    errors: tuple[tuple[int, str], ...] = ()

    @classmethod
    def from_game(cls, number: int, black: int, game: Game) -> Self:
        """Returns the entry of a game that has just ended."""
        winner = game.verdict.winner
        score = 0.5 if winner is None else float((winner == 0) == (black == 1))
        start_turn = 0 if game.opening.start == "startpos" else int(game.opening.start.split()[2] == "w")
        return cls(
            number=number,
            black=black,
            opening=str(game.opening),
            moves=tuple(record.move for record in game.moves),
            score=score,
            reason=str(game.verdict.reason),
            detail=game.verdict.detail,
            plies=game.plies,
            times_ms=tuple(record.elapsed_ms for record in game.moves),
            cps=tuple(record.cp for record in game.moves),
            depths=tuple(record.depth for record in game.moves),
            nodes=tuple(record.nodes for record in game.moves),
            late_ms=tuple(record.late_ms for record in game.moves),
            first_turn=(start_turn + len(game.opening.moves)) % 2,
            seconds=round(game.seconds, 3),
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            too_late_ms=(late.elapsed_ms, late.late_ms) if (late := game.too_late) else None,
            errors=tuple((black if side == 0 else 3 - black, text) for side, text in game.errors),
        )

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Returns the entry that `GameLog.append` logged; raises LookupError, TypeError or ValueError."""
        types = get_type_hints(cls)
        given = {name: value for name, value in values.items() if name != "type"}
        entry = cls(**{name: _typed(name, value, types[name]) for name, value in given.items()})
        if entry.number < 0 or entry.score not in (0.0, 0.5, 1.0) or entry.first_turn not in (0, 1):
            raise ValueError("its number, score or first turn is impossible")
        if not {entry.black, *(engine for engine, _ in entry.errors)} <= {1, 2}:
            raise ValueError("expected the engines 1 and 2")
        lists = (entry.moves, entry.times_ms, entry.cps, entry.depths, entry.nodes, entry.late_ms)
        if len(set(map(len, lists))) != 1:
            raise ValueError("expected a time, a score, a depth, nodes and an excess of each move")
        return entry

    def engine_of_move(self, index: int) -> int:
        """Returns which engine, 1 or 2, played the move at `index`."""
        is_black = (self.first_turn + index) % 2 == 0
        return self.black if is_black else 3 - self.black


def config_hash(config: Mapping[str, Any]) -> str:
    """Returns the hash of the configuration of a match."""
    text = json.dumps(config, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class LineLog:
    """A log of JSON lines, opened for appending; the first line says what it belongs to.

    lines: the values after the first line that were in the file when it was opened.
    """

    def __init__(self, path: Path, kind: str, config: Mapping[str, Any]) -> None:
        """Opens or creates the log. kind: of what, such as "match". config: what decides its results.

        Raises GameLogError if it belongs to another config, or if another program is adding to it.
        """
        self.hash = config_hash(config)
        self.lines: list[dict[str, Any]] = []
        self._path = path
        self._file = path.open("ab", buffering=0)  # Else `close` would write again what could not be written.
        try:
            if not try_lock(self._file):
                raise GameLogError(f"{path}: another program is playing this {kind}")
            first = {"type": kind, "version": VERSION, "hash": self.hash, "config": dict(config)}
            is_unfinished = as_line(first).startswith(path.read_bytes())
            # The file is empty, the disk was full within the first line, or there is nothing after it.
            if is_unfinished or not self._load(path, kind, config):
                os.truncate(path, 0)
                self.write(first)
        except BaseException:
            self._file.close()
            raise

    def write(self, line: Mapping[str, Any]) -> None:
        """Appends a line; raises OSError with the path of the log, which can be resumed then."""
        append_through(self._file, as_line(line), self._path)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _load(self, path: Path, kind: str, config: Mapping[str, Any]) -> bool:
        """Reads the lines, and cuts off a last one that a crash left incomplete; was there a second one?"""
        complete, lines = _complete_lines(path, kind)
        if len(lines) == 1:
            return False
        if lines[0].get("hash") != self.hash:
            old, new = lines[0].get("config", {}), json.loads(json.dumps(config))  # JSON knows no tuples.
            different = sorted(key for key in {*old, *new} if old.get(key) != new.get(key)) or ["hash"]
            raise GameLogError(f"{path} is the log of another {kind} (different: {', '.join(different)})")
        self.lines = lines[1:]
        os.truncate(path, complete)
        return True


class GameLog(LineLog):
    """The log of one match."""

    def __init__(self, path: Path, config: Mapping[str, Any]) -> None:
        """Opens or creates the log; raises GameLogError as `LineLog` does, or if a line is no game."""
        super().__init__(path, "match", config)
        try:
            self.names, self.entries = _parse_games(path, self.lines)
        except GameLogError:
            self.close()
            raise

    def write_names(self, names: tuple[str, str]) -> None:
        """Logs the names of the engines, unless the log already has them."""
        if names != self.names:
            self.names = names
            self.write({"type": "names", "names": names})

    def append(self, entry: GameEntry) -> None:
        """Logs a finished game."""
        assert entry.number not in self.entries
        self.entries[entry.number] = entry
        self.write({"type": "game"} | {name: getattr(entry, name) for name in GameEntry.__slots__})


def read_game_log(path: Path) -> tuple[tuple[str, str] | None, list[GameEntry]]:
    """Returns the names of the engines, if they were logged, and the games of a log, without locking it.

    Raises GameLogError if it is not the log of a match.
    """
    _, lines = _complete_lines(path)
    names, entries = _parse_games(path, lines[1:])
    return names, list(entries.values())


def read_match_config(path: Path) -> dict[str, Any]:
    """Returns `MatchConfig.identity` of the match in a log; raises GameLogError."""
    _, lines = _complete_lines(path)
    config: dict[str, Any] = lines[0].get("config", {})
    return config


def _complete_lines(path: Path, kind: str = "match") -> tuple[int, list[dict[str, Any]]]:
    """Returns the size of the complete lines of a log in bytes, and their values."""
    data = path.read_bytes()
    complete = data[: data.rfind(b"\n") + 1]
    lines = list(parse_lines(path, complete.decode("utf-8", "replace")))
    is_log = bool(lines) and lines[0].get("type") == kind
    if not is_log or not isinstance(lines[0].get("config", {}), dict):
        raise GameLogError(f"{path}: expected the log of a {kind} in its first line")
    return len(complete), lines


def _parse_games(
    path: Path, lines: Iterable[Mapping[str, Any]]
) -> tuple[tuple[str, str] | None, dict[int, GameEntry]]:
    """Returns the names of the engines and the games by their numbers, from the lines after the first."""
    names: tuple[str, str] | None = None
    entries: dict[int, GameEntry] = {}
    for number, line in enumerate(lines, 2):
        try:
            if line.get("type") == "names":
                names = _typed("names", line["names"], tuple[str, str])
                continue
            entry = GameEntry.from_json(line)
        except (LookupError, TypeError, ValueError) as error:
            raise GameLogError(f"{path}:{number}: expected a game: {error}") from error
        entries[entry.number] = entry
    return names, entries


def as_line(values: Mapping[str, Any]) -> bytes:
    """Returns the line of a log that holds these values."""
    return json.dumps(values).encode() + b"\n"


def _typed(name: str, value: Any, kind: Any) -> Any:
    """Returns a JSON value as the type of a field of `GameEntry`; raises TypeError or ValueError.

    name: of the field, for errors.
    """
    if type(value) is kind or (kind is float and type(value) is int):
        return value
    kinds = get_args(kind)
    if isinstance(kind, UnionType):  # Its last type is None.
        return None if value is None else _typed(name, value, kinds[0])
    if kinds and isinstance(value, list):
        kinds = kinds[:1] * len(value) if kinds[-1] is Ellipsis else kinds
        return tuple(_typed(name, item, one) for item, one in zip(value, kinds, strict=True))
    raise TypeError(f"{name}: expected {kind.__name__}, received {type(value).__name__}")


def parse_lines(path: Path, text: str) -> Iterator[dict[str, Any]]:
    """Yields the JSON objects of a log."""
    for number, line in enumerate(text.splitlines(), 1):
        try:
            entry = parse_json(line)
            if not isinstance(entry, dict):
                raise ValueError("not an object")
        except ValueError as error:
            raise GameLogError(f"{path}:{number}: expected a JSON object, got {line[:60]!r}") from error
        yield entry
