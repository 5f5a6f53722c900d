"""The conformance list of the protocol as sessions: `*.txt` beside this file, their language in README.md."""

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SESSIONS = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Case:
    """One block of a session file."""

    name: str
    is_fresh: bool
    steps: tuple[str, ...]


def read_cases() -> list[Case]:
    cases: list[Case] = []
    for path in sorted(SESSIONS.glob("*.txt")):
        blocks = re.split(r"^(?=\[)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for block in filter(None, blocks):
            head, *steps = block.split("\n")
            found = re.fullmatch(r"\[(\w+)( fresh)?\] (.*)", head)
            assert found, f"{path.name}: expected [ID] title, found {head!r}"
            cases.append(
                Case(f"{found[1]}: {found[3]}", bool(found[2]), tuple(step for step in steps if step))
            )
    return cases


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
def test_session(case: Case, pool: Any) -> None:
    with pool.start() if case.is_fresh else pool.lend() as engine:
        for step in case.steps:
            take(engine, step)


def take(engine: Any, step: str) -> None:
    """Plays one line of a session file."""
    mark, _, text = step.partition(" ")
    match mark:
        case ">":
            engine.send(text.replace("\\t", "\t").replace("\\r", "\r").replace("⏎", "\n"))
        case "<":
            pattern, _, times = text.partition(" @")
            least, _, most = times.partition("-")
            engine.expect_within(pattern, float(least), float(most)) if times else engine.expect(pattern)
        case "<*":
            while (line := engine.peek()) and re.fullmatch(text, line):
                engine.next_line()
        case "~":
            time.sleep(float(text))
        case "!" | "!!":
            engine.expect_silence(float(text), but_info=mark == "!")
        case "prelude":
            engine.prelude()
        case "eof":
            engine.close_input()
        case "exit":
            engine.expect_exit(float(text))
        case _:
            raise AssertionError(f"no such step: {step!r}")
