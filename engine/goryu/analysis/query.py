"""Reads the requests of `goryu analysis`; `protocol.schema.json` says what they may hold.

The schema is the only list of the fields: requests are checked against it here, and by the library jsonschema
in the tests.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from sys import intern
from typing import Any

from goryu.analysis.position_searcher import LINES
from goryu.base.errors import GoryuError
from goryu.base.strict_json import parse_json
from goryu.games.shogi import START_SFEN, IllegalMoveError, MoveError, SfenError
from goryu.players.config import EngineConfig, Value
from goryu.players.position import GamePosition, rules_of

MOST_PLAYOUTS = 10_000_000
"""Of a query that is limited by time."""

Configure = Callable[[Mapping[str, Value]], EngineConfig]
"""Returns the config with these USI options; raises QueryError with the name of one that cannot be set."""

_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: _TYPES["number"](value) and value == int(value),
}

_MOST: dict[type, str] = {str: "maxLength", list: "maxItems", dict: "maxProperties"}
_PARTS: dict[type, str] = {str: "characters", list: "items", dict: "fields"}


class QueryError(GoryuError, ValueError):
    """A request that cannot be answered. field: where, as in `moves[3]`; "" for no single field."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Query:
    """Positions of a game to analyse.

    sfen: of the start. moves: in USI, legal. turns: ascending numbers of moves after which to analyse.
    time_ms, report_every_ms: None for none. config: of the searches.
    """

    id: str
    sfen: str
    moves: tuple[str, ...]
    turns: tuple[int, ...]
    playouts: int
    time_ms: float | None
    priority: int
    multipv: int
    report_every_ms: float | None
    config: EngineConfig


def schema_text() -> str:
    """Returns the JSON Schema of all lines as it is shipped."""
    return files("goryu.analysis").joinpath("protocol.schema.json").read_text("utf-8")


@cache
def schema() -> dict[str, Any]:
    """Returns the JSON Schema of all lines."""
    found: dict[str, Any] = json.loads(schema_text())
    return found


def read_request(line: str) -> dict[str, Any]:
    """Returns a request as the schema allows it; raises QueryError."""
    try:
        request = parse_json(line)
    except ValueError as error:
        raise QueryError(f"expected a line of JSON: {error}") from error
    if not isinstance(request, dict):
        raise QueryError(f"expected an object, received {_shown(request)}")
    requests = schema()["$defs"]
    if "action" not in request:
        check(request, requests["query"])
    elif request["action"] in ("terminate", "terminate_all", "version"):
        check(request, requests[request["action"]])
    else:
        expected = "expected terminate, terminate_all or version"
        raise QueryError(f"{expected}, received {_shown(request['action'])}", "action")
    return request


def check(value: Any, rule: Mapping[str, Any], field: str = "") -> None:
    """Raises QueryError if a value breaks a rule of the schema; knows the keywords that requests use."""
    if "const" in rule:
        if value != rule["const"]:
            raise QueryError(f"expected {rule['const']}, received {_shown(value)}", field)
        return
    types = [rule["type"]] if isinstance(rule["type"], str) else rule["type"]
    if not any(_TYPES[name](value) for name in types):
        raise QueryError(f"expected {' or '.join(types)}, received {_shown(value)}", field)
    if isinstance(value, (int, float)):
        if not rule.get("minimum", value) <= value <= rule.get("maximum", value):
            raise QueryError(
                f"expected {rule['minimum']} to {rule['maximum']}, received {_shown(value)}", field
            )
        return
    size = len(value)
    least, most = rule.get("minItems", 0), rule.get(_MOST[type(value)], size)
    if not least <= size <= most:
        raise QueryError(f"expected {least} to {most} {_PARTS[type(value)]}, received {size}", field)
    if isinstance(value, list):
        for index, item in enumerate(value):
            check(item, rule["items"], f"{field}[{index}]")
        if rule.get("uniqueItems") and len(set(value)) < size:
            raise QueryError("expected no number twice", field)
    elif isinstance(value, dict):
        for name in rule.get("required", ()):
            if name not in value:
                raise QueryError("expected this field", name)
        known = rule.get("properties", {})
        for name, item in value.items():
            inner = known.get(name, rule["additionalProperties"])
            place = f"{field}.{name}" if field else name
            if inner is False:
                raise QueryError(f"unknown field; expected {', '.join(known)}", place)
            check(item, inner, place)


def query_of(request: Mapping[str, Any], configure: Configure, playouts: int) -> Query:
    """Returns the query of a request without an action that `read_request` has returned.

    playouts: the default. Raises QueryError.
    """
    sfen, moves = request.get("sfen", START_SFEN), tuple(map(intern, request.get("moves", ())))
    config = configure(request.get("options", {}))
    _check_game(sfen, moves, config)
    turns = [int(turn) for turn in request.get("analyze_turns", [len(moves)])]
    for index, turn in enumerate(turns):
        if turn > len(moves):
            raise QueryError(f"expected 0 to {len(moves)}, received {turn}", f"analyze_turns[{index}]")
    default = MOST_PLAYOUTS if "time_ms" in request else playouts
    return Query(
        id=request["id"],
        sfen=sfen,
        moves=moves,
        turns=tuple(sorted(turns)),
        playouts=int(request.get("playouts", default)),
        time_ms=request.get("time_ms"),
        priority=int(request.get("priority", 0)),
        multipv=int(request.get("multipv", LINES)),
        report_every_ms=request.get("report_every_ms"),
        config=config,
    )


def _check_game(sfen: str, moves: tuple[str, ...], config: EngineConfig) -> None:
    """Raises QueryError if a position cannot be read, has no king to search for, or a move is not legal."""
    try:
        position = GamePosition(sfen, (), rules_of(config))
    except SfenError as error:
        raise QueryError(str(error), "sfen") from error
    if position.only_for_mate:
        raise QueryError("expected a king of the side to move", "sfen")
    for index, move in enumerate(moves):
        try:
            position.board.push_usi(move)
        except (MoveError, IllegalMoveError) as error:
            raise QueryError(str(error), f"moves[{index}]") from error


def _shown(value: Any) -> str:
    """Returns a value as a message can show it."""
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
