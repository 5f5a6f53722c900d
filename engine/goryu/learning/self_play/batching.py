"""Runs many games on one network and evaluates their positions together: networks are fastest on batches."""

from collections.abc import Generator, Iterator
from typing import TypeVar

from goryu.games.state import State
from goryu.search.evaluator import Evaluation, Evaluator

T = TypeVar("T")


def run_batched(
    tasks: Iterator[Generator[list[State], list[Evaluation], T] | None], evaluator: Evaluator, at_once: int
) -> Iterator[T]:
    """Runs generators that request evaluations, `at_once` at a time; yields their results as they finish.

    One call of the evaluator serves the requests of all running generators.

    tasks: None instead of a generator means that there is none at present.
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
        requested = [state for _, states in running for state in states]
        evaluations = iter(evaluator.evaluate(requested) if requested else [])
        unfinished = []
        for task, states in running:
            try:
                unfinished.append((task, task.send([next(evaluations) for _ in states])))
            except StopIteration as finished:
                yield finished.value
        running = unfinished
