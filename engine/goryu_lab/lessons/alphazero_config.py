"""Every number of AlphaZero's loop: as published, for two CPU cores, and as in the AlphaZero tutorial.

Source: the pseudocode in the supplement of D. Silver et al., "A general reinforcement learning algorithm that
masters chess, shogi, and Go through self-play", Science, 2018.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

from goryu.base.config_fields import check_ranges, option, ranged
from goryu.base.errors import InputError
from goryu.search.graph.config import Formula, PuctConfig
from goryu.search.gumbel import GumbelConfig


@dataclass(frozen=True, slots=True)
class AlphaZeroConfig:
    """Every number of the method; the defaults are those published for chess.

    playouts: for each move of self-play. c_init, c_base: PUCT's exploration, for values in [0, 1].
    untried: the value of a move without a visit in "puct": "reduced" is our first play urgency
        (`selection.py`); the pseudocode's 0 of [0, 1] is a lost game, "lost".
    noise_alpha, noise_fraction: Dirichlet noise in the root's policy.
    divides_noise: divide the draws of the noise by their sum, so that they are Dirichlet's; the pseudocode
        does not.
    sampling_plies: moves up to this ply are drawn in proportion to their visits; later the most visited is
        played.
    temperature: the draw is in proportion to visits ** (1 / temperature).
    search: "puct", "gumbel" for a few playouts (its moves are random already; no Dirichlet noise),
        "published", the pseudocode's tree (`published_search.py`), or "tree", the AlphaZero tutorial's
        (`puct_tree.py`; c_init alone, no noise, and the evaluation of the root is one of the playouts).
    gumbel: the config of that search.
    learns_proofs: learn a proven win as the only move, and not its share of the visits ("puct").
    printed_signs: take the value of a move from the opponent's side, as printed ("published").
    max_plies: longer games are draws.
    cycles, games_per_cycle, steps_per_cycle: the pseudocode runs self-play and training in parallel for
        700,000 steps; here they alternate.
    window: games that training samples from; window_positions: the same in positions (0: no limit).
    epochs: a training passes so often over its window, in random order, with a new optimizer, and
        learning_rates counts epochs of this training; 0: steps_per_cycle batches drawn at random.
    batch, momentum, weight_decay: of the gradient steps.
    optimizer: "momentum", "adam" with decoupled weight decay, or "adam-l2": the gradient has weight_decay
        times the weight, for the kernels only.
    policy_loss: "cross-entropy", or "squares": the mean squared error of the shares.
    symmetries: rotate and reflect the positions of the small games at random.
    learning_rates: (from this step on, learning rate) pairs.
    evaluation_games, promotion: the challenger takes over with more than `promotion` points a game; without
        evaluation games it always does.
    """

    playouts: int = ranged(800, "for each move of self-play")
    c_init: float = 1.25
    c_base: float = 19652.0
    untried: Literal["reduced", "lost"] = "reduced"
    noise_alpha: float = 0.3
    noise_fraction: float = 0.25
    divides_noise: bool = True
    sampling_plies: int = 30
    temperature: float = ranged(1.0, "of the draw of moves by their visits; not with gumbel")
    search: Literal["puct", "gumbel", "published", "tree"] = option(
        "puct", "published: the pseudocode's tree; tree: the tutorial's"
    )
    gumbel: GumbelConfig = field(default_factory=GumbelConfig)
    learns_proofs: bool = True
    printed_signs: bool = False
    max_plies: int = 512
    cycles: int = 700
    games_per_cycle: int = ranged(60_000, "games of self-play between two trainings")
    steps_per_cycle: int = ranged(1000, "gradient steps of a training")
    window: int = 1_000_000
    window_positions: int = ranged(0, "newest positions that training samples from; 0: all", least=0)
    epochs: int = 0
    batch: int = ranged(4096, "positions of a gradient step")
    optimizer: Literal["momentum", "adam", "adam-l2"] = "momentum"
    momentum: float = 0.9
    weight_decay: float = 1e-4
    policy_loss: Literal["cross-entropy", "squares"] = "cross-entropy"
    symmetries: bool = True
    learning_rates: tuple[tuple[int, float], ...] = (
        (0, 2e-1),
        (100_000, 2e-2),
        (300_000, 2e-3),
        (500_000, 2e-4),
    )
    evaluation_games: int = ranged(0, "games of the match for promotion; 0: no match", least=0)
    promotion: float = 0.5

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.search == "gumbel" and self.temperature != 1.0:
            raise InputError("temperature: expected none with the search gumbel")
        if self.search == "tree" and self.playouts < 2:
            raise InputError("playouts: expected at least 2 with the search tree")

    def for_window(self, positions: int) -> "AlphaZeroConfig":
        """Returns the config with the epochs of a training on so many positions as steps.

        >>> config = TICTACTOE_PUBLISHED.for_window(3950)
        >>> config.steps_per_cycle, config.learning_rates
        (4000, ((0, 0.001), (2000, 0.0005), (3000, 0.00025)))
        """
        if not self.epochs:
            return self
        steps = -(-positions // self.batch)
        rates = tuple((epoch * steps, rate) for epoch, rate in self.learning_rates)
        return replace(self, steps_per_cycle=self.epochs * steps, learning_rates=rates)

    def learning_rate(self, step: int) -> float:
        """Returns the learning rate of a step.

        >>> AlphaZeroConfig().learning_rate(99_999), AlphaZeroConfig().learning_rate(100_000)
        (0.2, 0.02)
        """
        return [rate for start, rate in self.learning_rates if start <= step][-1]


PUBLISHED = {
    "chess": AlphaZeroConfig(),
    "shogi": AlphaZeroConfig(noise_alpha=0.15),
    "go": AlphaZeroConfig(
        noise_alpha=0.03, max_plies=722, learning_rates=((0, 2e-2), (300_000, 2e-3), (500_000, 2e-4))
    ),
}
"""The configs of the pseudocode."""

TICTACTOE = AlphaZeroConfig(
    playouts=20,
    search="gumbel",
    gumbel=GumbelConfig(c_scale=0.05),
    c_init=0.5,
    noise_alpha=1.0,
    sampling_plies=9,
    cycles=10,
    games_per_cycle=200,
    steps_per_cycle=500,
    window_positions=5000,
    batch=128,
    optimizer="adam",
    learning_rates=((0, 2e-3), (2500, 1e-3)),
    evaluation_games=20,
)
"""The AlphaZero tutorial's 20 evaluations a move, 5,000 positions and promotion; fewer games and steps.

