"""The actions that `UsiEngine` requests; `loop.py` performs them.

If an action leads to an event, its docstring names the method of `UsiEngine` to call then.
"""

from dataclasses import dataclass, field

from goryu.players.config import EngineConfig
from goryu.players.request import Request, SearchControl
from goryu.usi.commands import Command

MAX_MESSAGE = 400
"""Characters of an `info string`; GUIs show it in one row."""


@dataclass(frozen=True, slots=True)
class Write:
    """Send this line to the GUI."""

    line: str


@dataclass(frozen=True, slots=True)
class Load:
    """Load evaluator and book, then call `loaded`.

    measures: there is time to measure, as after `isready`. control: stops that when a clock runs.
    """

    config: EngineConfig
    measures: bool = False
    control: SearchControl = field(default_factory=SearchControl)


@dataclass(frozen=True, slots=True)
class Search:
    """Search; call `progressed` during the search and `answered` at its end."""

    request: Request
    control: SearchControl


@dataclass(frozen=True, slots=True)
class SolveMate:
    """Search for a mate for at most `limit_ms` (None: without a limit), then call `mate_solved`."""

    request: Request
    control: SearchControl
    limit_ms: float | None


@dataclass(frozen=True, slots=True)
class Ask:
    """Compute the answer to a command of the console, then call `question_answered`."""

    question: Command
    request: Request
    control: SearchControl


@dataclass(frozen=True, slots=True)
class NewGame:
    """Forget everything that was searched."""


@dataclass(frozen=True, slots=True)
class OpenLog:
    """Write the session and stderr to this file; "" for no file."""

    path: str


@dataclass(frozen=True, slots=True)
class Quit:
    """End the process after the last answers.

    needs_model: some of them may have to wait for the model, and not only for a search that was stopped.
    """

    needs_model: bool = False


Action = Write | Load | Search | SolveMate | Ask | NewGame | OpenLog | Quit


def info_string(message: str) -> Write:
    """Returns the line that shows a message to the user.

    It is one line of printable letters. The GUI gets it in ASCII, at most `MAX_MESSAGE` letters with the
    escapes; the log keeps letters of other scripts.
    """
    text = message.replace("\r", "").replace("\n", " ")
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    escaped = text.encode("ascii", "backslashreplace").decode()
    shown = text if len(escaped) <= MAX_MESSAGE else escaped[:MAX_MESSAGE]
    return Write(f"info string {shown}".rstrip())
