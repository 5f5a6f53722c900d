"""Requests of `goryu analysis`: what is accepted is what the schema accepts, and an error names the field."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from goryu.analysis.query import QueryError, query_of, read_request, schema
from goryu.players.config import EngineConfig

VALUES: dict[str, list[Any]] = {
    "id": ["a", "", "x" * 201, 1, None],
    "sfen": ["9/9/9/9/9/9/9/9/9 b - 1", 3],
    "moves": [[], ["7g7f"], ["too long"], [1], "7g7f", [[]]],
    "analyze_turns": [[0], [0, 1], [1, 1], [], [-1], [0.0], [0.5], [True], ["0"], [2001], 0],
    "playouts": [1, 400.0, 0, 10_000_001, 1.5, "1", None, False],
    "time_ms": [1, 0],
    "priority": [-5, 1e30],
    "multipv": [600, 601],
    "report_every_ms": [10, 9],
    "options": [{}, {"C_init": 1, "x": "y", "z": True}, {"x": None}, [], {str(i): 1 for i in range(21)}],
    "action": ["version", "terminate", "terminate_all", "stop", 1, []],
    "terminate_id": ["a", 1],
    "colour": ["red"],
}  # fmt: skip


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


@given(st.fixed_dictionaries({}, optional={name: st.sampled_from(found) for name, found in VALUES.items()}))
def test_what_the_schema_allows_is_accepted(request: dict[str, Any]) -> None:
    kinds = ["query", "terminate", "terminate_all", "version"]
    rule = {"anyOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds], "$defs": schema()["$defs"]}
    try:
        assert read_request(json.dumps(request)) == request
        is_accepted = True
    except QueryError:
        is_accepted = False
    assert is_accepted == Draft202012Validator(rule).is_valid(request)


def test_an_error_names_the_field() -> None:
    cases = {
        '{"moves": []}': "id",
        '{"id": "a", "moves": ["7g7f", 5]}': "moves[1]",
        '{"id": "a", "moves": ["7g7f", "3c3e"]}': "moves[1]",
        '{"id": "a", "moves": ["7g7f"], "analyze_turns": [0, 2]}': "analyze_turns[1]",
        '{"id": "a", "sfen": "9/9 b - 1"}': "sfen",
        '{"id": "a", "sfen": "9/9/9/9/9/9/9/9/4k4 b - 1"}': "sfen",
        '{"id": "a", "options": {"C_init": []}}': "options.C_init",
        '{"id": "a", "action": "stop"}': "action",
        '{"id": "a", "action": "terminate"}': "terminate_id",
        "[]": "",
        "{": "",
    }
    for line, field in cases.items():
        with pytest.raises(QueryError) as caught:
            query_of(read_request(line), lambda options: EngineConfig(), 400)
        assert caught.value.field == field, line


def test_deep_brackets_are_refused_wherever_they_are() -> None:
    """They once broke what showed them: `json.dumps` in the error goes as deep as the value."""
    for depth in (10, 51, 500, 986, 100_000):
        brackets = "[" * depth + "]" * depth
        for line in (brackets, f'{{"id": {brackets}}}', f'{{"id": "x", "options": {{"X": {brackets}}}}}'):
            with pytest.raises(QueryError):
                query_of(read_request(line), lambda options: EngineConfig(), 400)
