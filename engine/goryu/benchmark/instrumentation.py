"""Where a measurement gets between a search and what it calls: attributes replaced for a while."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from goryu.evaluators.formats.base import Array
from goryu.evaluators.io_binding import IoBinding
from goryu.evaluators.network import NetworkEvaluator

__all__ = ["Wrap", "replaced", "wrapped_network"]

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
"""A function -> one that does the same and watches."""


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Replaces an attribute while the context lasts."""
    had_own = name in vars(owner)
    original = vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if had_own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)


@contextmanager
def wrapped_network(evaluator: NetworkEvaluator, wrap: Wrap) -> Iterator[None]:
    """Wraps the calls of a network while the context lasts: `run`, and those bound meanwhile.

    The wrapped functions take inputs, or the count of the rows that are in place.
    """
    original = evaluator.bind

    def bind(inputs: Sequence[Array]) -> IoBinding | None:
        bound = original(inputs)
        if bound is not None:
            vars(bound)["run"] = wrap(bound.run)
        return bound

    with replaced(evaluator, "run", wrap(evaluator.run)), replaced(evaluator, "bind", bind):
        yield
