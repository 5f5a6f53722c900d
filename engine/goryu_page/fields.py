"""Checks values that come from outside against a type, and says in the user's language what is wrong.

msgspec does the checks. Its messages are in English and do not say which value came; only the place is taken
from them, and what was expected is read from the type.
"""

import re
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta
from msgspec.structs import fields as struct_fields

from goryu.base.errors import InputError
from goryu.base.language import tr

T = TypeVar("T")

_STEP = re.compile(r"\[(\d+)\]|\[(\.\.\.)\]|(\w+)")
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*?)`", re.DOTALL)


class FieldError(InputError):
    """A value that has not the wanted form; the message names the field, what was expected and what came."""


def converted(value: Any, kind: type[T]) -> T:
    """Returns a value of JSON as a type that msgspec knows, such as a dataclass; raises FieldError.

    >>> converted([1, 2], list[int])
    [1, 2]
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise FieldError(_explained(value, kind, str(error))) from None


def inner_types(kind: Any) -> dict[str, Any]:
    """Returns the types of the fields of a Struct or a dataclass by their names in JSON; else {}."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {one.encode_name: one.type for one in struct_fields(kind)}
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind, include_extras=True)
        return {one.name: hints[one.name] for one in fields(kind)}
    return {}


def required_fields(kind: Any) -> set[str]:
    """Returns the names in JSON of the fields of a Struct or a dataclass that have no default."""
    if issubclass(kind, msgspec.Struct):
        return {one.encode_name for one in struct_fields(kind) if one.required}
    return {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}


def without_none(kind: Any) -> Any:
    """Returns T for T | None."""
    left = [one for one in get_args(kind) if one is not NoneType]
    return left[0] if NoneType in get_args(kind) and len(left) == 1 else kind


def bounds(kind: Any) -> tuple[Any, Meta]:
    """Returns T and the bounds of Annotated[T, BOUNDS]."""
    if get_origin(kind) is Annotated:
        base, meta = get_args(kind)
        return base, meta
    return kind, Meta()


def _explained(value: Any, kind: Any, text: str) -> str:
    what, _, path = text.partition(" - at `$")
    if unknown := _UNKNOWN.match(text):
        expected = ", ".join(inner_types(kind))
        return tr("{name} is not known; expected {expected}", name=unknown[1][:80], expected=expected)
    steps = [number or any_key or name for number, any_key, name in _STEP.findall(path)]
    name, missing = path.removesuffix("`").lstrip("."), _MISSING.match(what)
    for step in steps:
        kind = _inner(kind, step)
        value = value[int(step)] if isinstance(value, list) else value.get(step, value)
    if missing:
        name, kind = f"{name}.{missing[1]}".lstrip("."), _inner(kind, missing[1])
        return tr("{name}: expected {expected}", name=name, expected=_expected(kind))
    base, limits = bounds(without_none(kind))
    name = tr(name) if name else "JSON"
    received = str(value)[:80]
    if isinstance(value, int | float) and limits.ge is not None:
        least, most = limits.ge, limits.le
        text = "{name}: expected a number from {least} to {most}, received {value}"
        return tr(text, name=name, least=least, most=most, value=received)
    if isinstance(value, str | list) and (most := limits.max_length) is not None and len(value) > most:
        if isinstance(value, str):
            text = "{name}: expected at most {most} characters, received {count}"
        else:
            text = "{name}: expected at most {most} items, received {count}"
        return tr(text, name=name, most=most, count=len(value))
    text = "{name}: expected {expected}, received {value}"
    return tr(text, name=name, expected=_expected(base), value=repr(received))


def _inner(kind: Any, step: str) -> Any:
    """Returns the type of a part of a value."""
    base, _ = bounds(without_none(kind))
    return (
        inner_types(base).get(step) or get_args(base)[-1 if base is dict or get_origin(base) is dict else 0]
    )


def _expected(kind: Any) -> str:
    base, _ = bounds(without_none(kind))
    if get_origin(base) is Literal:
        return _listed(get_args(base))
    if isinstance(base, type) and issubclass(base, Enum):
        return _listed([one.value for one in base])
    words = {
        bool: tr("true or false"),
        int: tr("a whole number"),
        float: tr("a number"),
        str: tr("a text"),
        bytes: "Base64",
        list: tr("a list"),
        tuple: tr("a list"),
    }
    return words.get(get_origin(base) or base) or tr("an object")


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(repr(value) for value in values)
