"""A bandit: slot machines whose chances nobody knows, on which two players try to win the most.

To try an arm costs a chance to win on a better one; not to try it leaves its chance unknown. UCB1
(`search/uct.py`) settles this with a bonus that shrinks as an arm is tried, an A/B test by trying all equally
often. The price of not knowing is the regret: what the best arm would have paid on average, less what the
chosen ones pay on average.

Source: P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", 2002.
"""

from collections.abc import Sequence
from math import sqrt
from random import Random

from goryu.games.state import Move
from goryu.search.uct import Node

UCB1_CONSTANT = sqrt(2.0)
"""For payouts of 0 and 1; results of games in [-1, +1] have twice that range."""


class Bandit:
    """Arms that pay 1 or nothing.

    rates: how often each arm pays. The payouts are drawn in advance, so that the n-th pull of an arm pays the
    same to every player.
    """

    def __init__(self, rates: Sequence[float], rounds: int, rng: Random) -> None:
        self.rates = rates
        self.payouts = [[rng.random() < rate for _ in range(rounds)] for rate in rates]


class Gambler:
    """What a player knows: pulls and earnings of each arm."""

    def __init__(self, bandit: Bandit) -> None:
        self.bandit = bandit
        self.root = Node()
        self.root.children = {Move(arm): Node() for arm in range(len(bandit.rates))}

    @property
    def earned(self) -> int:
        """The payouts so far."""
        return round(self.root.value_sum)

    @property
    def regret(self) -> float:
        """What the best arm would have paid on average, less what the chosen arms pay on average."""
        best = max(self.bandit.rates)
        return sum((best - self.bandit.rates[arm]) * node.visits for arm, node in self.root.children.items())

    def pull(self, arm: int) -> bool:
        """Pulls an arm, from 0; returns whether it pays."""
        node = self.root.children[Move(arm)]
        pays = self.bandit.payouts[arm][node.visits]
        for each in (self.root, node):
            each.visits += 1
            each.value_sum += pays
        return pays

    def ucb1(self) -> int:
        """Returns the arm that UCB1 pulls next."""
        return self.root.select(UCB1_CONSTANT)

    def in_turn(self) -> int:
        """Returns the arm that an A/B test pulls next: each equally often."""
        return self.root.visits % len(self.bandit.rates)

    def __str__(self) -> str:
        """Returns what each arm has paid, such as `1: 3/5  2: 0/1  3: 1/2`."""
        arms = self.root.children.items()
        return "  ".join(f"{arm + 1}: {node.value_sum:.0f}/{node.visits}" for arm, node in arms)
