"""Which moves belong to a book, and which positions are searched for it."""

from dataclasses import dataclass

from goryu.base.config_fields import ranged


@dataclass(frozen=True, slots=True)
class BookRules:
    """Which moves belong to the book.

    least_visits: the share of the visits that an unsearched move needs.
    """

    bound: float = ranged(
        0.01, "the book plays moves whose win rate is at most this below the best one's", least=0, most=1
    )
    least_visits: float = 0.05
    plies: int = ranged(40, "search no later position", least=0)
