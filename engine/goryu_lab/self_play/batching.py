"""Runs many games on one network and evaluates their positions together: networks are fastest on batches."""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Protocol, TypeVar

from goryu.search.evaluator import Evaluation

Q = TypeVar("Q")
S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)


class Answers(Protocol[R_contra]):
    """What evaluates requests: an evaluator, whose requests are states, or several networks."""

    def evaluate(self, requests: Sequence[R_contra], /) -> list[Evaluation]:
        """Returns one evaluation per request, in order."""
        ...


def relayed(
    steps: Generator[Q, list[Evaluation], T], change: Callable[[Q], S]
) -> Generator[S, list[Evaluation], T]:
    """Runs a generator whose requests go on in another form; returns its result. It may make no request."""
    try:
        request = next(steps)
        while True:
            request = steps.send((yield change(request)))
    except StopIteration as finished:
        result: T = finished.value
        return result


def run_batched(
    tasks: Iterator[Generator[list[R], list[Evaluation], T] | None], evaluator: Answers[R], at_once: int
) -> Iterator[T]:
    """Runs generators that request evaluations, `at_once` at a time; yields their results as they finish.

    One call of the evaluator serves the requests of all running generators.

    tasks: None instead of a generator means that there is none at present.
    """
    running: list[tuple[Generator[list[R], list[Evaluation], T], list[R]]] = []
    while True:
        while len(running) < at_once and (task := next(tasks, None)) is not None:
            try:
                running.append((task, next(task)))
            except StopIteration as finished:
                yield finished.value
        if not running:
            return
        requested = [request for _, requests in running for request in requests]
        evaluations = iter(evaluator.evaluate(requested) if requested else [])
        unfinished = []
        for task, requests in running:
            try:
                unfinished.append((task, task.send([next(evaluations) for _ in requests])))
            except StopIteration as finished:
                yield finished.value
        running = unfinished
