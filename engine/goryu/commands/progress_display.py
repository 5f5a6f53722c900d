"""Progress of long work: bars with the time left on a terminal, a line a minute elsewhere."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TaskID
    from rich.text import Text

LINES_EVERY_S = 60.0
"""How often each task prints a line where there is no terminal."""


@dataclass
class _Task:
    started_s: float
    first: float  # `done` at its start: a resumed run does not begin at 0.
    printed_s: float
    done: float


class ProgressDisplay:
    """A context manager that shows tasks by name, and lines of text above them.

    Needs the package rich. `clock` returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        # An extra: the programs that import this module must print their --help without it.
        from rich.console import Console, RenderableType
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(), TimeRemainingColumn(),
        )  # fmt: skip
        self._console = Console(highlight=False, emoji=False)  # Or ":100" becomes a picture.
        self._below: Sequence[str] = ()
        below = self._below_text

        class Bars(Progress):
            """The bars, and text below them."""

            def get_renderables(self) -> Iterable[RenderableType]:
                yield self.make_tasks_table(self.tasks)
                yield below()

        self._bars = Bars(*columns, console=self._console, disable=not self._console.is_terminal)
        self._ids: dict[str, TaskID] = {}
        self._tasks: dict[str, _Task] = {}
        self._clock = clock

    def __enter__(self) -> "ProgressDisplay":
        """Shows the bars."""
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaves the bars as they are."""
        self._bars.stop()

    def print(self, line: str) -> None:
        """Prints a line as it is, above the bars."""
        self._console.print(line, soft_wrap=True, markup=False)

    def below(self, lines: Sequence[str]) -> None:
        """Shows lines below the bars instead of those before; without a terminal, with the next line."""
        self._below = lines

    def _below_text(self) -> "Text":
        from rich.text import Text

        return Text("\n".join(self._below), no_wrap=True, overflow="ellipsis")

    def update(self, name: str, done: float, total: float | None = None, text: str = "") -> None:
        """Shows how much of a task is done; `text` follows its name. The first call starts its clock.

        A task that has less done than before starts again, such as the training of the next cycle.
        total: None if it is unknown; 1.0 for a share, which is shown in percent.
        """
        now = self._clock()
        task = self._tasks.get(name)
        starts_again = task is not None and done < task.done
        if task is None or starts_again:
            task = self._tasks[name] = _Task(now, done, now, done)
        task.done = done
        if self._console.is_terminal:
            if name not in self._ids:
                self._ids[name] = self._bars.add_task(name, total=total, count="")
            elif starts_again:
                self._bars.reset(self._ids[name])
            self._bars.update(
                self._ids[name],
                completed=done,
                total=total,
                description=f"{name} {text}".rstrip(),
                count=_count(done, total),
            )
        elif now >= task.printed_s + LINES_EVERY_S:
            task.printed_s = now
            parts = [f"{name}: {_count(done, total)}", text, f"{now - task.started_s:.0f} s"]
            if total is not None and done > task.first:
                left = (now - task.started_s) / (done - task.first) * (total - done)
                parts.append(f"about {left:.0f} s left")
            self.print("; ".join([", ".join(filter(None, parts)), *self._below]))


def _count(done: float, total: float | None) -> str:
    """Returns "3 of 10", "30 %" of a total of 1.0, or "3" without a total."""
    if isinstance(total, float) and total == 1.0:
        return f"{100 * done:.0f} %"
    return f"{done:g}" if total is None else f"{done:g} of {total:g}"
