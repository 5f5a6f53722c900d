"""The numbers of the value learner of reversi. Without PyTorch, so that `goryu learn --help` needs none."""

from dataclasses import dataclass, replace

from goryu.base.config_fields import check_ranges, option, ranged
from goryu.base.errors import InputError


@dataclass(frozen=True, slots=True)
class ValueLearnerConfig:
    """Every number of the learner; the defaults are ours.

    `PUBLISHED` is the tutorial's learner. `TUTORIAL` has its numbers and our network, and learns after every
    third game from `batch` of their positions: 500 updates instead of 1,500, in a seventh of the time.

    The target of a position is discount^(own turns to come) * discs / squares.

    Raises InputError for numbers with which nothing can be learnt.
    """

    games: int = ranged(6000, "games to learn from")
    games_together: int = ranged(30, "games in parallel, between two updates")
    depth: int = ranged(2, "plies that the learner looks ahead")
    discount: float = ranged(
        0.8, "gamma: the target loses this factor with every own turn to come", least=0, most=1
    )
    draw_target: float = ranged(0.1, "discs that a draw counts", least=-64, most=64)
    corner_bonus: float = ranged(0.0, "extra discs for a corner in the target", least=0)
    epsilon: float = ranged(0.9, "share of random moves in the first games", least=0, most=1)
    epsilon_decay: float = ranged(0.9, "factor on epsilon after every --epsilon-every games", least=0, most=1)
    epsilon_every: int = ranged(120, "games between two decays of epsilon")
    both_sides: bool = option(False, "play every second game as the second player")
    window: int = ranged(1800, "games whose positions an update samples from")
    updates: int = ranged(40, "minibatches of an update")
    batch: int = ranged(256, "positions of a minibatch; 0: all positions of the window", least=0)
    learning_rate: float = ranged(1e-3, "Adam's learning rate", most=10)
    final_rate: float = ranged(0.02, "share of the learning rate that is left at the end", least=0, most=1)
    symmetries: bool = option(True, "rotate and reflect positions at random")
    filters: int = ranged(32, "filters of each convolution")
    hidden: int = ranged(512, "width of the dense layer")
    layers: int = ranged(2, "convolutions")
    size: int = option(8, "squares a side: 4, 6 or 8")
    as_published: bool = option(
        False,
        "the tutorial's own network, search and updates: one plane of +1 and -1, padded convolutions, a "
        "linear output, an update after each game with the last three; other options change that",
    )

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.size not in (4, 6, 8):
            raise InputError(f"size {self.size}: expected 4, 6 or 8")
        if self.as_published and self.depth != 2:
            raise InputError(f"depth {self.depth}: expected 2, as published")
        if self.layers >= self.size:
            raise InputError(f"layers {self.layers}: expected at most {self.size - 1} on this board")

    @property
    def squares(self) -> int:
        """The squares of the board."""
        return self.size * self.size


TUTORIAL = replace(
    ValueLearnerConfig(),
    games=1500,
    games_together=3,
    epsilon_every=30,
    window=3,
    updates=1,
    final_rate=1.0,
    symmetries=False,
)

PUBLISHED = replace(TUTORIAL, as_published=True, games_together=1, batch=0)
"""What the code of the tutorial does.

Its text differs twice: a network every 10 games, not 30, and an epsilon of 0.05 at the end, not 0.005.
Source: enakai00, 2016, https://gist.github.com/enakai00/3afcf8dbc10237c62b898f7852fbcb6e.
"""
