#!/usr/bin/env python3
"""Writes the types of the page's messages for JavaScript from the classes that check them in Python.

    python tools/message_types.py       writes engine/goryu_page/static/js/messages.d.ts

tests/page/session/test_messages.py fails when the file is out of date.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from goryu.commands.common import new_parser, program
from goryu_page.fields import bounds, inner_types, required_fields
from goryu_page.views.views import VIEWS

PATH = Path(__file__).resolve().parent.parent / "engine/goryu_page/static/js/messages.d.ts"

HEAD = """\
// What `socket.request(NAME, FIELDS)` may send. tools/message_types.py writes this file from the classes that
// check the messages in Python; their docstrings say what the fields mean.

"""

NAMES = {bool: "boolean", int: "number", float: "number", str: "string", bytes: "string", NoneType: "null"}


def message_types() -> str:
    """Returns the text of the file."""
    kinds = {
        f"{view}.{name.removeprefix('on_')}": kind
        for view, each in VIEWS.items()
        for name, kind in each.requests().items()
    }
    lines = [f'  "{name}": {typescript(kind)};' for name, kind in kinds.items()]
    return HEAD + "\n".join(["export interface Requests {", *lines, "}"]) + "\n"


def typescript(kind: Any) -> str:
    """Returns a type as TypeScript writes it.

    >>> typescript(list[int] | None)
    'Array<number> | null'
    """
    kind, _ = bounds(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return "unknown"
    if kind in NAMES:
        return NAMES[kind]
    if origin in (Union, UnionType):
        return " | ".join(map(typescript, inner))
    if origin is Literal:
        return " | ".join(json.dumps(value) for value in inner)
    if origin is dict:
        return f"Record<string, {typescript(inner[1])}>"
    if origin is list or (origin is tuple and inner[1:] == (...,)):
        return f"Array<{typescript(inner[0])}>"
    if origin is tuple:
        return f"[{', '.join(map(typescript, inner))}]"
    if issubclass(kind, Enum):
        return " | ".join(json.dumps(one.value) for one in kind)
    return "{ " + "; ".join(_fields(kind)) + " }" if inner_types(kind) else "{}"


def _fields(kind: Any) -> Iterator[str]:
    """Yields the fields of a class; one with a default may be missing or null."""
    required = required_fields(kind)
    for name, inner in inner_types(kind).items():
        yield f"{name}{'' if name in required else '?'}: {typescript(inner)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("message_types.py", new_parser(__doc__), write, arguments, extra="test")


def write(_args: argparse.Namespace) -> None:
    """Writes the file."""
    PATH.write_text(message_types(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
