"""Many games on one network: their questions are put together, because networks like batches."""

from collections.abc import Generator, Iterator
from typing import TypeVar

from goryu.games.state import State
from goryu.search.evaluator import Evaluation, Evaluator

__all__ = ["play_together"]

T = TypeVar("T")


def play_together(
    tasks: Iterator[Generator[list[State], list[Evaluation], T]], evaluator: Evaluator, at_once: int
) -> Iterator[T]:
    """Runs generators that ask for evaluations, `at_once` at a time, and yields what they return as they end.

    All that they ask for in one round is judged in one call of the evaluator.
    """
    running: list[tuple[Generator[list[State], list[Evaluation], T], list[State]]] = []
    while True:
        while len(running) < at_once and (task := next(tasks, None)) is not None:
            try:
                running.append((task, next(task)))
            except StopIteration as finished:
                yield finished.value
        if not running:
            return
        asked = [state for _, states in running for state in states]
        answers = iter(evaluator.evaluate(asked) if asked else [])
        going_on = []
        for task, states in running:
            try:
                going_on.append((task, task.send([next(answers) for _ in states])))
            except StopIteration as finished:
                yield finished.value
        running = going_on
