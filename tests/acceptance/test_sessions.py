"""Plays the sessions in sessions/*.txt; sessions/README.md describes their format."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.acceptance.conftest import Engine, Pool

SESSIONS = Path(__file__).parent / "sessions"


@dataclass(frozen=True, slots=True)
class Session:
    """One block of a session file."""

    name: str
    is_fresh: bool
    steps: tuple[str, ...]


def read_sessions() -> list[Session]:
    sessions: list[Session] = []
    for path in sorted(SESSIONS.glob("*.txt")):
        blocks = re.split(r"^(?=\[)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for block in filter(None, blocks):
            head, *steps = block.split("\n")
            found = re.fullmatch(r"\[(fresh: )?(.*)\]", head)
            assert found, f"{path.name}: expected [FACT] or [fresh: FACT], received {head!r}"
            name = f"{path.stem}: {found[2]}"
            sessions.append(Session(name, bool(found[1]), tuple(step for step in steps if step)))
    return sessions


@pytest.mark.parametrize("session", read_sessions(), ids=lambda session: session.name)
def test_session(session: Session, pool: Pool) -> None:
    with pool.start() if session.is_fresh else pool.lend() as engine:
        for step in session.steps:
            play(engine, step)


def play(engine: Engine, step: str) -> None:
    """Plays one line of a session file."""
    mark, _, text = step.partition(" ")
    match mark:
        case ">":
            engine.send(text.replace("\\t", "\t").replace("\\r", "\r").replace("⏎", "\n"))
        case "<":
            pattern, _, times = text.partition(" @")
            least, _, most = times.partition("-")
            if times:
                engine.expect_within(pattern, float(least), float(most))
            else:
                engine.expect(pattern)
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
