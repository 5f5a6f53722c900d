"""What the protocol's state machine asks the outside world to do; `usi_loop.py` does it.

Where an action ends with an event, the name of the `UsiEngine` method to call is in its docstring.
"""

import re
from dataclasses import dataclass

from goryu.players.config import EngineConfig
from goryu.players.request import Request, SearchControl

__all__ = ["Action", "Ask", "Load", "NewGame", "OpenLog", "Quit", "Search", "SolveMate", "Write", "remark"]

LONGEST_MESSAGE = 400
"""Characters of an `info string`; GUIs show it in one row."""


@dataclass(frozen=True, slots=True)
class Write:
    """Send this line."""

    line: str


@dataclass(frozen=True, slots=True)
class Load:
    """Load the evaluator, then call `loaded`."""

    config: EngineConfig


@dataclass(frozen=True, slots=True)
class Search:
    """Search, calling `progressed` meanwhile, then call `answered`."""

    request: Request
    control: SearchControl


@dataclass(frozen=True, slots=True)
class SolveMate:
    """Look for a mate for at most `limit_ms` (None: as long as it takes), then call `mate_solved`."""

    request: Request
    control: SearchControl
    limit_ms: float | None


@dataclass(frozen=True, slots=True)
class Ask:
    """Answer a question of a human at the console, then call `told`."""

    question: str
    request: Request
    control: SearchControl


@dataclass(frozen=True, slots=True)
class NewGame:
    """Forget what was searched."""


@dataclass(frozen=True, slots=True)
class OpenLog:
    """Write the session and stderr to this file; "" for nowhere."""

    path: str


@dataclass(frozen=True, slots=True)
class Quit:
    """End the process, after waiting shortly for the answer of a search that has just been stopped."""


Action = Write | Load | Search | SolveMate | Ask | NewGame | OpenLog | Quit


def remark(message: str) -> Write:
    """Returns the line that shows a message to a human: one line of printable ASCII."""
    text = message.replace("\r", "").replace("\n", " ")
    text = re.sub(r"[^ -~]+", lambda found: found[0].encode("unicode_escape").decode(), text)
    return Write(f"info string {text[:LONGEST_MESSAGE]}".rstrip())
