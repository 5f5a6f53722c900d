"""Where the time of a search goes: select, rules, mate search, planes, network, policy, back up.

Functions of the Python implementation are wrapped while a search runs; each wrapper takes the time of those
inside it off its own account. A wrapped call costs about half a microsecond more, so the small functions
(push, pop) look a little dearer than they are. The native search has no such seams: only what stays in
Python is seen, the rest is "native search".
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

from goryu.benchmark.instrumentation import replaced, wrapped_network
from goryu.evaluators.network import NetworkEvaluator
from goryu.implementation import IMPLEMENTATION, Board, Puct
from goryu.search import node_table, puct
from goryu.search.evaluator import Evaluator
from goryu.search.puct import PuctConfig

__all__ = ["time_shares"]

RULES = ("legal_moves", "push", "pop", "outcome", "repetition", "copy", "checks", "is_check")


class Accounts:
    """Exclusive seconds by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner = [0.0]

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function, with its time put down under `name`."""
        self.seconds.setdefault(name, 0.0)

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0.0)
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                elapsed = time.perf_counter() - start
                self.seconds[name] += elapsed - self._inner.pop()
                self._inner[-1] += elapsed

        return timed


def time_shares(sfen: str, evaluator: Evaluator, config: PuctConfig, playouts: int) -> dict[str, float]:
    """Searches a position once; returns the share of each part in the time, in [0, 1], the largest first."""
    accounts = Accounts()
    rest = "other" if IMPLEMENTATION == "python" else "native search"
    with ExitStack() as stack:
        if isinstance(evaluator, NetworkEvaluator):
            stack.enter_context(wrapped_network(evaluator, partial(accounts.wrap, "network")))
        for owner, method, name in seams(evaluator):
            stack.enter_context(replaced(owner, method, accounts.wrap(name, getattr(owner, method))))
        search = accounts.wrap(rest, Puct(evaluator, config).search)
        search(Board(sfen), lambda stats: False, max_playouts=playouts)
    total = sum(accounts.seconds.values())
    shares = sorted(accounts.seconds.items(), key=lambda item: -item[1])
    return {name: seconds / total for name, seconds in shares}


def seams(evaluator: Evaluator) -> Iterator[tuple[Any, str, str]]:
    """Yields the functions to wrap beside a network's calls: owners, names, accounts."""
    if IMPLEMENTATION == "python":
        yield puct, "select", "select"
        yield puct, "solve", "mate search"
        for method in RULES:
            yield Board, method, "rules"
        for method in ("recompute", "add_repetition"):
            yield node_table.NodeTable, method, "back up"
    if not isinstance(evaluator, NetworkEvaluator):
        yield evaluator, "evaluate", "evaluate"
    elif IMPLEMENTATION == "python":  # The native search writes planes and reads policies itself.
        yield evaluator, "evaluate", "policy"
        yield evaluator.format, "fill", "planes"