With PUCT instead of Gumbel the 20 visits are spread over nine moves, and the learnt policy is nearly uniform.
c_scale 1 stops all exploration within four cycles; with 0.05 the network still sees the mistakes of a
careless opponent.
"""

TICTACTOE_PUBLISHED = AlphaZeroConfig(
    playouts=20,
    search="tree",
    c_init=0.5,
    sampling_plies=9,
    cycles=10,
    games_per_cycle=500,
    window_positions=5000,
    epochs=100,
    batch=100,
    optimizer="adam-l2",
    weight_decay=1e-3,
    policy_loss="squares",
    symmetries=False,
    learning_rates=((0, 1e-3), (50, 5e-4), (75, 2.5e-4)),
    evaluation_games=100,
)
"""The AlphaZero tutorial's own numbers. Its C_PUCT is 1 for values in [-1, +1]; its l2(0.0005) adds 0.0005 w²
to the loss, which has the gradient 0.001 w."""

REVERSI = AlphaZeroConfig(
    playouts=24,
    search="gumbel",
    gumbel=GumbelConfig(max_considered=8, c_scale=0.1),
    c_init=0.5,
    sampling_plies=60,
    cycles=40,
    games_per_cycle=100,
    steps_per_cycle=150,
    window=1500,
    batch=256,
    optimizer="adam",
    learning_rates=((0, 2e-3), (3000, 1e-3), (4800, 3e-4)),
)
"""4,000 games of 24 playouts a move; the newest network always becomes champion."""

CERTAIN_LOSS = 1e9
"""A reduction that makes every untried move a loss as soon as one move has been visited. Before that all
moves share one value, whatever it is."""


def puct_config(config: AlphaZeroConfig) -> PuctConfig:
    """Returns the config of the search. Its values span [-1, +1], twice the published range."""
    formula = Formula(2.0 * config.c_init, config.c_base)
    if config.untried == "lost":
        formula = replace(formula, fpu_reduction=CERTAIN_LOSS)
        return PuctConfig(formula, formula, final_move="visits")
    return PuctConfig(formula, replace(formula, fpu_reduction=0.1), final_move="visits")
