"""The algorithms that play under USI, and what each of them knows about a position."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UsiTraits:
    """What an algorithm tells a GUI, and how it can be limited.

    info: the numbers that its `info` lines have, out of depth, seldepth, nodes, hashfull and score.
    columns: what its table of moves has, out of visits, prior and win_rate.
    draws_by_visits: do its visit counts say how good a move is, so that random openings can use them?
    deepens: does it search depth after depth, so that every new depth is worth an `info` line?
    counts_playouts: is a node of its limits a playout, and one of its `info` lines a visit of the root, and
        not an evaluated position?
    """

    info: frozenset[str]
    columns: frozenset[str]
    draws_by_visits: bool = False
    deepens: bool = False
    counts_playouts: bool = False

    @property
    def can_be_limited_by_depth(self) -> bool:
        """Does the search get deeper with time?"""
        return self.deepens or "seldepth" in self.info


def _traits(info: str, columns: str, **traits: bool) -> UsiTraits:
    return UsiTraits(frozenset(info.split()), frozenset(columns.split()), **traits)


# fmt: off
USI_TRAITS = {
    "puct": _traits("depth seldepth nodes hashfull score", "visits prior win_rate", draws_by_visits=True),
    "gumbel": _traits("depth seldepth nodes score", "visits prior win_rate", draws_by_visits=True),
    "uct": _traits("depth seldepth nodes hashfull score", "visits win_rate", draws_by_visits=True),
    "flat-mc": _traits("depth nodes score", "visits win_rate"),
    "alpha-beta": _traits("depth nodes score", "win_rate", deepens=True),
    "value": _traits("depth nodes score", "win_rate"),
    "policy": _traits("nodes score", "prior"),
    "random": _traits("", ""),
    "mcts-player": _traits(
        "depth seldepth nodes hashfull score", "visits prior win_rate",
        draws_by_visits=True, counts_playouts=True,
    ),
}
"""The algorithms by the name that the option Algorithm takes; the default is the first."""
# fmt: on
