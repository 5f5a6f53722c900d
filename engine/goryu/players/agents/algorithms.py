"""The algorithms that can play under USI, and what each of them knows about a position."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One value of the option Algorithm.

    about: one line of ASCII for users.
    info: the numbers that its `info` lines have, out of "depth", "seldepth", "nodes", "hashfull" and "score".
    columns: what its table of moves has, out of "visits", "prior" and "win rate".
    draws_by_visits: do its visit counts say how good a move is, so that random openings can use them?
    deepens: does it search depth after depth, so that every new depth is worth an `info` line?
    """

    about: str
    info: frozenset[str]
    columns: frozenset[str]
    draws_by_visits: bool = False
    deepens: bool = False

    @property
    def can_be_limited_by_depth(self) -> bool:
        """Does the search get deeper with time?"""
        return self.deepens or "seldepth" in self.info


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split(", ")) if text else frozenset()


ALGORITHMS = {
    "puct": Algorithm(
        "the engine's own search, AlphaZero's on a graph",
        _words("depth, seldepth, nodes, hashfull, score"),
        _words("visits, prior, win rate"),
        draws_by_visits=True,
    ),
    "gumbel": Algorithm(
        "Gumbel AlphaZero's search, made for few playouts",
        _words("depth, seldepth, nodes, score"),
        _words("visits, prior, win rate"),
        draws_by_visits=True,
    ),
    "uct": Algorithm(
        "a growing tree of random games",
        _words("depth, seldepth, nodes, hashfull, score"),
        _words("visits, win rate"),
        draws_by_visits=True,
    ),
    "flat-mc": Algorithm(
        "the same number of random games after every move",
        _words("depth, nodes, score"),
        _words("visits, win rate"),
    ),
    "alpha-beta": Algorithm(
        "minimax with cuts, one ply deeper and deeper",
        _words("depth, nodes, score"),
        _words("win rate"),
        deepens=True,
    ),
    "one-ply": Algorithm(
        "the move after which the network likes the position best",
        _words("depth, nodes, score"),
        _words("win rate"),
    ),
    "policy": Algorithm(
        "the network's favourite move, without a search",
        _words("nodes, score"),
        _words("prior"),
    ),
    "random": Algorithm("any legal move", _words(""), _words("")),
}
"""The algorithms by the name that the option Algorithm takes; the default is the first."""
