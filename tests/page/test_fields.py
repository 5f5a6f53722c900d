"""What is said of values that come from outside."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from goryu.base.language import speaking
from goryu_page.fields import FieldError, converted


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Part:
    weight: Annotated[float, Meta(ge=0, le=1)]


class Thing(Struct, forbid_unknown_fields=True, rename="camel"):
    count: Annotated[int, Meta(ge=0, le=1000)] | None = None
    is_red: bool = False
    size: Size = Size.SMALL
    side: Literal["left", "right"] | None = None
    names: Annotated[list[str], Meta(max_length=2)] = []
    text: Annotated[str, Meta(max_length=5)] = ""
    parts: list[Part] = []
    numbers: dict[str, float] = {}
    pairs: tuple[tuple[float, float], ...] = ()
    data: bytes = b""


def problem(value: Any, kind: type = Thing) -> str:
    with pytest.raises(FieldError) as raised:
        converted(value, kind)
    return str(raised.value)


@pytest.mark.parametrize("value", [True, "1", 1.5, 1.0, [], {}, 1001, -1, 10**30])
def test_a_number_is_whole_and_in_range(value: Any) -> None:
    assert problem({"count": value}).startswith("count: expected a")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"count": 1001}, "count: expected a number from 0 to 1000, received 1001"),
        ({"count": "x" * 999}, f"count: expected a whole number, received '{'x' * 80}'"),
        ({"isRed": 1}, "isRed: expected true or false, received '1'"),
        ({"size": "huge"}, "size: expected 'small', 'large', received 'huge'"),
        ({"side": "up"}, "side: expected 'left', 'right', received 'up'"),
        ({"names": ["a", 1]}, "names[1]: expected a text, received '1'"),
        ({"names": ["a"] * 3}, "names: expected at most 2 items, received 3"),
        ({"text": "a" * 6}, "text: expected at most 5 characters, received 6"),
        ({"parts": [{"weight": 2}]}, "parts[0].weight: expected a number from 0 to 1, received 2"),
        ({"parts": [{}]}, "parts[0].weight: expected a number"),
        ({"parts": 1}, "parts: expected a list, received '1'"),
        ({"numbers": {"a": "x"}}, "numbers[...]: expected a number, received \"{'a': 'x'}\""),
        ({"pairs": [[1.0, 2.0], [1.0]]}, "pairs[1]: expected a list, received '[1.0]'"),
        ({"data": "!"}, "data: expected Base64, received '!'"),
        ([1], "JSON: expected an object, received '[1]'"),
    ],
)
def test_an_error_names_the_field_what_was_expected_and_what_came(value: Any, text: str) -> None:
    assert problem(value) == text


def test_an_unknown_field_is_told_with_those_that_are_known() -> None:
    known = "count, isRed, size, side, names, text, parts, numbers, pairs, data"
    assert problem({"nothing": 1}) == f"nothing is not known; expected {known}"


def test_a_whole_number_is_a_float_but_a_truth_value_is_not() -> None:
    assert converted({"weight": 1}, Part).weight == 1.0
    for value in (True, float("nan"), float("inf"), 10**400):
        assert "weight" in problem({"weight": value}, Part)


def test_errors_are_told_in_japanese() -> None:
    with speaking("ja"):
        assert problem({"count": -1}) == "count：0〜1000の数を指定してください（-1）"
        assert problem({"parts": [{}]}) == "parts[0].weight：数を指定してください"
